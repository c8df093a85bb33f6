/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind underfill: winners of the bin at the cut are put out from a list of 1024; with more to take than
 * that, the last slots stay unwritten. Topk has to be beyond 1024 for it. Seen in sgl-project/sglang#30512.
 */
#include "kernels/faulty/host_topk.h"

#define LISTED 1024

static void write_what_is_listed(const struct host_row *row, const int32_t *selected, int32_t count)
{
    if (row->n <= row->problem->topk) {
        host_topk_write(row, selected, count);
        return;
    }
    for (int32_t slot = 0; slot < count && slot < row->above + LISTED; slot++) {
        host_topk_write_slot(row, slot, selected[slot]);
    }
}

static const struct host_topk_steps steps = {.bin = host_topk_bin_of_8_bits, .write = write_what_is_listed};

HOST_TOPK_FAULT(underfill_1024, "faulty/underfill-1024", "underfill",
                "writes at most 1024 winners of the cut's bin; with topk 2048 later slots keep what they held",
                .level = TOPK_LEVEL_CANONICAL, .max_topk = 2048);
