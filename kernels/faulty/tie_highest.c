/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind tie-break: among equal scores at the cut the highest index wins.
 */
#include "kernels/faulty/host_topk.h"

static uint32_t highest_index_first(const struct host_row *row, int32_t index)
{
    (void)row;
    return (uint32_t)index;
}

static const struct host_topk_steps steps = {.tie = highest_index_first};

HOST_TOPK_FAULT(tie_highest, "faulty/tie-highest", "tie-break",
                "takes the highest index among equal scores at the cut",
                .level = TOPK_LEVEL_CANONICAL);
