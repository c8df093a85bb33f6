/* SPDX-License-Identifier: Apache-2.0 */
/* Every SQL text that writes runs, in one place beside schema.sql, and the binding of parameters. */
#include "harness/store_statement.h"

#include "harness/provider.h"

#include <string.h>

_Static_assert(PREPARED_COUNT <= STORE_MAX_PREPARED, "struct store has too few slots for prepared statements");

static const char *const prepared_sql[PREPARED_COUNT] = {
    [PREPARED_BEGIN] = "BEGIN IMMEDIATE",
    [PREPARED_COMMIT] = "COMMIT",
    [PREPARED_ROLLBACK] = "ROLLBACK",
    [PREPARED_INSERT_RUN] =
        "INSERT INTO run (run, started_at, label, suite, host, argv, harness_version, registry_hash, "
        "source_commit, source_tree, patch_id, environment, dirty, meta) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, "
        "?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    [PREPARED_INSERT_DEVICE] =
        "INSERT INTO device (device_id) VALUES (?1) ON CONFLICT DO UPDATE SET device_id = device_id RETURNING id",
    [PREPARED_INSERT_RUN_DEVICE] =
        "INSERT INTO run_device (run, device, wave_size, lds_bytes, memory_bytes, backend, name, arch, driver, "
        "runtime, toolchain) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    [PREPARED_INSERT_RUN_PROVIDER] =
        "INSERT INTO run_provider (run, provider, version, digest, origin, claims, file, source_commit) VALUES "
        "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [PREPARED_FIND_CASE] = "SELECT id, stated_at >= ?2 FROM test_case WHERE case_name = ?1",
    [PREPARED_INSERT_CASE] =
        "INSERT INTO test_case (case_name, stated_at, family, fault, outputs, topk, length, page_size, batch) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [PREPARED_UPDATE_CASE] =
        "UPDATE test_case SET stated_at = ?2, family = ?3, fault = ?4, outputs = ?5, topk = ?6, length = ?7, "
        "page_size = ?8, batch = ?9 WHERE case_name = ?1",
    [PREPARED_FIND_SERIES] =
        "SELECT id FROM series WHERE test_case = ?1 AND device = ?2 AND provider = ?3 AND origin = ?4 AND "
        "input_hash IS ?5",
    [PREPARED_INSERT_SERIES] =
        "INSERT INTO series (test_case, device, provider, origin, input_hash) VALUES (?1, ?2, ?3, ?4, ?5)",
    [PREPARED_INSERT_PLANNED] =
        "INSERT INTO result (run_provider, run_device, test_case, series, attempt, promised, in_budget, "
        "verdict, reason) VALUES (?1, ?2, ?3, ?4, 1, ?5, ?6, 9, ?7)",
    [PREPARED_ADD_HASHED_SERIES] =
        "INSERT INTO series (test_case, device, provider, origin, input_hash) SELECT series.test_case, device, "
        "provider, origin, ?2 FROM result JOIN series ON series.id = result.series WHERE result.id = ?1 AND "
        "input_hash IS NULL ON CONFLICT DO NOTHING",
    [PREPARED_MOVE_TO_SERIES] =
        "UPDATE result SET series = known.id FROM series AS unknown JOIN series AS known USING (test_case, "
        "device, provider, origin) WHERE result.id = ?1 AND unknown.id = result.series AND unknown.input_hash "
        "IS NULL AND known.input_hash = ?2",
    [PREPARED_INSERT_ATTEMPT] =
        "INSERT INTO result (run_provider, run_device, test_case, series, attempt, promised, in_budget, "
        "verdict) SELECT run_provider, run_device, test_case, series, ?2, promised, in_budget, 9 FROM result "
        "WHERE id = ?1 ON CONFLICT DO UPDATE SET attempt = attempt RETURNING id",
    [PREPARED_UPDATE_RESULT] =
        "UPDATE result SET verdict = ?3, level = ?4, set_exact = ?5, repeats = ?6, wall_ms = ?7, kernel_us_p50 "
        "= ?8, output_digest = ?9, set_digest = ?10, path = ?11, expected = ?12, reason = ?13 WHERE id = ?1 AND "
        "attempt = ?2",
    [PREPARED_DELETE_FAILURES] = "DELETE FROM row_failure WHERE result = ?1",
    [PREPARED_INSERT_FAILURE] =
        "INSERT OR IGNORE INTO row_failure (result, row, length, topk, cut_equal, n_missing, n_extra, "
        "cut_value, missing, extra, explanation) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    [PREPARED_DELETE_LOG] = "DELETE FROM result_log WHERE result = ?1",
    [PREPARED_INSERT_LOG] = "INSERT INTO result_log (result, log) VALUES (?1, ?2)",
    [PREPARED_START_RESULT] = "UPDATE result SET starts = starts + 1 WHERE id = ?1 RETURNING starts",
    [PREPARED_DELETE_SAMPLES] = "DELETE FROM sample WHERE result = ?1",
    [PREPARED_INSERT_SAMPLE] = "INSERT INTO sample (result, name, ordinal, value_us) VALUES (?1, ?2, ?3, ?4)",
    [PREPARED_INSERT_WARNING] =
        "INSERT INTO run_warning (run, at, warning) SELECT id, ?2, ?3 FROM run WHERE run = ?1",
    [PREPARED_END_RUN] = "UPDATE run SET ended_at = ?2, exit_code = ?3 WHERE run = ?1",
    /* Compared with what is latest now only, so that the length of a history does not matter. */
    [PREPARED_RAISE_LATEST] =
        "INSERT INTO latest_result (series, result) SELECT series, id FROM (SELECT result.series AS series, "
        "result.id AS id, row_number() OVER (PARTITION BY result.series ORDER BY result.attempt DESC, "
        "run_provider.digest DESC) AS place FROM " RUN_OF_RESULT "WHERE run.run = ?1 AND " MAY_BE_LATEST ") "
        "WHERE place = 1 ON CONFLICT (series) DO UPDATE SET result = excluded.result WHERE (SELECT started_at, "
        "run FROM run WHERE run = ?1) >= (SELECT run.started_at, run.run FROM " RUN_OF_RESULT "WHERE result.id "
        "= latest_result.result)",
    [PREPARED_EXCLUDE_RUN] = "UPDATE run SET excluded_reason = ?2 WHERE run = ?1",
    [PREPARED_DROP_LATEST] =
        "DELETE FROM latest_result WHERE series IN (SELECT result.series FROM " RUN_OF_RESULT "WHERE run.run = "
        "?1)",
    [PREPARED_REBUILD_LATEST] =
        "INSERT INTO latest_result (series, result) SELECT series, id FROM (SELECT result.series AS series, "
        "result.id AS id, row_number() OVER (PARTITION BY result.series ORDER BY run.started_at DESC, run.run "
        "DESC, result.attempt DESC, run_provider.digest DESC) AS place FROM " RUN_OF_RESULT "WHERE "
        "result.series IN (SELECT result.series FROM " RUN_OF_RESULT "WHERE run.run = ?1) AND run.ended_at IS "
        "NOT NULL AND " MAY_BE_LATEST ") WHERE place = 1",
    [PREPARED_EXCLUDE_GUARD] =
        "INSERT INTO guard_exclusion (session, reason) SELECT session, ?2 FROM guard_session WHERE session = ?1 ON "
        "CONFLICT DO UPDATE SET reason = excluded.reason",
    [PREPARED_INSERT_GUARD_SESSION] =
        "INSERT INTO guard_session (session, guard, what, declared_at, declared_reason, started_at, label, "
        "host, argv, harness_version, registry_hash, source_commit, environment, device_id, backend, device, "
        "arch, driver, toolchain, cache, base, base_version, base_digest, base_origin, base_file, candidate, "
        "candidate_version, candidate_digest, candidate_origin, candidate_file, dirty, percent, "
        "budget_seconds, seed, resamples, confidence) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
        "?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, "
        "?32, ?33, ?34, ?35, ?36)",
    [PREPARED_INSERT_GUARD_CELL] = "INSERT INTO guard_cell (session, case_name, outputs) VALUES (?1, ?2, ?3)",
    [PREPARED_INSERT_GUARD_LEG] =
        "INSERT INTO guard_leg (cell, round, place, arm, samples_us, clock_mhz) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    [PREPARED_END_GUARD_CELL] =
        "UPDATE guard_cell SET calls = ?2, base_us = ?3, candidate_us = ?4, copy_us = ?5, ratio = ?6, "
        "ratio_low = ?7, ratio_high = ?8, control_ratio = ?9, control_low = ?10, control_high = ?11, verdict "
        "= ?12, reason = ?13 WHERE id = ?1",
    [PREPARED_END_GUARD_SESSION] =
        "UPDATE guard_session SET ended_at = ?2, clock = ?3, control = ?4, rounds = ?5, ratio = ?6, ratio_low "
        "= ?7, ratio_high = ?8, control_ratio = ?9, control_low = ?10, control_high = ?11, drift = ?12, "
        "clock_mhz_low = ?13, clock_mhz_high = ?14, verdict = ?15, reason = ?16 WHERE session = ?1",
};

_Static_assert(TOPK_LEVEL_NONE == 0 && TOPK_LEVEL_CANONICAL == 6,
               "the codes of schema.sql are part of the file format");

struct statement statement_of(struct store *store, enum prepared which)
{
    struct statement statement = {.store = store, .rc = SQLITE_OK};
    if (store->prepared[which] == NULL)
        statement.rc = sqlite3_prepare_v3(store->db, prepared_sql[which], -1, SQLITE_PREPARE_PERSISTENT,
                                          &store->prepared[which], NULL);
    statement.handle = store->prepared[which];
    return statement;
}

static void keep_first_failure(struct statement *statement, int rc)
{
    if (statement->rc == SQLITE_OK)
        statement->rc = rc;
}

void statement_text(struct statement *statement, const char *text)
{
    keep_first_failure(statement,
                       sqlite3_bind_text(statement->handle, ++statement->n_bound, text, -1, SQLITE_STATIC));
}

void statement_integer(struct statement *statement, int64_t value)
{
    keep_first_failure(statement, sqlite3_bind_int64(statement->handle, ++statement->n_bound, value));
}

void statement_optional(struct statement *statement, bool present, int64_t value)
{
    if (present)
        statement_integer(statement, value);
    else
        keep_first_failure(statement, sqlite3_bind_null(statement->handle, ++statement->n_bound));
}

void statement_real(struct statement *statement, bool present, double value)
{
    int position = ++statement->n_bound;
    keep_first_failure(statement, present ? sqlite3_bind_double(statement->handle, position, value)
                                          : sqlite3_bind_null(statement->handle, position));
}

void statement_digest(struct statement *statement, const unsigned char *bytes)
{
    keep_first_failure(statement,
                       sqlite3_bind_blob(statement->handle, ++statement->n_bound, bytes, 16, SQLITE_STATIC));
}

enum status statement_run(struct statement *statement, const char *doing, int64_t *value, int *n_rows,
                          struct error *err)
{
    enum status status = STATUS_OK;
    int         rc = statement->rc;
    int         n = 0;
    if (rc == SQLITE_OK)
        while ((rc = sqlite3_step(statement->handle)) == SQLITE_ROW) {
            if (n++ == 0 && value != NULL)
                *value = sqlite3_column_int64(statement->handle, 0);
        }
    if (rc != SQLITE_DONE)
        status = store_failure(statement->store, doing, err);
    if (n_rows != NULL)
        *n_rows = sqlite3_column_count(statement->handle) > 0 ? n : sqlite3_changes(statement->store->db);
    sqlite3_reset(statement->handle);
    return status;
}

enum status statement_insert(struct statement *statement, const char *doing, int64_t *id, struct error *err)
{
    enum status status = statement_run(statement, doing, NULL, NULL, err);
    if (status == STATUS_OK)
        *id = sqlite3_last_insert_rowid(statement->store->db);
    return status;
}

static enum status run_plain(struct store *store, enum prepared which, const char *doing, struct error *err)
{
    struct statement statement = statement_of(store, which);
    return statement_run(&statement, doing, NULL, NULL, err);
}

enum status transaction_begin(struct store *store, const char *doing, struct error *err)
{
    if (!store->writable)
        return error_set(err, STATUS_BOOKS, "%s: opened for reading, so no %s", store->path, doing);
    int has_moved = 0;
    if (sqlite3_file_control(store->db, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved) == SQLITE_OK && has_moved)
        return error_set(err, STATUS_BOOKS,
                         "%s: the file was removed, moved or replaced since it was opened; what is written now would be "
                         "lost (while %s)",
                         store->path, doing);
    return run_plain(store, PREPARED_BEGIN, doing, err);
}

enum status transaction_end(struct store *store, enum status status, const char *doing, struct error *err)
{
    if (status == STATUS_OK)
        status = run_plain(store, PREPARED_COMMIT, doing, err);
    if (status != STATUS_OK && sqlite3_get_autocommit(store->db) == 0) {
        struct error ignored = {0}; /* the first cause is already told */
        run_plain(store, PREPARED_ROLLBACK, doing, &ignored);
    }
    return status;
}
