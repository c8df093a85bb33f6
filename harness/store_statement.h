/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prepared statements of the store and how their parameters are bound. Inside of the store only.
 *
 *     struct statement statement = statement_of(store, PREPARED_END_RUN);
 *     statement_text(&statement, run);
 *     ...
 *     return statement_run(&statement, "ending the run", NULL, NULL, err);
 *
 * Parameters are bound in the order of the calls; the first failure is kept and reported by statement_run. Texts and
 * blobs are not copied: they must live until then.
 */
#ifndef TOPKCTS_STORE_STATEMENT_H
#define TOPKCTS_STORE_STATEMENT_H

#include "harness/store_database.h"

/* A result that may stand in `latest`: judged (schema.sql: verdicts 0 to 6), of a run that counts, and no planted
 * fault of a run about the harness itself. */
#define MAY_BE_LATEST                                                                                                \
    "result.verdict <= 6 AND run.excluded_reason IS NULL AND NOT (run.meta AND run_provider.provider GLOB 'faulty/*') "

#define RUN_OF_RESULT                                                                                                \
    "result JOIN run_provider ON run_provider.id = result.run_provider JOIN run ON run.id = run_provider.run "

/* Their numbers; the texts are in store_statement.c. */
enum prepared {
    PREPARED_BEGIN,
    PREPARED_COMMIT,
    PREPARED_ROLLBACK,
    PREPARED_INSERT_RUN,
    PREPARED_INSERT_DEVICE,
    PREPARED_INSERT_RUN_DEVICE,
    PREPARED_INSERT_RUN_PROVIDER,
    PREPARED_FIND_CASE,
    PREPARED_INSERT_CASE,
    PREPARED_UPDATE_CASE,
    PREPARED_FIND_SERIES,
    PREPARED_INSERT_SERIES,
    PREPARED_INSERT_PLANNED,
    PREPARED_ADD_HASHED_SERIES,
    PREPARED_MOVE_TO_SERIES,
    PREPARED_INSERT_ATTEMPT,
    PREPARED_UPDATE_RESULT,
    PREPARED_DELETE_FAILURES,
    PREPARED_INSERT_FAILURE,
    PREPARED_DELETE_LOG,
    PREPARED_INSERT_LOG,
    PREPARED_START_RESULT,
    PREPARED_DELETE_SAMPLES,
    PREPARED_INSERT_SAMPLE,
    PREPARED_INSERT_WARNING,
    PREPARED_END_RUN,
    PREPARED_RAISE_LATEST,
    PREPARED_EXCLUDE_RUN,
    PREPARED_DROP_LATEST,
    PREPARED_REBUILD_LATEST,
    PREPARED_EXCLUDE_GUARD,
    PREPARED_INSERT_GUARD_SESSION,
    PREPARED_INSERT_GUARD_CELL,
    PREPARED_INSERT_GUARD_LEG,
    PREPARED_END_GUARD_CELL,
    PREPARED_END_GUARD_SESSION,
    PREPARED_COUNT
};

/* One statement under way. */
struct statement {
    struct store *store;
    sqlite3_stmt *handle; /* the store's */
    int           n_bound;
    int           rc; /* the first failure, or SQLITE_OK */
};

/* The statement, prepared on its first use. */
struct statement statement_of(struct store *store, enum prepared which);

/* Bind the next parameter. NULL text is SQL NULL; optional: SQL NULL unless present; digest: 16 bytes or NULL. */
void statement_text(struct statement *statement, const char *text);
void statement_integer(struct statement *statement, int64_t value);
void statement_optional(struct statement *statement, bool present, int64_t value);
void statement_real(struct statement *statement, bool present, double value);
void statement_digest(struct statement *statement, const unsigned char *bytes);

/* Runs the statement to its end. *value gets the first column of the first row (untouched when there is none) and
 * *n_rows the number of rows it returned or, when it returns none by its nature, changed; both may be NULL. Leaves the
 * statement ready for its next use. */
enum status statement_run(struct statement *statement, const char *doing, int64_t *value, int *n_rows,
                          struct error *err);

/* Runs an INSERT of one row; *id: its row id. Cheaper than RETURNING, which builds a table first. */
enum status statement_insert(struct statement *statement, const char *doing, int64_t *id, struct error *err);

/* Begins a transaction with the write lock, waiting for it if need be. A failure leaves none open. */
enum status transaction_begin(struct store *store, const char *doing, struct error *err);

/* Ends the transaction: commits when `status` says that all went well so far, else takes everything back. */
enum status transaction_end(struct store *store, enum status status, const char *doing, struct error *err);

#endif
