/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind short-row: a row of exactly topk scores goes down the long path, which finds nothing left to
 * pick at the cut and loses an index.
 */
#include "kernels/faulty/host_topk.h"

static int32_t select_below_topk(struct host_row *row, int32_t *selected)
{
    int32_t count = host_topk_select(row, selected);
    return row->n == row->problem->topk && count > 0 ? count - 1 : count;
}

static const struct host_topk_steps steps = {.select = select_below_topk};

HOST_TOPK_FAULT(short_row_equal, "faulty/short-row-equal", "short-row",
                "a row of exactly topk scores loses its last index",
                .level = TOPK_LEVEL_CANONICAL);
