/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind denormal-flush: denormal scores are flushed to zero, as a compiler does under fast-math, and tie
 * with each other and with zero.
 */
#include "kernels/faulty/host_topk.h"

static uint32_t flushed_key(const struct host_row *row, int32_t index)
{
    uint32_t bits = host_topk_score_bits(row, index);
    bool     is_denormal = (bits & UINT32_C(0x7f800000)) == 0;
    return host_topk_key_of_bits(is_denormal ? 0 : bits);
}

static const struct host_topk_steps steps = {.key = flushed_key};

HOST_TOPK_FAULT(denormal_flush, "faulty/denormal-flush", "denormal-flush",
                "denormal scores count as zero",
                .level = TOPK_LEVEL_CANONICAL);
