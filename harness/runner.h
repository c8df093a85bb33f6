/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runner: carries out a plan with worker processes and writes every verdict to the store as it comes. Survives
 * whatever workers do; never calls a kernel itself.
 */
#ifndef TOPKCTS_RUNNER_H
#define TOPKCTS_RUNNER_H

#include "harness/plan.h"
#include "harness/store.h"

#include <stdbool.h>
#include <stdio.h>

/* How a planned row ended. Texts live in the plan's arena. */
struct outcome {
    enum verdict                 verdict;
    enum topk_level              level;
    bool                         judged_level; /* `level` means something */
    bool                         left_out;     /* by --budget: not planned, never red */
    int64_t                      row_id;       /* of the attempt it tells of, in the store */
    int32_t                      attempts;
    int32_t                      n_timeouts, n_crashes; /* unexpected ones among the attempts of a resumed run */
    double                       wall_ms;
    int32_t                      n_schedules, n_orders; /* as in struct judgement */
    const char                  *reason;
    const char                  *log;
    const struct row_difference *differences;
    size_t                       n_differences;
};

struct runner {
    struct plan           *plan;
    const struct settings *settings;
    const struct registry *registry;
    struct store          *store;
    const char            *run;      /* its name in the store */
    struct outcome        *outcomes; /* [plan->n_rows], the caller's; `notrun` where a row is not done */
    size_t                 n_done;
    bool                   interrupted, out_of_time;
    FILE                  *json_lines; /* or NULL */
};

/* Runs the plan to its end, to an interrupt, to the run's time limit, or to the first failure with --fail-fast; rows
 * that were not reached stay `notrun` with the reason. Rows that are done or left out are not touched. STATUS_BOOKS when a verdict could not be stored: everything is stopped then. */
enum status runner_run(struct runner *runner, struct error *err);

#endif
