/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind short-row: the short-row test is off by one: a row of topk + 1 scores yields its first topk
 * indices, whatever the scores.
 */
#include "kernels/faulty/host_topk.h"

static int32_t select_with_wide_test(struct host_row *row, int32_t *selected)
{
    if (row->n == row->problem->topk + 1) {
        row->n--;
    }
    return host_topk_select(row, selected);
}

static const struct host_topk_steps steps = {.select = select_with_wide_test};

HOST_TOPK_FAULT(short_row_plus_one, "faulty/short-row-plus-one", "short-row",
                "a row of topk + 1 scores is taken for a short one and loses its last score",
                .level = TOPK_LEVEL_CANONICAL);
