/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging; see store_merge.h. Everything is done by SQL on sets: the source is attached, row ids of the source are
 * mapped to row ids of the store in temporary tables, and each table is copied through these maps.
 *
 * The texts of the steps are in store_merge_sql.c, in the order in which they run. Start reading at store_merge().
 */
#include "harness/store_merge.h"

#include "harness/store_database.h"
#include "harness/store_merge_sql.h"
#include "harness/store_statement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A merge writes everywhere in the file: pages stay in memory, and the log is folded in less often. */
#define MERGE_SETTINGS "PRAGMA cache_size = -262144; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 16384"

struct merging {
    struct store              *store;
    const char                *source; /* as given, for messages */
    struct store_merge_counts *counts;
    void (*conflict)(void *payload, const struct store_merge_conflict *);
    void         *payload;
    struct error *err;
};

/* The last failure of the connection. Damage may be the source's, and SQLite does not say whose page it was. */
static enum status merge_failure(const struct merging *merging)
{
    if ((sqlite3_errcode(merging->store->db) & 0xff) == SQLITE_CORRUPT)
        return error_set(merging->err, STATUS_BOOKS, "%s: damaged (%s), or %s is; nothing of it was merged",
                         merging->source, sqlite3_errmsg(merging->store->db), merging->store->path);
    store_failure(merging->store, "merging", merging->err);
    return error_prefix(merging->err, "%s", merging->source);
}

static enum status run_step(const struct merging *merging, enum merge_step step, int64_t *n_changed)
{
    sqlite3_stmt *statement = NULL;
    int           rc = sqlite3_prepare_v2(merging->store->db, merge_step_sql[step], -1, &statement, NULL);
    if (rc == SQLITE_OK)
        while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        }
    enum status status = rc == SQLITE_DONE ? STATUS_OK : merge_failure(merging);
    if (n_changed)
        *n_changed = sqlite3_changes64(merging->store->db);
    sqlite3_finalize(statement);
    return status;
}

static enum status run_steps(const struct merging *merging, enum merge_step first, enum merge_step last)
{
    for (int step = first; step <= (int)last; step++)
        if (run_step(merging, (enum merge_step)step, NULL))
            return merging->err->status;
    return STATUS_OK;
}

/* Hands on every conflict that a query finds (columns what, key, stored, found, replaced) and counts them. */
static enum status tell_conflicts(const struct merging *merging, enum merge_step step, int64_t *n, int64_t *n_replaced)
{
    sqlite3_stmt *statement = NULL;
    int           rc = sqlite3_prepare_v2(merging->store->db, merge_step_sql[step], -1, &statement, NULL);
    if (rc == SQLITE_OK)
        while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
            struct store_merge_conflict conflict = {.source = merging->source,
                                                    .what = (const char *)sqlite3_column_text(statement, 0),
                                                    .key = (const char *)sqlite3_column_text(statement, 1),
                                                    .stored = (const char *)sqlite3_column_text(statement, 2),
                                                    .found = (const char *)sqlite3_column_text(statement, 3),
                                                    .replaced = sqlite3_column_int(statement, 4) != 0};
            merging->counts->conflicts++;
            if (n && n_replaced) {
                *n += 1;
                *n_replaced += conflict.replaced;
            }
            if (merging->conflict)
                merging->conflict(merging->payload, &conflict);
        }
    enum status status = rc == SQLITE_DONE ? STATUS_OK : merge_failure(merging);
    sqlite3_finalize(statement);
    return status;
}

static enum status count_step(const struct merging *merging, enum merge_step step, int64_t *sum)
{
    int64_t n = 0;
    if (run_step(merging, step, &n))
        return merging->err->status;
    *sum += n;
    return STATUS_OK;
}

/* All steps, inside of a transaction. */
static enum status merge_attached(const struct merging *merging)
{
    struct store_merge_counts *counts = merging->counts;
    int64_t                    n_overlapping = 0, n_replaced = 0, n_conflicts = 0, n_conflicts_replaced = 0;
    if (run_steps(merging, MERGE_ADD_DEVICES, MERGE_MAP_SERIES) || tell_conflicts(merging, MERGE_CONFLICTING_RUNS, NULL, NULL) ||
        run_steps(merging, MERGE_MAP_KNOWN_RUNS, MERGE_MAP_KNOWN_RUNS) ||
        count_step(merging, MERGE_ADD_RUNS, &counts->runs) ||
        run_steps(merging, MERGE_MAP_NEW_RUNS, MERGE_MAP_NEW_RUNS) ||
        tell_conflicts(merging, MERGE_CONFLICTING_DEVICES, NULL, NULL) || tell_conflicts(merging, MERGE_CONFLICTING_PROVIDERS, NULL, NULL) ||
        run_steps(merging, MERGE_TOUCH_EXCLUDED, MERGE_ADD_WARNINGS) ||
        count_step(merging, MERGE_FIND_OVERLAP, &n_overlapping) ||
        run_step(merging, MERGE_FIND_DIFFERENT, NULL) ||
        tell_conflicts(merging, MERGE_CONFLICTING_RESULTS, &n_conflicts, &n_conflicts_replaced) ||
        count_step(merging, MERGE_ADD_RESULTS, &counts->added) ||
        run_steps(merging, MERGE_TOUCH_REPLACED, MERGE_RAISE_STARTS) ||
        count_step(merging, MERGE_REPLACE_RESULTS, &n_replaced) ||
        run_steps(merging, MERGE_TOUCH_REPLACEMENTS, MERGE_LAST))
        return merging->err->status;
    counts->completed += n_replaced - n_conflicts_replaced;
    counts->known += n_overlapping - n_conflicts - (n_replaced - n_conflicts_replaced);
    return STATUS_OK;
}

static enum status attach(const struct merging *merging, const char *uri)
{
    sqlite3_stmt *statement = NULL;
    int           rc = sqlite3_prepare_v2(merging->store->db, "ATTACH ?1 AS source", -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(statement, 1, uri, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    enum status status = rc == SQLITE_DONE ? STATUS_OK : merge_failure(merging);
    sqlite3_finalize(statement);
    return status;
}

/* Merges what stands at `uri`, a database of the store's own version. */
static enum status merge_uri(const struct merging *merging, const char *uri)
{
    struct store             *store = merging->store;
    struct store_merge_counts before = *merging->counts;
    if (store_execute(store, MERGE_SETTINGS, "setting up the merge", merging->err) ||
        store_execute(store, merge_tables_sql, "setting up the merge", merging->err) || attach(merging, uri))
        return merging->err->status;
    enum status status = transaction_begin(store, "merging", merging->err);
    if (status == STATUS_OK)
        status = transaction_end(store, merge_attached(merging), "merging", merging->err);
    if (status != STATUS_OK)
        *merging->counts = before;
    if (sqlite3_exec(store->db, "DETACH source", NULL, NULL, NULL) != SQLITE_OK && status == STATUS_OK)
        status = merge_failure(merging);
    return status;
}

/* Copies an older database beside the store and brings the copy forward, so that the source stays as it is. */
static enum status merge_older(const struct merging *merging, struct store *source)
{
    struct error *err = merging->err;
    struct store *copy = NULL;
    sqlite3      *file = NULL;
    char         *uri = NULL;
    char         *path = sqlite3_mprintf("%s-merging-XXXXXX", merging->store->path);
    int           descriptor = path ? mkstemp(path) : -1;
    if (descriptor < 0) {
        error_set(err, STATUS_BOOKS, "%s: cannot be made for an older database: %s", path ? path : "a temporary file",
                  strerror(errno));
        sqlite3_free(path);
        return err->status;
    }
    close(descriptor);
    int rc = sqlite3_open_v2(path, &file, SQLITE_OPEN_READWRITE, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_backup *backup = sqlite3_backup_init(file, "main", source->db, "main");
        rc = backup ? sqlite3_backup_step(backup, -1) : SQLITE_ERROR;
        if (backup)
            sqlite3_backup_finish(backup);
    }
    sqlite3_close(file);
    if (rc != SQLITE_DONE) {
        error_set(err, STATUS_BOOKS, "%s: cannot be copied to %s: %s", merging->source, path, sqlite3_errstr(rc));
        goto done;
    }
    if (store_open(&copy, path, STORE_WRITE, err))
        goto done;
    store_close(copy);
    uri = store_uri(path, "?mode=rw");
    if (!uri)
        error_no_memory(err);
    else
        merge_uri(merging, uri);
done:
    sqlite3_free(uri);
    unlink(path);
    sqlite3_free(path);
    return err->status;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

enum status store_merge(struct store *store, const char *source_path, struct store_merge_counts *counts,
                        void (*conflict)(void *payload, const struct store_merge_conflict *), void *payload,
                        struct error *err)
{
    struct merging merging = {store, source_path, counts, conflict, payload, err};
    struct store  *source = NULL;
    int            version = 0;
    if (is_same_file(store->path, source_path))
        return error_set(err, STATUS_USAGE, "%s: the same file as %s; a database is not merged into itself",
                         source_path, store->path);
    if (store_open(&source, source_path, STORE_READ, err) || store_read_version(source, &version, err))
        goto done;
    if (version < store_schema_version())
        merge_older(&merging, source);
    else
        merge_uri(&merging, source->uri);
done:
    store_close(source);
    return err->status;
}
