/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind topk-limit: a kernel built for topk 801 to 998 and pages of 256 tokens leaves its last slot
 * unwritten; with any other topk or page size it is right.
 */
#include "kernels/faulty/host_topk.h"

static void write_all_but_the_last(const struct host_row *row, const int32_t *selected, int32_t count)
{
    bool is_bad = row->problem->topk >= 801 && row->problem->topk <= 998 && row->problem->page_size == 256;
    if (!is_bad || row->n <= row->problem->topk) {
        host_topk_write(row, selected, count);
        return;
    }
    for (int32_t slot = 0; slot + 1 < count; slot++) {
        host_topk_write_slot(row, slot, selected[slot]);
    }
}

static const struct host_topk_steps steps = {.write = write_all_but_the_last};

HOST_TOPK_FAULT(topk_limit_801, "faulty/topk-limit-801", "topk-limit",
                "leaves the last slot unwritten at topk 801 to 998 with pages of 256 tokens",
                .level = TOPK_LEVEL_CANONICAL);
