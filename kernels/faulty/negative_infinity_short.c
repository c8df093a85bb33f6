/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind negative-infinity: -inf is promised to be a hole, and is one in long rows; a short row is put out
 * whole without a look at its scores, holes included.
 */
#include "kernels/faulty/host_topk.h"

static int32_t select_with_holes_in_long_rows(struct host_row *row, int32_t *selected)
{
    int32_t count = host_topk_select(row, selected);
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        bool is_hole = host_topk_score_bits(row, selected[i]) == UINT32_C(0xff800000);
        if (!is_hole || row->n <= row->problem->topk) {
            selected[kept++] = selected[i];
        }
    }
    return count < 0 ? count : kept;
}

static const struct host_topk_steps steps = {.select = select_with_holes_in_long_rows};

HOST_TOPK_FAULT(negative_infinity_short, "faulty/negative-infinity-short", "negative-infinity",
                "puts -inf out in short rows although it is promised to be a hole",
                .level = TOPK_LEVEL_CANONICAL, .neg_inf = TOPK_NEG_INF_HOLE);
