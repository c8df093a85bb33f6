/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind write-outside: the row's slots are cleared from one slot too early, which is the last slot of
 * the row before.
 */
#include "kernels/faulty/host_topk.h"

static void write_from_one_too_early(const struct host_row *row, const int32_t *selected, int32_t count)
{
    if (row->number > 0 && row->page_indices != NULL) {
        row->page_indices[-1] = 0;
    }
    if (row->number > 0 && row->raw_indices != NULL) {
        row->raw_indices[-1] = 0;
    }
    host_topk_write(row, selected, count);
}

static const struct host_topk_steps steps = {.write = write_from_one_too_early};

HOST_TOPK_FAULT(write_outside_neighbour, "faulty/write-outside-neighbour", "write-outside",
                "clears the last slot of the row before, unless the row is the first",
                .level = TOPK_LEVEL_CANONICAL);
