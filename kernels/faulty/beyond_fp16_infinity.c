/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind beyond-fp16: the range between the least and the largest score is cut into equal steps; with +inf
 * in the row no step is finite, and +inf itself falls into none. Seen in NVIDIA/TensorRT-LLM#18625.
 */
#include "kernels/faulty/host_topk.h"

static uint32_t key_without_infinity(const struct host_row *row, int32_t index)
{
    uint32_t bits = host_topk_score_bits(row, index);
    return bits == UINT32_C(0x7f800000) ? 0 : host_topk_key_of_bits(bits);
}

static const struct host_topk_steps steps = {.key = key_without_infinity};

HOST_TOPK_FAULT(beyond_fp16_infinity, "faulty/beyond-fp16-infinity", "beyond-fp16",
                "ranks +inf below every other score",
                .level = TOPK_LEVEL_CANONICAL);
