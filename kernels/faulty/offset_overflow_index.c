/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind offset-overflow: indices are kept in 16 bits on their way to the output, so that beyond 65535
 * they start again at 0.
 */
#include "kernels/faulty/host_topk.h"

static int32_t select_16_bit_indices(struct host_row *row, int32_t *selected)
{
    int32_t count = host_topk_select(row, selected);
    for (int32_t i = 0; i < count; i++) {
        selected[i] = (uint16_t)selected[i];
    }
    return count;
}

static const struct host_topk_steps steps = {.select = select_16_bit_indices};

HOST_TOPK_FAULT(offset_overflow_index, "faulty/offset-overflow-index", "offset-overflow",
                "keeps indices in 16 bits, so that index 65536 becomes 0",
                .level = TOPK_LEVEL_CANONICAL);
