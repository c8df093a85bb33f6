/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind short-row: the slots behind a short row's indices are cleared to 0, which is a valid index,
 * where -1 is promised.
 */
#include "kernels/faulty/host_topk.h"

static void write_padded_with_zero(const struct host_row *row, const int32_t *selected, int32_t count)
{
    host_topk_write(row, selected, count);
    for (int32_t slot = count; slot < row->problem->topk; slot++) {
        host_topk_write_slot(row, slot, 0);
    }
}

static const struct host_topk_steps steps = {.write = write_padded_with_zero};

HOST_TOPK_FAULT(short_row_padding, "faulty/short-row-padding", "short-row",
                "pads short rows with 0 instead of -1",
                .level = TOPK_LEVEL_CANONICAL);
