/* SPDX-License-Identifier: Apache-2.0 */
/* What a guard's measurement comes to: intervals and verdicts of every cell and of the whole, and how they are told. */
#ifndef TOPKCTS_GUARD_RESULT_H
#define TOPKCTS_GUARD_RESULT_H

#include "harness/guard_session.h"

#include <jansson.h>
#include <stdio.h>

struct guard_result {
    struct store_guard_end       end;
    struct store_guard_cell_end *cells; /* [n_cells] */
    char (*cell_reasons)[300];
    char reason[800];
};

/* Judges. A measurement that stopped before its time, or with too few rounds, gives every cell its verdict and reason.
 * Otherwise the whole exceeds when any cell or their geometric mean does, is within when all are, and else cannot be
 * told. STATUS_BOOKS only when memory runs out. */
enum status guard_result_make(struct guard_result *result, struct guard_session *session, uint64_t seed,
                              struct error *err);
void        guard_result_clear(struct guard_result *result);

/* The exit code: within 0; exceeds and failed 1, a kernel is to blame; cannot tell 3, nothing was judged. */
enum status guard_exit_code(enum guard_verdict verdict);

void guard_result_print(const struct guard_result *result, const struct guard_session *session, const char *name,
                        const char *database, FILE *file);

/* The same as a JSON object; NULL when out of memory. */
json_t *guard_result_json(const struct guard_result *result, const struct guard_session *session, const char *name,
                          const char *database);

#endif
