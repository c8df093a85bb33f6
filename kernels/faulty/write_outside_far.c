/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind write-outside: a leftover counter is stored by a wrong stride, 1100 slots behind the last row: past
 * any guard band of a page, in memory that belongs to somebody else.
 */
#include "kernels/faulty/host_topk.h"

#define SLOTS_AWAY 1100

static void write_with_stray_counter(const struct host_row *row, const int32_t *selected, int32_t count)
{
    host_topk_write(row, selected, count);
    if (row->number == row->problem->batch - 1) {
        int32_t *outputs = row->raw_indices != NULL ? row->raw_indices : row->page_indices;
        outputs[row->problem->topk + SLOTS_AWAY] = count;
    }
}

static const struct host_topk_steps steps = {.write = write_with_stray_counter};

HOST_TOPK_FAULT(write_outside_far, "faulty/write-outside-far", "write-outside",
                "stores a counter 1100 slots behind the outputs", .level = TOPK_LEVEL_CANONICAL);
