/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guard's measurement: rounds of base, candidate and copy, each in a worker process of its own that is started anew
 * for every round. Never calls a kernel itself, survives whatever the workers do, and writes every round to the store
 * before the next begins.
 */
#ifndef TOPKCTS_GUARD_SESSION_H
#define TOPKCTS_GUARD_SESSION_H

#include "harness/guard_statistics.h"
#include "harness/option.h"
#include "harness/plan.h"
#include "harness/store_guard.h"

/* Numbers that grow. Zeroed at first; freed by guard_session_clear. */
struct guard_numbers {
    double *items;
    size_t  n;
};

/* One case with one kind of output, and what was measured of it. */
struct guard_cell {
    const struct concrete_case *concrete;
    enum outputs                outputs;
    int32_t                     calls, n_samples; /* launches a sample, samples a leg; set by the pilot */
    double                      launch_us;        /* as the pilot saw it, of the slowest arm */
    struct guard_numbers        samples[N_GUARD_ARMS];
    struct guard_numbers        ratios, control_ratios, base_medians; /* by round */
};

struct guard_session {
    const struct settings *settings;
    const struct guard    *guard;
    const struct target   *targets[2]; /* base and candidate */
    struct store          *store;
    struct guard_cell     *cells; /* cells of one case stand together */
    size_t                 n_cells;
    const int64_t         *cell_ids;
    int64_t                budget_ms;
    /* What came of it. */
    size_t  rounds;
    bool    by_device;
    int32_t clock_mhz_low, clock_mhz_high;
    char    control[160];
    bool    has_stopped; /* before its time; `verdict` and `reason` then hold for everything */
    enum guard_verdict verdict;
    char               reason[700];
};

/* Measures until the budget is used up: a pilot, in which every answer is checked and launches are calibrated, then
 * rounds. STATUS_BOOKS only when the store cannot be written or no worker can be started; all else is in the session. */
enum status guard_measure(struct guard_session *session, struct error *err);

void guard_session_clear(struct guard_session *session);

#endif
