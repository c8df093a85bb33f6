/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind topk-limit: one instance of a kernel that is compiled per topk is bad: for topk 600 the last
 * winner is written twice. Every other value is right, so only a sweep over all of them meets it.
 */
#include "kernels/faulty/host_topk.h"

#define BAD_TOPK 600

static int32_t select_with_one_bad_instance(struct host_row *row, int32_t *selected)
{
    int32_t count = host_topk_select(row, selected);
    if (count == BAD_TOPK && row->n > BAD_TOPK && row->problem->topk == BAD_TOPK) {
        selected[count - 1] = selected[count - 2];
    }
    return count;
}

static const struct host_topk_steps steps = {.select = select_with_one_bad_instance};

HOST_TOPK_FAULT(topk_limit_600, "faulty/topk-limit-600", "topk-limit", "writes the last winner twice at topk 600 alone",
                .level = TOPK_LEVEL_CANONICAL);
