/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of the store: the embedded scripts, and how a file gets from one version to the next.
 *
 * Each version is a file of its own: schema.sql, schema_2.sql, ... A new file runs all of them, an old one those that it
 * lacks, so that there is one way to every version and no second copy of a table to keep in step.
 */
#include "harness/store_database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EMBED(symbol, file)                                                                                          \
    __asm__(".pushsection .rodata\n"                                                                                 \
            ".hidden " symbol "\n"                                                                                   \
            ".global " symbol "\n"                                                                                   \
            symbol ":\n"                                                                                             \
            ".incbin \"" file "\"\n"                                                                                 \
            ".byte 0\n"                                                                                              \
            ".popsection\n")

EMBED("store_schema_1", "harness/schema.sql");
EMBED("store_schema_2", "harness/schema_2.sql");
EMBED("store_schema_3", "harness/schema_3.sql");
EMBED("store_schema_4", "harness/schema_4.sql");

extern const char store_schema_1[], store_schema_2[], store_schema_3[], store_schema_4[];

const char *const store_schema_scripts[] = {store_schema_1, store_schema_2, store_schema_3, store_schema_4};

int store_schema_version(void)
{
    return (int)(sizeof store_schema_scripts / sizeof store_schema_scripts[0]);
}

enum status store_read_version(struct store *store, int *version, struct error *err)
{
    enum status   status = STATUS_OK;
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(store->db, "PRAGMA user_version", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        *version = sqlite3_column_int(statement, 0);
    else
        status = store_failure(store, "reading the schema version", err);
    sqlite3_finalize(statement);
    return status;
}

/* One step, from `version` to version + 1, unless another process made it between our look and our lock. */
static enum status migrate_step(struct store *store, const char *script, int version, struct error *err)
{
    int         now = 0;
    enum status status = store_execute(store, "BEGIN IMMEDIATE", "locking the database for its schema", err);
    if (status != STATUS_OK)
        return status;
    status = store_read_version(store, &now, err);
    if (status == STATUS_OK && now == version)
        status = store_execute(store, script, "writing the schema", err);
    if (status == STATUS_OK)
        status = store_read_version(store, &now, err);
    if (status == STATUS_OK && now <= version)
        status = error_set(err, STATUS_BOOKS, "%s: the schema script of version %d does not set user_version",
                           store->path, version + 1);
    if (status == STATUS_OK)
        status = store_execute(store, "COMMIT", "writing the schema", err);
    if (status != STATUS_OK)
        sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

enum status store_migrate(struct store *store, const char *const *scripts, int n_scripts, struct error *err)
{
    int         version = 0;
    enum status status = store_read_version(store, &version, err);
    while (status == STATUS_OK && version < n_scripts) {
        status = migrate_step(store, scripts[version], version, err);
        if (status == STATUS_OK)
            status = store_read_version(store, &version, err);
    }
    return status;
}

enum status store_lend_views(struct store *store, struct error *err)
{
    static const char create[] = "CREATE VIEW";
    /* Before version 4 nobody could exclude a session. */
    static const char no_exclusions[] =
        "CREATE TEMP VIEW guard_exclusions AS SELECT NULL AS session, NULL AS reason WHERE 0;";
    int               version = 0;
    char             *text = NULL;
    size_t            size = 0;
    if (store_read_version(store, &version, err) || version >= 4)
        return err->status;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return error_no_memory(err);
    fputs(no_exclusions, memory);
    for (const char *at = version < 3 ? strstr(store_schema_3, create) : NULL; at; at = strstr(at + 1, create)) {
        const char *end = strstr(at + 1, create);
        int         rest = (int)(end ? end - at : (long)strlen(at)) - (int)(sizeof create - 1);
        fprintf(memory, "CREATE TEMP VIEW%.*s", rest, at + sizeof create - 1);
    }
    if (fclose(memory) != 0)
        error_no_memory(err);
    else
        store_execute(store, text, "lending an older database the newer views", err);
    free(text);
    return err->status;
}

/* The tables and views of a database with their columns, in the order of their names. */
static const char shape_sql[] = "SELECT type, name, (SELECT group_concat(name, ',') FROM pragma_table_info(s.name)) "
                                "FROM sqlite_schema AS s WHERE type IN ('table', 'view') ORDER BY name";

static const char shape_of_sql[] = "SELECT type, name, (SELECT group_concat(name, ',') FROM pragma_table_info(s.name)) "
                                   "FROM sqlite_schema AS s WHERE type IN ('table', 'view') AND name = ?1";

/* Compares what `wanted` stands at with the object of that name in the store. */
static enum status check_object(struct store *store, sqlite3_stmt *wanted, sqlite3_stmt *found, int version,
                                struct error *err)
{
    const char *name = (const char *)sqlite3_column_text(wanted, 1);
    const char *columns = (const char *)sqlite3_column_text(wanted, 2);
    enum status status = STATUS_OK;
    sqlite3_reset(found);
    sqlite3_bind_text(found, 1, name, -1, SQLITE_STATIC);
    int rc = sqlite3_step(found);
    if (rc == SQLITE_ROW) {
        const char *present = (const char *)sqlite3_column_text(found, 2);
        if (present == NULL || columns == NULL || strcmp(present, columns) != 0)
            status = error_set(err, STATUS_BOOKS,
                               "%s: %s %s of schema version %d has the columns %s, expected %s; the file was left as "
                               "it is",
                               store->path, sqlite3_column_text(wanted, 0), name, version, present ? present : "(none)",
                               columns ? columns : "(none)");
    } else if (rc == SQLITE_DONE) {
        status = error_set(err, STATUS_BOOKS,
                           "%s: %s %s of schema version %d is missing; the file was left as it is", store->path,
                           sqlite3_column_text(wanted, 0), name, version);
    } else {
        status = store_failure(store, "reading the schema", err);
    }
    return status;
}

enum status store_check_schema(struct store *store, int version, struct error *err)
{
    enum status   status = STATUS_OK;
    struct store  model = {.path = store->path};
    sqlite3_stmt *wanted = NULL;
    sqlite3_stmt *found = NULL;
    int           rc = SQLITE_OK;

    if (sqlite3_open_v2(":memory:", &model.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK) {
        status = error_no_memory(err);
        goto done;
    }
    if ((status = store_migrate(&model, store_schema_scripts, version, err)) != STATUS_OK)
        goto done;
    if (sqlite3_prepare_v2(model.db, shape_sql, -1, &wanted, NULL) != SQLITE_OK) {
        status = store_failure(&model, "reading the built-in schema", err);
        goto done;
    }
    if (sqlite3_prepare_v2(store->db, shape_of_sql, -1, &found, NULL) != SQLITE_OK) {
        status = store_failure(store, "reading the schema", err);
        goto done;
    }
    while (status == STATUS_OK && (rc = sqlite3_step(wanted)) == SQLITE_ROW)
        status = check_object(store, wanted, found, version, err);
    if (status == STATUS_OK && rc != SQLITE_DONE)
        status = store_failure(&model, "reading the built-in schema", err);
done:
    sqlite3_finalize(found);
    sqlite3_finalize(wanted);
    sqlite3_close(model.db);
    return status;
}
