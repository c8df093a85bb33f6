/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first thing a run does: its row, its devices and providers and its whole plan, in one transaction; see store.h.
 * Start reading at store_begin_run().
 */
#include "harness/store_statement.h"

#include <stdlib.h>

static enum status insert_run(struct store *store, const struct store_run *run, int64_t *id, struct error *err)
{
    struct statement statement = statement_of(store, PREPARED_INSERT_RUN);
    const char    *texts[] = {run->run,           run->started_at,    run->label,         run->suite,
                              run->host,          run->argv,          run->harness_version, run->registry_hash,
                              run->source_commit, run->source_tree,   run->patch_id,      run->environment};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        statement_text(&statement, texts[i]);
    statement_optional(&statement, run->dirty >= 0, run->dirty);
    statement_integer(&statement, run->meta);
    return statement_insert(&statement, "writing the run", id, err);
}

/* *device: the id of the identity; *run_device: of its state in this run. */
static enum status insert_device(struct store *store, int64_t run, const struct store_device *from, int64_t *device,
                                 int64_t *run_device, struct error *err)
{
    struct statement statement = statement_of(store, PREPARED_INSERT_DEVICE);
    statement_text(&statement, from->device_id);
    enum status status = statement_run(&statement, "writing a device", device, NULL, err);
    if (status != STATUS_OK)
        return status;
    statement = statement_of(store, PREPARED_INSERT_RUN_DEVICE);
    statement_integer(&statement, run);
    statement_integer(&statement, *device);
    statement_integer(&statement, from->wave_size);
    statement_integer(&statement, from->lds_bytes);
    statement_integer(&statement, from->memory_bytes);
    const char *texts[] = {from->backend, from->name, from->arch, from->driver, from->runtime, from->toolchain};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        statement_text(&statement, texts[i]);
    return statement_insert(&statement, "writing a device of the run", run_device, err);
}

static enum status insert_provider(struct store *store, int64_t run, const struct store_provider *from, int64_t *id,
                                   struct error *err)
{
    struct statement statement = statement_of(store, PREPARED_INSERT_RUN_PROVIDER);
    const char    *texts[] = {from->name,   from->version, from->digest,       from->origin,
                              from->claims, from->file,    from->source_commit};
    statement_integer(&statement, run);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        statement_text(&statement, texts[i]);
    return statement_insert(&statement, "writing a provider of the run", id, err);
}

/* Finds the case, makes it, or lets a newer run say what it is. */
static enum status state_case(struct store *store, const struct store_planned *planned, const char *started_at,
                              int64_t *id, struct error *err)
{
    struct statement statement = statement_of(store, PREPARED_FIND_CASE);
    statement_text(&statement, planned->case_name);
    statement_text(&statement, started_at);
    enum prepared next = PREPARED_INSERT_CASE;
    if (statement.rc == SQLITE_OK && sqlite3_step(statement.handle) == SQLITE_ROW) {
        bool newest = sqlite3_column_int(statement.handle, 1) != 0;
        next = newest ? PREPARED_COUNT : PREPARED_UPDATE_CASE;
        *id = sqlite3_column_int64(statement.handle, 0);
    }
    if (sqlite3_reset(statement.handle) != SQLITE_OK)
        return store_failure(store, "looking up a case", err);
    if (next == PREPARED_COUNT)
        return STATUS_OK;
    statement = statement_of(store, next);
    const char *texts[] = {planned->case_name, started_at, planned->family, planned->fault, planned->outputs};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        statement_text(&statement, texts[i]);
    statement_integer(&statement, planned->topk);
    statement_integer(&statement, planned->length);
    statement_integer(&statement, planned->page_size);
    statement_integer(&statement, planned->batch);
    if (next == PREPARED_UPDATE_CASE)
        return statement_run(&statement, "writing a case", NULL, NULL, err);
    return statement_insert(&statement, "writing a case", id, err);
}

/* What makes a series; case and device by row id. */
struct series_key {
    int64_t     test_case;
    int64_t     device;
    const char *provider;
    const char *origin;
    const char *input_hash; /* NULL: unknown */
};

static void bind_series(struct statement *statement, const struct series_key *key)
{
    statement_integer(statement, key->test_case);
    statement_integer(statement, key->device);
    statement_text(statement, key->provider);
    statement_text(statement, key->origin);
    statement_text(statement, key->input_hash);
}

/* The row id of the series, made when it is new. */
static enum status find_or_make_series(struct store *store, const struct series_key *key, int64_t *id,
                                       struct error *err)
{
    int              n_found = 0;
    struct statement statement = statement_of(store, PREPARED_FIND_SERIES);
    bind_series(&statement, key);
    enum status status = statement_run(&statement, "looking up a series", id, &n_found, err);
    if (status != STATUS_OK || n_found > 0)
        return status;
    statement = statement_of(store, PREPARED_INSERT_SERIES);
    bind_series(&statement, key);
    return statement_insert(&statement, "writing a series", id, err);
}

/* The row ids of what a plan refers to by position. */
struct plan_ids {
    int64_t *devices;       /* of table device */
    int64_t *run_devices;   /* of table run_device */
    int64_t *run_providers; /* of table run_provider */
};

static enum status insert_planned(struct store *store, const struct plan_ids *ids, const char *started_at,
                                  const struct store_provider *provider, const struct store_planned *planned,
                                  int64_t *id, struct error *err)
{
    struct series_key key = {.device = ids->devices[planned->device],
                             .provider = provider->name,
                             .origin = provider->origin,
                             .input_hash = planned->input_hash};
    int64_t           series = 0;
    enum status       status = state_case(store, planned, started_at, &key.test_case, err);
    if (status == STATUS_OK)
        status = find_or_make_series(store, &key, &series, err);
    if (status != STATUS_OK)
        return status;
    struct statement statement = statement_of(store, PREPARED_INSERT_PLANNED);
    statement_integer(&statement, ids->run_providers[planned->provider]);
    statement_integer(&statement, ids->run_devices[planned->device]);
    statement_integer(&statement, key.test_case);
    statement_integer(&statement, series);
    statement_integer(&statement, planned->promised);
    statement_integer(&statement, planned->in_budget);
    statement_text(&statement, planned->in_budget ? "not reached" : "left out by --budget");
    return statement_insert(&statement, "writing a planned result", id, err);
}

static enum status write_plan(struct store *store, const struct plan_ids *ids, const struct store_run *run,
                              const struct store_device *devices, size_t n_devices,
                              const struct store_provider *providers, size_t n_providers,
                              const struct store_planned *planned, size_t n_planned, int64_t *row_ids,
                              struct error *err)
{
    int64_t     run_id = 0;
    enum status status = insert_run(store, run, &run_id, err);
    if (status != STATUS_OK)
        return error_prefix(err, "run %s", run->run);
    for (size_t i = 0; status == STATUS_OK && i < n_devices; i++)
        if ((status = insert_device(store, run_id, &devices[i], &ids->devices[i], &ids->run_devices[i], err)) !=
            STATUS_OK)
            error_prefix(err, "device %s", devices[i].device_id);
    for (size_t i = 0; status == STATUS_OK && i < n_providers; i++)
        if ((status = insert_provider(store, run_id, &providers[i], &ids->run_providers[i], err)) != STATUS_OK)
            error_prefix(err, "provider %s", providers[i].name);
    for (size_t i = 0; status == STATUS_OK && i < n_planned; i++) {
        const struct store_planned *one = &planned[i];
        if (one->device >= n_devices || one->provider >= n_providers)
            return error_set(err, STATUS_BOOKS, "case %s: planned for device %zu of %zu and provider %zu of %zu",
                             one->case_name, one->device, n_devices, one->provider, n_providers);
        status = insert_planned(store, ids, run->started_at, &providers[one->provider], one, &row_ids[i], err);
        if (status != STATUS_OK)
            error_prefix(err, "case %s", one->case_name);
    }
    return status;
}

enum status store_begin_run(struct store *store, const struct store_run *run, const struct store_device *devices,
                            size_t n_devices, const struct store_provider *providers, size_t n_providers,
                            const struct store_planned *planned, size_t n_planned, int64_t *row_ids,
                            struct error *err)
{
    struct plan_ids ids = {.devices = calloc(n_devices + 1, sizeof *ids.devices),
                           .run_devices = calloc(n_devices + 1, sizeof *ids.run_devices),
                           .run_providers = calloc(n_providers + 1, sizeof *ids.run_providers)};
    enum status     status = STATUS_OK;
    if (ids.devices == NULL || ids.run_devices == NULL || ids.run_providers == NULL) {
        status = error_no_memory(err);
        goto done;
    }
    if ((status = transaction_begin(store, "writing the plan", err)) != STATUS_OK)
        goto done;
    status = write_plan(store, &ids, run, devices, n_devices, providers, n_providers, planned, n_planned, row_ids, err);
    status = transaction_end(store, status, "writing the plan", err);
done:
    free(ids.devices);
    free(ids.run_devices);
    free(ids.run_providers);
    return status;
}
