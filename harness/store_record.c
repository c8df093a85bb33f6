/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens to a planned run: verdicts, measurements, warnings, its end, and what is latest; see store.h.
 *
 * Every function here is one transaction that begins with the write lock, so that two runners on one file wait for each
 * other and never fail for having read too early. Start reading at store_record().
 */
#include "harness/store_statement.h"

/* The codes of schema.sql. They are part of the file format, so they do not follow the order of the enum. */
static const int verdict_codes[VERDICT_COUNT] = {
    [VERDICT_PASS] = 0,  [VERDICT_FAIL] = 1,  [VERDICT_CRASH] = 2, [VERDICT_TIMEOUT] = 3, [VERDICT_FLAKY] = 4,
    [VERDICT_XFAIL] = 5, [VERDICT_XPASS] = 6, [VERDICT_ERROR] = 7, [VERDICT_SKIP] = 8,    [VERDICT_NOTRUN] = 9,
};

_Static_assert(VERDICT_COUNT == 10, "a new verdict needs a code in schema.sql, and here");

static int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Turns 32 hex digits into 16 bytes. */
static enum status digest_bytes(const char *name, const char *hex, unsigned char bytes[16], struct error *err)
{
    if (hex == NULL)
        return STATUS_OK;
    int n = 0;
    while (n < 32 && hex_value(hex[n]) >= 0)
        n++;
    if (n < 32 || hex[32] != '\0')
        return error_set(err, STATUS_BOOKS, "%s '%.40s' is not 32 lower-case hex digits", name, hex);
    for (size_t i = 0; i < 16; i++)
        bytes[i] = (unsigned char)(hex_value(hex[i * 2]) * 16 + hex_value(hex[i * 2 + 1]));
    return STATUS_OK;
}

/* Adds the row of a later attempt beside the row *row_id, or finds it when it is there, and moves *row_id to it. */
static enum status add_attempt(struct store *store, int64_t *row_id, int32_t attempt, struct error *err)
{
    struct statement statement = statement_of(store, PREPARED_INSERT_ATTEMPT);
    statement_integer(&statement, *row_id);
    statement_integer(&statement, attempt);
    return statement_run(&statement, "adding an attempt", row_id, NULL, err);
}

/* Moves a row whose inputs were unknown when it was planned to the series of `input_hash`. */
static enum status move_to_series(struct store *store, int64_t row_id, const char *input_hash, struct error *err)
{
    static const enum prepared steps[] = {PREPARED_ADD_HASHED_SERIES, PREPARED_MOVE_TO_SERIES};
    enum status                status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < sizeof steps / sizeof steps[0]; i++) {
        struct statement statement = statement_of(store, steps[i]);
        statement_integer(&statement, row_id);
        statement_text(&statement, input_hash);
        status = statement_run(&statement, "noting the input hash", NULL, NULL, err);
    }
    return status;
}

static enum status update_result(struct store *store, int64_t row_id, const struct store_result *result,
                                 struct error *err)
{
    unsigned char output_digest[16];
    unsigned char set_digest[16];
    int           n_updated = 0;
    enum status   status = STATUS_OK;
    if ((status = digest_bytes("output_digest", result->output_digest, output_digest, err)) != STATUS_OK)
        return status;
    if ((status = digest_bytes("set_digest", result->set_digest, set_digest, err)) != STATUS_OK)
        return status;

    struct statement statement = statement_of(store, PREPARED_UPDATE_RESULT);
    statement_integer(&statement, row_id);
    statement_integer(&statement, result->attempt);
    statement_integer(&statement, verdict_codes[result->verdict]);
    statement_optional(&statement, result->has_level, result->level);
    statement_optional(&statement, result->set_exact >= 0, result->set_exact);
    statement_integer(&statement, result->repeats);
    statement_real(&statement, result->wall_ms >= 0, result->wall_ms);
    statement_real(&statement, result->kernel_us_p50 >= 0, result->kernel_us_p50);
    statement_digest(&statement, result->output_digest ? output_digest : NULL);
    statement_digest(&statement, result->set_digest ? set_digest : NULL);
    statement_text(&statement, result->path);
    statement_text(&statement, result->expected);
    statement_text(&statement, result->reason);
    status = statement_run(&statement, "writing a result", NULL, &n_updated, err);
    if (status == STATUS_OK && n_updated == 0)
        status = error_set(err, STATUS_BOOKS, "%s: no planned row %lld with attempt %d", store->path,
                           (long long)row_id, result->attempt);
    return status;
}

static enum status replace_failures(struct store *store, int64_t row_id, const struct store_result *result,
                                    struct error *err)
{
    struct statement statement = statement_of(store, PREPARED_DELETE_FAILURES);
    statement_integer(&statement, row_id);
    enum status status = statement_run(&statement, "writing failing rows", NULL, NULL, err);
    for (size_t i = 0; status == STATUS_OK && i < result->n_failures; i++) {
        const struct store_row_failure *failure = &result->failures[i];
        statement = statement_of(store, PREPARED_INSERT_FAILURE);
        statement_integer(&statement, row_id);
        statement_integer(&statement, failure->row);
        statement_integer(&statement, failure->length);
        statement_integer(&statement, failure->topk);
        statement_integer(&statement, failure->cut_equal);
        statement_integer(&statement, failure->n_missing);
        statement_integer(&statement, failure->n_extra);
        statement_text(&statement, failure->cut_value);
        statement_text(&statement, failure->missing);
        statement_text(&statement, failure->extra);
        statement_text(&statement, failure->explanation);
        status = statement_run(&statement, "writing failing rows", NULL, NULL, err);
    }
    return status;
}

static enum status replace_log(struct store *store, int64_t row_id, const char *log, struct error *err)
{
    struct statement statement = statement_of(store, PREPARED_DELETE_LOG);
    statement_integer(&statement, row_id);
    enum status status = statement_run(&statement, "writing a log", NULL, NULL, err);
    if (status != STATUS_OK || log == NULL)
        return status;
    statement = statement_of(store, PREPARED_INSERT_LOG);
    statement_integer(&statement, row_id);
    statement_text(&statement, log);
    return statement_run(&statement, "writing a log", NULL, NULL, err);
}

static enum status replace_samples(struct store *store, int64_t row_id, const struct store_result *result,
                                   struct error *err)
{
    struct statement statement = statement_of(store, PREPARED_DELETE_SAMPLES);
    statement_integer(&statement, row_id);
    enum status status = statement_run(&statement, "writing samples", NULL, NULL, err);
    for (size_t s = 0; s < result->n_samples; s++)
        for (size_t i = 0; status == STATUS_OK && i < result->samples[s].n; i++) {
            statement = statement_of(store, PREPARED_INSERT_SAMPLE);
            statement_integer(&statement, row_id);
            statement_text(&statement, result->samples[s].name);
            statement_integer(&statement, (int64_t)i);
            statement_real(&statement, true, result->samples[s].values[i]);
            status = statement_run(&statement, "writing samples", NULL, NULL, err);
        }
    return status;
}

enum status store_record(struct store *store, int64_t *row_id, const struct store_result *result, struct error *err)
{
    int64_t     id = *row_id;
    enum status status = transaction_begin(store, "writing a result", err);
    if (status != STATUS_OK)
        return status;
    if (result->attempt > 1)
        status = add_attempt(store, &id, result->attempt, err);
    if (status == STATUS_OK)
        status = update_result(store, id, result, err);
    if (status == STATUS_OK && result->input_hash != NULL)
        status = move_to_series(store, id, result->input_hash, err);
    if (status == STATUS_OK)
        status = replace_failures(store, id, result, err);
    if (status == STATUS_OK)
        status = replace_log(store, id, result->log, err);
    if (status == STATUS_OK)
        status = replace_samples(store, id, result, err);
    status = transaction_end(store, status, "writing a result", err);
    if (status == STATUS_OK)
        *row_id = id;
    return status;
}

enum status store_start(struct store *store, int64_t row_id, int *starts, struct error *err)
{
    int64_t     count = 0;
    int         n_updated = 0;
    enum status status = transaction_begin(store, "noting the start of a case", err);
    if (status != STATUS_OK)
        return status;
    struct statement statement = statement_of(store, PREPARED_START_RESULT);
    statement_integer(&statement, row_id);
    status = statement_run(&statement, "noting the start of a case", &count, &n_updated, err);
    if (status == STATUS_OK && n_updated == 0)
        status = error_set(err, STATUS_BOOKS, "%s: no planned row %lld", store->path, (long long)row_id);
    status = transaction_end(store, status, "noting the start of a case", err);
    if (status == STATUS_OK)
        *starts = (int)count;
    return status;
}

/* USAGE where a person named the run; BOOKS where it is the one that is being written. */
static enum status no_such_run(struct store *store, enum status status, const char *run, struct error *err)
{
    return error_set(err, status,
                     "%s: there is no run %s; `topkcts query runs --db %s` lists the runs, `topkcts query guards` the sessions "
                     "of guards",
                     store->path, run, store->path);
}

enum status store_add_warning(struct store *store, const char *run, const char *warning, struct error *err)
{
    int         n_added = 0;
    char        now[32];
    enum status status = transaction_begin(store, "writing a warning", err);
    if (status != STATUS_OK)
        return status;
    store_now(now);
    struct statement statement = statement_of(store, PREPARED_INSERT_WARNING);
    statement_text(&statement, run);
    statement_text(&statement, now);
    statement_text(&statement, warning);
    status = statement_run(&statement, "writing a warning", NULL, &n_added, err);
    if (status == STATUS_OK && n_added == 0)
        status = no_such_run(store, STATUS_BOOKS, run, err);
    return transaction_end(store, status, "writing a warning", err);
}

/* Runs one of the statements that take a run's name alone. */
static enum status for_run(struct store *store, enum prepared which, const char *run, struct error *err)
{
    struct statement statement = statement_of(store, which);
    statement_text(&statement, run);
    return statement_run(&statement, "bringing latest up to date", NULL, NULL, err);
}

enum status store_exclude_run(struct store *store, const char *run, const char *reason, struct error *err)
{
    int         n_updated = 0;
    enum status status = transaction_begin(store, "excluding a run", err);
    if (status != STATUS_OK)
        return status;
    struct statement statement = statement_of(store, PREPARED_EXCLUDE_RUN);
    statement_text(&statement, run);
    statement_text(&statement, reason);
    status = statement_run(&statement, "excluding a run", NULL, &n_updated, err);
    if (status == STATUS_OK && n_updated == 0)
        status = no_such_run(store, STATUS_USAGE, run, err);
    if (status == STATUS_OK)
        status = for_run(store, PREPARED_DROP_LATEST, run, err);
    if (status == STATUS_OK)
        status = for_run(store, PREPARED_REBUILD_LATEST, run, err);
    return transaction_end(store, status, "excluding a run", err);
}

enum status store_end_run(struct store *store, const char *run, int exit_code, struct error *err)
{
    int         n_updated = 0;
    char        now[32];
    enum status status = transaction_begin(store, "ending the run", err);
    if (status != STATUS_OK)
        return status;
    store_now(now);
    struct statement statement = statement_of(store, PREPARED_END_RUN);
    statement_text(&statement, run);
    statement_text(&statement, now);
    statement_integer(&statement, exit_code);
    status = statement_run(&statement, "ending the run", NULL, &n_updated, err);
    if (status == STATUS_OK && n_updated == 0)
        status = no_such_run(store, STATUS_BOOKS, run, err);
    if (status == STATUS_OK)
        status = for_run(store, PREPARED_RAISE_LATEST, run, err);
    return transaction_end(store, status, "ending the run", err);
}
