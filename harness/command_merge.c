/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `topkcts merge DST SRC..`: many runners' databases into one. Each source is merged whole or not at all, so that an
 * interrupted merge is simply repeated. A source that cannot be read is told and left out; the others are merged.
 */
#include "harness/command.h"
#include "harness/store_merge.h"

#include <jansson.h>
#include <stdio.h>
#include <unistd.h>

/* More conflicts than this are counted, not shown: somebody merged the wrong files. */
enum { SHOWN_CONFLICTS = 50 };

struct told {
    bool    json;
    json_t *conflicts; /* with --json */
    int64_t n;
};

static void tell_conflict(void *payload, const struct store_merge_conflict *conflict)
{
    struct told *told = payload;
    if (++told->n > SHOWN_CONFLICTS)
        return;
    if (told->json)
        json_array_append_new(told->conflicts,
                              json_pack("{s:s, s:s, s:s?, s:s?, s:s?, s:b}", "source", conflict->source, "what",
                                        conflict->what, "key", conflict->key, "stored", conflict->stored, "found",
                                        conflict->found, "replaced", conflict->replaced));
    else
        printf("CONFLICT %s %s\n  stored: %s\n  found:  %s in %s\n  kept:   %s\n", conflict->what,
               conflict->key ? conflict->key : "?", conflict->stored ? conflict->stored : "nothing",
               conflict->found ? conflict->found : "nothing", conflict->source,
               conflict->replaced ? "what was found, the worse verdict" : "what was stored");
}

/* Whether the source can be opened at all: if so, a failed merge is about the database merged into. */
static bool is_readable(const char *path, struct error *why)
{
    struct store *store = NULL;
    bool          opened = store_open(&store, path, STORE_READ, why) == STATUS_OK;
    store_close(store);
    return opened;
}

/* Whether there is anything to make a new database of; says what is wrong with each source when there is not. */
static bool any_is_readable(const struct settings *settings, struct error *err)
{
    size_t n_sources = settings->words.n - 1;
    for (size_t i = 1; i <= n_sources; i++) {
        struct error unused = {0};
        if (is_readable(settings->words.items[i], &unused))
            return true;
    }
    for (size_t i = 1; i <= n_sources; i++) {
        struct error why = {0};
        if (!is_readable(settings->words.items[i], &why))
            fprintf(stderr, "topkcts: %s\n", why.text);
    }
    error_set(err, STATUS_BOOKS, "%s was not made: there is nothing to merge into it", settings->words.items[0]);
    return false;
}

static void print_counts(const struct store_merge_counts *counts, const char *database, size_t n_sources,
                         size_t n_merged, struct told *told)
{
    if (told->json) {
        json_t *answer = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:O}", "database", database, "sources",
                                   (json_int_t)n_sources, "merged", (json_int_t)n_merged, "runs",
                                   (json_int_t)counts->runs, "added", (json_int_t)counts->added, "completed",
                                   (json_int_t)counts->completed, "known", (json_int_t)counts->known, "conflicts",
                                   (json_int_t)counts->conflicts, "shown_conflicts", told->conflicts);
        json_dumpf(answer, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(answer);
        return;
    }
    if (told->n > SHOWN_CONFLICTS)
        printf("... and %lld more conflicts\n", (long long)(told->n - SHOWN_CONFLICTS));
    printf("%zu of %zu databases merged into %s: %lld new runs, %lld new results, %lld planned ones completed, %lld "
           "known, %lld conflicts\n",
           n_merged, n_sources, database, (long long)counts->runs, (long long)counts->added,
           (long long)counts->completed, (long long)counts->known, (long long)counts->conflicts);
}

enum status command_merge(const struct settings *settings, struct error *err)
{
    struct store             *store = NULL;
    struct store_merge_counts counts = {0};
    struct told               told = {.json = settings->json, .conflicts = json_array()};
    size_t                    n_sources = settings->words.n > 0 ? settings->words.n - 1 : 0, n_merged = 0;
    const char               *database = settings->words.items[0];
    if (n_sources == 0) {
        error_set(err, STATUS_USAGE, "merge needs a database to merge into and at least one to merge: topkcts merge "
                                     "all.db night-*.db");
        goto done;
    }
    if (access(database, F_OK) != 0 && !any_is_readable(settings, err))
        goto done;
    if (store_open(&store, database, STORE_WRITE, err))
        goto done;
    for (size_t i = 1; i <= n_sources && !err->status; i++) {
        struct error why = {0}, unused = {0};
        const char  *source = settings->words.items[i];
        if (!store_merge(store, source, &counts, tell_conflict, &told, &why)) {
            n_merged++;
        } else if (why.status == STATUS_USAGE || is_readable(source, &unused)) {
            *err = why;
        } else {
            fprintf(stderr, "topkcts: %s\n", why.text);
        }
    }
    print_counts(&counts, database, n_sources, n_merged, &told);
    if (!err->status && n_merged < n_sources)
        error_set(err, STATUS_BOOKS, "%zu of %zu databases could not be merged%s", n_sources - n_merged, n_sources,
                  n_merged ? "; the others were" : "");
done:
    json_decref(told.conflicts);
    store_close(store);
    return err->status ? err->status : counts.conflicts ? STATUS_FAIL : STATUS_OK;
}
