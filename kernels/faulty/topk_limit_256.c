/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind topk-limit: one pass of a 256-thread block yields 256 winners; beyond that the slots are filled
 * with the first indices that are left, in range and distinct. Seen in arrayfire/arrayfire#2283.
 */
#include "kernels/faulty/host_topk.h"

#define WINNERS_OF_ONE_PASS 256

static int32_t select_in_one_pass(struct host_row *row, int32_t *selected)
{
    int32_t topk = row->problem->topk;
    if (topk <= WINNERS_OF_ONE_PASS || row->n <= topk) {
        return host_topk_select(row, selected);
    }
    struct topk_problem one_pass = *row->problem;
    one_pass.topk = WINNERS_OF_ONE_PASS;
    struct host_row narrow_row = *row;
    narrow_row.problem = &one_pass;
    int32_t winners = host_topk_select(&narrow_row, selected);
    int32_t count = winners;
    for (int32_t i = 0, next = 0; i < row->n && count >= 0 && count < topk; i++) {
        if (next < winners && selected[next] == i) {
            next++;
        } else {
            selected[count++] = i;
        }
    }
    if (count > 0) {
        host_topk_sort_indices(selected, count);
    }
    return count;
}

static const struct host_topk_steps steps = {.select = select_in_one_pass};

HOST_TOPK_FAULT(topk_limit_256, "faulty/topk-limit-256", "topk-limit",
                "beyond 256 winners fills up with the first indices that are left",
                .level = TOPK_LEVEL_CANONICAL);
