/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: one SQLite file that remembers every run. The only code that talks to SQLite for writing results.
 *
 * A run writes its whole plan first (one transaction: the run's row and one `notrun` row for each planned result),
 * then replaces each planned row by its verdict, one transaction each, so that a kill at any moment loses at most the
 * case in flight. Only the parent process of a run opens the store.
 *
 * schema.sql is the documentation of what is stored. Every text passed in is copied; NULL text is stored as NULL.
 */
#ifndef TOPKCTS_STORE_H
#define TOPKCTS_STORE_H

#include "harness/provider.h"
#include "harness/status.h"
#include "harness/verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store;

/* Opening for writing creates the file and brings an older schema forward; opening for reading does neither. */
enum store_mode { STORE_READ, STORE_WRITE };

/* A device, by its identity and never by its ordinal. */
struct store_device {
    const char *device_id; /* uuid; "host:x86_64", "sim", "sim:32", "sim:64" for the CPU ones */
    const char *backend;   /* host, sim, hip, cuda */
    const char *name;      /* product name */
    const char *arch;      /* full target id: x86_64, gfx1100, gfx90a:sramecc+:xnack-, sm_90 */
    int32_t     wave_size; /* 0 where it has no meaning */
    int64_t     lds_bytes; /* LDS or shared memory per block */
    int64_t     memory_bytes;
    const char *driver;
    const char *runtime;
    const char *toolchain; /* compilers that made what ran here */
};

/* A build of a provider. */
struct store_provider {
    const char *name;
    const char *version;
    const char *digest; /* provider_digest: 32 hex digits */
    const char *origin; /* scalar, sim, aot, jit, plugin, source, process */
    const char *claims; /* as text: "level=canonical tie=any ..." */
    const char *file;   /* where it came from, NULL for built-ins */
    const char *source_commit; /* of the kernels under test (--source), or of the harness for built-ins; or NULL */
};

/* Everything about a run but its rows. */
struct store_run {
    const char *run;             /* its name, unique among all machines; see store_new_run_name */
    const char *started_at;      /* UTC, ISO 8601 */
    const char *label;
    const char *suite;
    const char *host;
    const char *argv;            /* JSON array of strings */
    const char *harness_version;
    const char *registry_hash;
    const char *source_commit;
    const char *source_tree;
    int         dirty;           /* 0, 1, or -1 when unknown */
    const char *patch_id;        /* stable patch id of what is not committed; NULL when clean or unknown */
    const char *environment;     /* JSON object: visibility variables (null when unset), container, compilers ... */
    bool        meta;            /* the suite is about the harness: rows of faulty providers stay out of latest */
};

/* One planned result. Device and provider are given by position in the arrays handed to store_begin_run. */
struct store_planned {
    size_t      device;
    size_t      provider;
    const char *case_name;
    const char *family;
    const char *fault;
    int32_t     topk;
    int32_t     length;    /* of the longest row */
    int32_t     page_size;
    int32_t     batch;
    const char *outputs;    /* page, page+raw, raw */
    const char *input_hash; /* 32 hex digits; or NULL when it is only known after the inputs are made */
    enum topk_level promised;
    bool        in_budget;  /* false: left out by --budget: never fails the run */
};

/* One failing row of a failing case. */
struct store_row_failure {
    int32_t     row;
    int32_t     length;
    int32_t     topk;
    const char *cut_value;  /* as text, e.g. "1.25 (0x3fa00000)" */
    int64_t     cut_equal;  /* how many scores equal it */
    const char *missing;    /* JSON array of the first missing indices */
    const char *extra;      /* JSON array of the first extra indices */
    int64_t     n_missing;
    int64_t     n_extra;
    const char *explanation; /* one line for people */
};

/* Single measurements of one kind, in the order in which they were taken. */
struct store_samples {
    const char   *name;   /* "kernel-warm": microseconds; "clock-mhz" */
    const double *values; /* [n] */
    size_t        n;      /* 0: none were taken */
};

/* The verdict that replaces a planned row. */
struct store_result {
    enum verdict verdict;
    bool         has_level; /* something was judged, and reached: */
    enum topk_level level;
    int          set_exact; /* 1, 0, or -1 when unknown */
    const char  *reason;    /* one line; NULL for a pass */
    const char  *expected;  /* the issue or reason of the expectation that applied; or NULL */
    const char  *input_hash; /* replaces the planned one when that was NULL */
    const char  *output_digest;
    const char  *set_digest;
    const char  *path;
    int32_t      repeats;   /* launches of the repeat check */
    int32_t      attempt;   /* 1 for the first */
    double       wall_ms;
    double       kernel_us_p50; /* negative when not measured: stored as NULL */
    const char  *log;       /* tail of what the worker printed; or NULL */
    const struct store_row_failure *failures; /* one for each row; of several for one row the first is kept */
    size_t       n_failures;
    const struct store_samples *samples; /* one for each name */
    size_t       n_samples;
};

/* Opens `path`. Fails with STATUS_BOOKS and a message that says which: not there (reading), no permission, not a
 * database, a database of something else, damaged (never rewritten), written by a newer version, disk full, locked
 * longer than ten seconds. *store is NULL on failure. */
enum status store_open(struct store **store, const char *path, enum store_mode mode, struct error *err);

/* Closes; NULL is harmless. */
void store_close(struct store *store);

/* Writes a fresh run name, "20261130T132455Z-3f2a9c41": start time and random hex digits. */
void store_new_run_name(char name[32]);

/* Writes the current time as UTC ISO 8601 with milliseconds. */
void store_now(char text[32]);

/* Writes run, devices, providers and the plan in one transaction. row_ids[i] becomes the id of planned[i]. Devices
 * differ by device_id, providers by name, origin or digest, planned results by device, provider or case. */
enum status store_begin_run(struct store *store, const struct store_run *run, const struct store_device *devices,
                            size_t n_devices, const struct store_provider *providers, size_t n_providers,
                            const struct store_planned *planned, size_t n_planned, int64_t *row_ids,
                            struct error *err);

/* Replaces the planned row by its verdict, in a transaction of its own. With attempt > 1 a row of its own is added
 * beside the earlier attempts and its id stored in *row_id, which may stand for any attempt before the call. Recording
 * the same attempt again replaces what it said. */
enum status store_record(struct store *store, int64_t *row_id, const struct store_result *result, struct error *err);

/* Notes that a runner takes the row up now. *starts: how often that has happened, this time included; more than one
 * for a row without a verdict means that a runner died in it. */
enum status store_start(struct store *store, int64_t row_id, int *starts, struct error *err);

/* Adds a warning to a run: one line. */
enum status store_add_warning(struct store *store, const char *run, const char *warning, struct error *err);

/* Voids a run without deleting it, or lets it count again (reason NULL), and brings `latest` up to date. */
enum status store_exclude_run(struct store *store, const char *run, const char *reason, struct error *err);

/* Writes end time and exit code and brings `latest` up to date for the series of this run. */
enum status store_end_run(struct store *store, const char *run, int exit_code, struct error *err);

/* The prepared statements' escape hatch for readers: runs `sql` (one SELECT) and hands each row to `row` as text
 * columns (NULL for SQL NULL). Stops with STATUS_BOOKS on an SQL error, naming it. */
enum status store_query(struct store *store, const char *sql, const char *const *parameters, size_t n_parameters,
                        enum status (*row)(void *payload, int n_columns, const char *const *names,
                                           const char *const *values, struct error *err),
                        void *payload, struct error *err);

#endif
