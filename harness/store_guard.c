/* SPDX-License-Identifier: Apache-2.0 */
/* Writing what a guard measured; see store_guard.h. */
#include "harness/store_guard.h"

#include "harness/store_statement.h"

#include <jansson.h>
#include <stdlib.h>

static const char *const arm_texts[N_GUARD_ARMS] = {"base", "candidate", "copy"};

static void bind_provider(struct statement *statement, const struct store_provider *provider)
{
    statement_text(statement, provider->name);
    statement_text(statement, provider->version);
    statement_text(statement, provider->digest);
    statement_text(statement, provider->origin);
    statement_text(statement, provider->file);
}

static enum status insert_session(struct store *store, const struct store_guard_session *session, int64_t *id,
                                  struct error *err)
{
    const struct guard        *guard = session->guard;
    const struct store_run    *run = session->run;
    const struct store_device *device = session->device;
    struct statement           statement = statement_of(store, PREPARED_INSERT_GUARD_SESSION);
    const char *const texts[] = {run->run,           guard->id,          guard->what,        guard->declared,
                                 guard->reason,      run->started_at,    run->label,         run->host,
                                 run->argv,          run->harness_version, run->registry_hash, run->source_commit,
                                 run->environment,   device->device_id,  device->backend,    device->name,
                                 device->arch,       device->driver,     device->toolchain,
                                 guard->cold ? "cold" : "warm"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        statement_text(&statement, texts[i]);
    bind_provider(&statement, session->base);
    bind_provider(&statement, session->candidate);
    statement_optional(&statement, run->dirty >= 0, run->dirty);
    statement_real(&statement, true, guard->percent);
    statement_real(&statement, true, session->budget_seconds);
    statement_integer(&statement, (int64_t)session->seed);
    statement_integer(&statement, GUARD_RESAMPLES);
    statement_real(&statement, true, GUARD_CONFIDENCE);
    return statement_insert(&statement, "writing a guard's session", id, err);
}

enum status store_guard_begin(struct store *store, const struct store_guard_session *session,
                              const struct store_guard_cell *cells, size_t n_cells, int64_t *cell_ids, struct error *err)
{
    static const char doing[] = "writing a guard's session";
    int64_t           id = 0;
    if (transaction_begin(store, doing, err))
        return err->status;
    enum status status = insert_session(store, session, &id, err);
    for (size_t c = 0; c < n_cells && status == STATUS_OK; c++) {
        struct statement statement = statement_of(store, PREPARED_INSERT_GUARD_CELL);
        statement_integer(&statement, id);
        statement_text(&statement, cells[c].case_name);
        statement_text(&statement, outputs_text(cells[c].outputs));
        status = statement_insert(&statement, doing, &cell_ids[c], err);
    }
    return transaction_end(store, status, doing, err);
}

/* Nanoseconds are as fine as any clock here. malloc'd; NULL when out of memory. */
static char *samples_json(const double *samples, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_real(samples[i]));
    char *text = json_dumps(list, JSON_COMPACT | JSON_REAL_PRECISION(8));
    json_decref(list);
    return text;
}

enum status store_guard_round(struct store *store, const struct store_guard_leg *legs, size_t n_legs, struct error *err)
{
    static const char doing[] = "writing a guard's round";
    if (transaction_begin(store, doing, err))
        return err->status;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < n_legs && status == STATUS_OK; i++) {
        struct statement statement = statement_of(store, PREPARED_INSERT_GUARD_LEG);
        char            *samples = samples_json(legs[i].samples, legs[i].n_samples);
        statement_integer(&statement, legs[i].cell);
        statement_integer(&statement, legs[i].round);
        statement_integer(&statement, legs[i].place);
        statement_text(&statement, arm_texts[legs[i].arm]);
        statement_text(&statement, samples);
        statement_optional(&statement, legs[i].clock_mhz > 0, legs[i].clock_mhz);
        status = samples ? statement_run(&statement, doing, NULL, NULL, err) : error_no_memory(err);
        free(samples);
    }
    return transaction_end(store, status, doing, err);
}

static void bind_interval(struct statement *statement, const struct guard_interval *interval)
{
    bool known = interval->ratio > 0;
    statement_real(statement, known, interval->ratio);
    statement_real(statement, known, interval->low);
    statement_real(statement, known, interval->high);
}

static enum status end_cell(struct store *store, int64_t id, const struct store_guard_cell_end *end, struct error *err)
{
    struct statement statement = statement_of(store, PREPARED_END_GUARD_CELL);
    statement_integer(&statement, id);
    statement_optional(&statement, end->calls > 0, end->calls);
    for (int arm = 0; arm < N_GUARD_ARMS; arm++)
        statement_real(&statement, end->median_us[arm] > 0, end->median_us[arm]);
    bind_interval(&statement, &end->candidate);
    bind_interval(&statement, &end->control);
    statement_text(&statement, guard_verdict_text(end->verdict));
    statement_text(&statement, end->reason);
    return statement_run(&statement, "writing a guard's verdict", NULL, NULL, err);
}

enum status store_guard_finish(struct store *store, const char *session, const struct store_guard_end *end,
                               const int64_t *cell_ids, const struct store_guard_cell_end *ends, size_t n_cells,
                               struct error *err)
{
    static const char doing[] = "writing a guard's verdict";
    char              now[32];
    enum status       status = STATUS_OK;
    store_now(now);
    if (transaction_begin(store, doing, err))
        return err->status;
    for (size_t c = 0; c < n_cells && status == STATUS_OK; c++)
        status = end_cell(store, cell_ids[c], &ends[c], err);
    if (status == STATUS_OK) {
        struct statement statement = statement_of(store, PREPARED_END_GUARD_SESSION);
        statement_text(&statement, session);
        statement_text(&statement, now);
        statement_text(&statement, end->rounds ? end->by_device ? "kernel" : "wall" : NULL);
        statement_text(&statement, end->control);
        statement_integer(&statement, (int64_t)end->rounds);
        bind_interval(&statement, &end->overall);
        bind_interval(&statement, &end->control_overall);
        statement_real(&statement, end->drift > 0, end->drift);
        statement_optional(&statement, end->clock_mhz_low > 0, end->clock_mhz_low);
        statement_optional(&statement, end->clock_mhz_high > 0, end->clock_mhz_high);
        statement_text(&statement, guard_verdict_text(end->verdict));
        statement_text(&statement, end->reason);
        status = statement_run(&statement, doing, NULL, NULL, err);
    }
    return transaction_end(store, status, doing, err);
}

enum status store_guard_exclude(struct store *store, const char *session, const char *reason, bool *found,
                                struct error *err)
{
    static const char doing[] = "excluding a guard's session";
    int               n_changed = 0;
    if (transaction_begin(store, doing, err))
        return err->status;
    struct statement statement = statement_of(store, PREPARED_EXCLUDE_GUARD);
    statement_text(&statement, session);
    statement_text(&statement, reason);
    enum status status = statement_run(&statement, doing, NULL, &n_changed, err);
    *found = n_changed > 0;
    return transaction_end(store, status, doing, err);
}
