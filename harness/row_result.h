/* SPDX-License-Identifier: Apache-2.0 */
/* What one attempt at a planned row came to, on its way from the worker to the store, the outputs and the summary. */
#ifndef TOPKCTS_ROW_RESULT_H
#define TOPKCTS_ROW_RESULT_H

#include "harness/runner.h"
#include "harness/worker_process.h"

struct row_result {
    enum verdict            verdict;
    enum verdict            happened; /* what a flaky row's last attempt came to */
    const struct judgement *judgement; /* NULL when the worker gave none */
    const char             *expected;  /* the issue of the expectation that applied */
    int32_t                 attempt;
    double                  wall_ms;
    char                    reason[1200];
    char                    log[WORKER_LOG_BYTES + 1];
};

void row_result_from_judgement(struct row_result *result, const struct judgement *judgement);

/* Copies the end of what the worker printed. */
void row_result_take_log(struct row_result *result, const struct worker_process *worker);

/* Stores it. */
enum status row_result_store(struct store *store, int64_t *row_id, const struct row_result *result, struct error *err);

/* What the summary needs of it. */
void row_result_outcome(struct arena *arena, const struct row_result *result, struct outcome *outcome);

/* Writes it as one JSON object on a line. */
void row_result_json_line(FILE *file, const struct target *target, const struct concrete_case *concrete,
                          const struct row_result *result);

#endif
