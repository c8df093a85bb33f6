/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind key-mismatch: the coarse fp16 key is taken for the whole score: scores that round to one fp16
 * number tie, and the lower index wins.
 */
#include "kernels/faulty/host_topk.h"

static uint32_t half_key(const struct host_row *row, int32_t index)
{
    return host_topk_half_key(host_topk_score_bits(row, index)) << 16;
}

static const struct host_topk_steps steps = {.key = half_key};

HOST_TOPK_FAULT(key_mismatch_half, "faulty/key-mismatch-half", "key-mismatch",
                "selects by the fp16 key alone; scores that round to one fp16 number tie",
                .level = TOPK_LEVEL_CANONICAL);
