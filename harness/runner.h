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
    int32_t                      attempts;
    double                       wall_ms;
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
    struct outcome        *outcomes; /* [plan->n_rows], by the runner, in the plan's arena */
    size_t                 n_done;
    bool                   interrupted;
    FILE                  *json_lines; /* or NULL */
};

/* Runs the plan to its end, to an interrupt, or to the first failure with --fail-fast; rows that were not reached stay
 * `notrun` with the reason. STATUS_BOOKS when a verdict could not be stored: everything is stopped then. */
enum status runner_run(struct runner *runner, struct error *err);

#endif
