/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind beyond-fp16: scores pass through the fp16 range with saturation, so that everything beyond 65504
 * in magnitude is one score.
 */
#include "kernels/faulty/host_topk.h"

#define HALF_MAX UINT32_C(0x477fe000) /* 65504 */

static uint32_t saturated_key(const struct host_row *row, int32_t index)
{
    uint32_t bits = host_topk_score_bits(row, index);
    uint32_t magnitude = bits & INT32_MAX;
    bool     is_nan = magnitude > UINT32_C(0x7f800000);
    if (magnitude > HALF_MAX && !is_nan) {
        bits = (bits ^ magnitude) | HALF_MAX;
    }
    return host_topk_key_of_bits(bits);
}

static const struct host_topk_steps steps = {.key = saturated_key};

HOST_TOPK_FAULT(beyond_fp16, "faulty/beyond-fp16", "beyond-fp16",
                "scores beyond 65504 are one score",
                .level = TOPK_LEVEL_CANONICAL);
