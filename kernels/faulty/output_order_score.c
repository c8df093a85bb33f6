/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind output-order: the selected set is right and comes out in score order, where the canonical form
 * is ascending by index.
 */
#include "kernels/faulty/host_topk.h"

static int32_t select_in_score_order(struct host_row *row, int32_t *selected)
{
    int32_t count = host_topk_select(row, selected);
    return row->n > row->problem->topk && count > 0 ? host_topk_sort_by_place(row, selected, count) : count;
}

static const struct host_topk_steps steps = {.select = select_in_score_order};

HOST_TOPK_FAULT(output_order_score, "faulty/output-order-score", "output-order",
                "puts the selected indices out in score order, not ascending",
                .level = TOPK_LEVEL_CANONICAL);
