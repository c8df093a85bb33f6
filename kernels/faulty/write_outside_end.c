/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind write-outside: a terminating -1 is written behind the topk slots of every row; the next row
 * covers it up, behind the last row nothing does.
 */
#include "kernels/faulty/host_topk.h"

static void write_terminated(const struct host_row *row, const int32_t *selected, int32_t count)
{
    host_topk_write(row, selected, count);
    host_topk_write_slot(row, row->problem->topk, -1);
}

static const struct host_topk_steps steps = {.write = write_terminated};

HOST_TOPK_FAULT(write_outside_end, "faulty/write-outside-end", "write-outside",
                "ends every row's outputs with a -1 in the slot after the last",
                .level = TOPK_LEVEL_CANONICAL);
