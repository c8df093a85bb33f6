/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind topk-limit: topk is a compile-time 512: a larger run-time value gets 512 winners and padding.
 */
#include "kernels/faulty/host_topk.h"

#define COMPILED_TOPK 512

static int32_t select_at_most_512(struct host_row *row, int32_t *selected)
{
    struct topk_problem narrow = *row->problem;
    narrow.topk = narrow.topk < COMPILED_TOPK ? narrow.topk : COMPILED_TOPK;
    struct host_row narrow_row = *row;
    narrow_row.problem = &narrow;
    if (row->n <= row->problem->topk) {
        return host_topk_select(row, selected);
    }
    return host_topk_select(&narrow_row, selected);
}

static const struct host_topk_steps steps = {.select = select_at_most_512};

HOST_TOPK_FAULT(topk_limit_512, "faulty/topk-limit-512", "topk-limit",
                "selects at most 512 whatever topk says; the rest is padding",
                .level = TOPK_LEVEL_CANONICAL);
