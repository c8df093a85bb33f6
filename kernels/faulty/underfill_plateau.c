/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind underfill: the exact stage emits at most 256 winners from the bin at the cut, so that a plateau
 * wider than that leaves slots unwritten. Seen in sgl-project/sglang#30512 with 1024.
 */
#include "kernels/faulty/host_topk.h"

#define EMITTED_FROM_CUT_BIN 256

static void write_what_was_emitted(const struct host_row *row, const int32_t *selected, int32_t count)
{
    if (row->n <= row->problem->topk) {
        host_topk_write(row, selected, count);
        return;
    }
    int32_t emitted = row->above + EMITTED_FROM_CUT_BIN;
    for (int32_t slot = 0; slot < count && slot < emitted; slot++) {
        host_topk_write_slot(row, slot, selected[slot]);
    }
}

static const struct host_topk_steps steps = {.bin = host_topk_bin_of_8_bits, .write = write_what_was_emitted};

HOST_TOPK_FAULT(underfill_plateau, "faulty/underfill-plateau", "underfill",
                "writes at most 256 winners of the cut's bin; later slots keep what they held",
                .level = TOPK_LEVEL_CANONICAL);
