/* SPDX-License-Identifier: Apache-2.0 */
/* `topkcts evidence`: what runs prove, written from the database as Markdown; see evidence.h. */
#include "harness/evidence.h"

#include "harness/command.h"
#include "harness/name_list.h"
#include "harness/store_json.h"
#include "harness/version.h"

#include <stdio.h>
#include <string.h>

json_t *evidence_ask(const struct evidence *evidence, const char *sql, const char *const *runs, size_t n_runs,
                     struct error *err)
{
    struct arena arena = {0};
    const char  *at;
    char        *list = arena_text(&arena, "");
    for (size_t i = 0; i < n_runs; i++)
        list = arena_format(&arena, "%s%s?%zu", list, i ? ", " : "", i + 1);
    while ((at = strstr(sql, "$RUNS")))
        sql = arena_format(&arena, "%.*s(%s)%s", (int)(at - sql), sql, list, at + strlen("$RUNS"));
    json_t *rows = store_query_json(evidence->store, sql, runs, n_runs, err);
    arena_clear(&arena);
    return rows;
}

const char *evidence_text(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));
    return text ? text : "";
}

/* A cell may hold what a provider said: nothing in it may end the cell or the row. */
static void print_cell(const char *text)
{
    printf(" ");
    for (; *text; text++)
        if (*text == '|')
            fputs("\\|", stdout);
        else
            putchar(*text == '\n' || *text == '\r' ? ' ' : *text);
    printf(" |");
}

void evidence_table(const struct evidence *evidence, const char *sql, const char *const *runs, size_t n_runs,
                    const char *otherwise, struct error *err)
{
    json_t     *rows = evidence_ask(evidence, sql, runs, n_runs, err);
    const char *name;
    json_t     *value;
    if (json_array_size(rows) == 0 && !err->status)
        printf("%s\n\n", otherwise);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        if (i == 0) {
            printf("|");
            json_object_foreach(json_array_get(rows, 0), name, value)
            {
                print_cell(name);
            }
            printf("\n|");
            for (size_t c = 0; c < json_object_size(json_array_get(rows, 0)); c++)
                printf(" --- |");
            printf("\n");
        }
        printf("|");
        json_object_foreach(json_array_get(rows, i), name, value)
        {
            print_cell(json_is_null(value) ? "" : json_string_value(value));
        }
        printf("\n");
    }
    if (json_array_size(rows))
        printf("\n");
    json_decref(rows);
}

static enum status add_run(struct evidence *evidence, const char *run, bool is_excluded)
{
    const char ***list = is_excluded ? &evidence->excluded : &evidence->runs;
    size_t       *n = is_excluded ? &evidence->n_excluded : &evidence->n_runs;
    for (size_t i = 0; i < *n; i++)
        if (strcmp((*list)[i], run) == 0)
            return STATUS_OK;
    *list = arena_grow(&evidence->arena, *list, *n, sizeof **list);
    (*list)[(*n)++] = arena_text(&evidence->arena, run);
    return STATUS_OK;
}

/* Names of runs that could have been meant. */
static enum status no_such_run(const struct evidence *evidence, const char *word, const char *database, struct error *err)
{
    struct name_list names = {0};
    json_t          *rows = evidence_ask(evidence, "SELECT run, label FROM runs ORDER BY started_at DESC LIMIT 8", NULL, 0, err);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        bool          has_label = evidence_text(row, "label")[0];
        name_list_add(&names, "%s%s%s%s", evidence_text(row, "run"), has_label ? " (" : "", evidence_text(row, "label"),
                      has_label ? ")" : "");
    }
    json_decref(rows);
    if (err->status)
        return err->status;
    return error_set(err, STATUS_USAGE, "evidence: %s has no run and no label '%s'; the newest are %s", database, word,
                     names.used ? names.text : "(none)");
}

static enum status find_runs(struct evidence *evidence, const char *database, struct error *err)
{
    for (size_t w = 0; w < evidence->settings->words.n; w++) {
        const char *word = evidence->settings->words.items[w];
        json_t     *rows = evidence_ask(
            evidence, "SELECT run, excluded FROM runs WHERE run = ?1 OR label = ?1 ORDER BY started_at, run", &word, 1, err);
        size_t n = json_array_size(rows);
        for (size_t i = 0; i < n; i++)
            add_run(evidence, evidence_text(json_array_get(rows, i), "run"),
                    strcmp(evidence_text(json_array_get(rows, i), "excluded"), "1") == 0);
        json_decref(rows);
        if (!err->status && n == 0)
            no_such_run(evidence, word, database, err);
        if (err->status)
            return err->status;
    }
    return STATUS_OK;
}

static void write_excluded(const struct evidence *evidence, struct error *err)
{
    printf("## Excluded runs\n\n");
    if (evidence->n_excluded == 0) {
        printf("None.\n\n");
        return;
    }
    printf("Nothing above counts them.\n\n");
    evidence_table(evidence,
                   "SELECT runs.run AS run, label, started_at, run_details.excluded_reason AS reason FROM runs JOIN run_details "
                   "ON run_details.run = runs.run WHERE runs.run IN $RUNS ORDER BY started_at",
                   evidence->excluded, evidence->n_excluded, "None.", err);
}

enum status command_evidence(const struct settings *settings, struct error *err)
{
    struct evidence evidence = {.settings = settings, .holds = true};
    const char     *database = settings->database ? settings->database : "topkcts.db";
    char            now[32];
    if (settings->words.n == 0)
        return error_set(err, STATUS_USAGE, "evidence: name the runs, or their labels: topkcts evidence RUN.. --db %s", database);
    if (store_open(&evidence.store, database, STORE_READ, err) || find_runs(&evidence, database, err))
        goto done;
    store_now(now);
    printf("# Evidence\n\nWritten by topkcts %s on %s from %s. Devices, kernels and cases that are not in the tables were not "
           "run.\n\n",
           TOPKCTS_VERSION, now, database);
    if (evidence.n_runs)
        evidence_write_runs(&evidence, err);
    write_excluded(&evidence, err);
    evidence_write_claims(&evidence, err);
    if (!err->status && evidence.n_runs == 0) {
        fprintf(stderr, "topkcts: evidence: every named run is excluded: there is nothing that counts\n");
        evidence.holds = false;
    }
done:
    store_close(evidence.store);
    arena_clear(&evidence.arena);
    return err->status ? err->status : evidence.holds ? STATUS_OK : STATUS_FAIL;
}
