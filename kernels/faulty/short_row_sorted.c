/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind short-row: a short row is sorted by score, where the contract wants 0 .. n-1 in order, whatever
 * the scores.
 */
#include "kernels/faulty/host_topk.h"

static int32_t select_sorted(struct host_row *row, int32_t *selected)
{
    int32_t count = host_topk_select(row, selected);
    return row->n <= row->problem->topk ? host_topk_sort_by_place(row, selected, count) : count;
}

static const struct host_topk_steps steps = {.select = select_sorted};

HOST_TOPK_FAULT(short_row_sorted, "faulty/short-row-sorted", "short-row",
                "short rows come out in score order instead of index order",
                .level = TOPK_LEVEL_CANONICAL);
