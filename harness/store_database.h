/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the store, shared by store.c (opening, closing, reading), store_schema.c (tables and migrations) and
 * store_plan.c and store_record.c (writing runs), store_guard.c. Nobody else includes this, tests of the store aside.
 */
#ifndef TOPKCTS_STORE_DATABASE_H
#define TOPKCTS_STORE_DATABASE_H

#include "harness/status.h"
#include "harness/store.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

/* "tkcs": what PRAGMA application_id of our files says. */
#define STORE_APPLICATION_ID 0x746b6373

/* How long a lock of another process is waited for. */
#define STORE_LOCK_MS 10000

/* How many statements stay prepared while a store is open; store_statement.h numbers them. */
#define STORE_MAX_PREPARED 48

struct store {
    sqlite3      *db;
    char         *path; /* as given, for messages */
    char         *uri;  /* what SQLite was given: the path and how it may be opened */
    bool          writable;
    sqlite3_stmt *prepared[STORE_MAX_PREPARED];
};

/* Turns the connection's last failure into a message that tells locked, full, damaged, unwritable and so on apart.
 * `doing` completes "while ...". A store found damaged is not written to any more, not even when it is closed. */
enum status store_failure(struct store *store, const char *doing, struct error *err);

/* Runs SQL text without parameters or answer. */
enum status store_execute(struct store *store, const char *sql, const char *doing, struct error *err);

/* The schema version this program writes: the number of scripts. */
int store_schema_version(void);

/* The built-in scripts: script n brings version n to n+1. The first is schema.sql. */
extern const char *const store_schema_scripts[];

/* Brings the database to version `n_scripts`, each step in a transaction of its own; a step that another process has
 * made meanwhile is left out. Steps never go backward. */
enum status store_migrate(struct store *store, const char *const *scripts, int n_scripts, struct error *err);

/* For reading an older database: gives the connection the views that came later, the lean ones of version 3 and an empty
 * list of excluded sessions, and leaves the file as it is. */
enum status store_lend_views(struct store *store, struct error *err);

/* Reads the schema version of the file. */
enum status store_read_version(struct store *store, int *version, struct error *err);

/* `path` as a URI, with a query ("?mode=rw") behind it; freed with sqlite3_free. NULL when out of memory. */
char *store_uri(const char *path, const char *query);

/* Checks that every table and view of `version` is there with its columns; more of them do no harm. */
enum status store_check_schema(struct store *store, int version, struct error *err);

#endif
