/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind row-length: a row's padding begins at its length, also where that is negative, and so in front of
 * the row's own slots. At most 64 slots in front, which is what the harness guards at least.
 */
#include "kernels/faulty/host_topk.h"

#define MOST_SLOTS_IN_FRONT 64

static void write_padding_from_the_length_on(const struct host_row *row, const int32_t *selected, int32_t count)
{
    int32_t told = row->problem->seq_lens[row->number];
    int32_t first = told < -MOST_SLOTS_IN_FRONT ? -MOST_SLOTS_IN_FRONT : told;
    for (int32_t slot = first; slot < 0; slot++) {
        host_topk_write_slot(row, slot, -1);
    }
    host_topk_write(row, selected, count);
}

static const struct host_topk_steps steps = {.write = write_padding_from_the_length_on};

HOST_TOPK_FAULT(row_length_padding, "faulty/row-length-padding", "row-length",
                "pads a row of negative length from that slot on, in front of its own",
                .level = TOPK_LEVEL_CANONICAL, .negative_length = TOPK_NEGATIVE_LENGTH_EMPTY);
