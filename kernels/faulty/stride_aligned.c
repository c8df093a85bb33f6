/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind stride: vector loads drop the low bits of the row's address, so that a row that starts off a
 * 16-byte boundary begins up to three scores too early. Seen, as a fault, in lightseekorg/tokenspeed#683.
 */
#include "kernels/faulty/host_topk.h"

static void locate_aligned(struct host_row *row)
{
    host_topk_locate(row);
    row->scores -= (uintptr_t)row->scores % 16 / sizeof *row->scores;
}

static const struct host_topk_steps steps = {.locate = locate_aligned};

HOST_TOPK_FAULT(stride_aligned, "faulty/stride-aligned", "stride",
                "rounds the row's address down to 16 bytes",
                .level = TOPK_LEVEL_CANONICAL);
