/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind short-row: the slots behind a short row's indices keep what the buffer held before; the promise
 * is -1.
 */
#include "kernels/faulty/host_topk.h"

static void write_without_tail(const struct host_row *row, const int32_t *selected, int32_t count)
{
    for (int32_t slot = 0; slot < count; slot++) {
        host_topk_write_slot(row, slot, selected[slot]);
    }
}

static const struct host_topk_steps steps = {.write = write_without_tail};

HOST_TOPK_FAULT(short_row_tail, "faulty/short-row-tail", "short-row",
                "leaves the slots behind a short row's indices unwritten",
                .level = TOPK_LEVEL_CANONICAL);
