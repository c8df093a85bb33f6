/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind negative-infinity: -inf is taken for a masked column and dropped, and the tail is -1, where the
 * contract makes it a score like any other.
 */
#include "kernels/faulty/host_topk.h"

static int32_t select_unmasked(struct host_row *row, int32_t *selected)
{
    int32_t count = host_topk_select(row, selected);
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        bool masked = row->n > row->problem->topk && host_topk_score_bits(row, selected[i]) == UINT32_C(0xff800000);
        if (!masked) {
            selected[kept++] = selected[i];
        }
    }
    return count < 0 ? count : kept;
}

static const struct host_topk_steps steps = {.select = select_unmasked};

HOST_TOPK_FAULT(negative_infinity_hole, "faulty/negative-infinity-hole", "negative-infinity",
                "drops -inf from long rows although it is promised to be a score like any other",
                .level = TOPK_LEVEL_CANONICAL);
