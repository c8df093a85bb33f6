/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `topkcts guard` writes to the store; schema_2.sql is the documentation of what is stored. Session and cells
 * first, then the legs of each round in one transaction, verdicts last, so that a kill loses the round in flight and
 * never looks like an answer.
 */
#ifndef TOPKCTS_STORE_GUARD_H
#define TOPKCTS_STORE_GUARD_H

#include "harness/guard_statistics.h"
#include "harness/registry.h"
#include "harness/store.h"

/* What is known before anything is timed. `run` gives name, start, label, host, argv and provenance; its suite, tree,
 * patch and meta are not kept. */
struct store_guard_session {
    const struct guard          *guard;
    const struct store_run      *run;
    const struct store_device   *device;
    const struct store_provider *base, *candidate;
    double                       budget_seconds;
    uint64_t                     seed;
};

struct store_guard_cell {
    const char  *case_name;
    enum outputs outputs;
};

/* One leg. `samples` are microseconds of one launch each. */
struct store_guard_leg {
    int64_t        cell; /* row id */
    int32_t        round, place;
    enum guard_arm arm;
    const double  *samples;
    size_t         n_samples;
    int32_t        clock_mhz; /* 0: unknown */
};

/* How a cell came out. Intervals with ratio 0 are stored as NULL. */
struct store_guard_cell_end {
    int32_t               calls;
    double                median_us[N_GUARD_ARMS]; /* 0: NULL */
    struct guard_interval candidate, control;
    enum guard_verdict    verdict;
    const char           *reason;
};

/* How a session came out. */
struct store_guard_end {
    bool                  by_device;
    const char           *control;
    size_t                rounds;
    struct guard_interval overall, control_overall;
    double                drift; /* 0: NULL */
    int32_t               clock_mhz_low, clock_mhz_high;
    enum guard_verdict    verdict;
    const char           *reason;
};

/* Writes session and cells in one transaction; cell_ids[i] becomes the row id of cells[i]. */
enum status store_guard_begin(struct store *store, const struct store_guard_session *session,
                              const struct store_guard_cell *cells, size_t n_cells, int64_t *cell_ids, struct error *err);

/* Writes the legs of one round. */
enum status store_guard_round(struct store *store, const struct store_guard_leg *legs, size_t n_legs, struct error *err);

/* Writes what came of cells and session, in one transaction. ends[i] belongs to cell_ids[i]. */
enum status store_guard_finish(struct store *store, const char *session, const struct store_guard_end *end,
                               const int64_t *cell_ids, const struct store_guard_cell_end *ends, size_t n_cells,
                               struct error *err);

/* Voids a session without deleting it. *found: whether there is one of that name; otherwise nothing is done. */
enum status store_guard_exclude(struct store *store, const char *session, const char *reason, bool *found,
                                struct error *err);

#endif
