/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind overflow: the candidate buffer holds 4096 entries and a coarse bin of 8 fp16 bits may hold more;
 * what comes later is dropped without a word. Seen in sgl-project/sglang#36807, vllm-project/vllm#51782.
 */
#include "kernels/faulty/host_topk.h"

static const struct host_topk_steps steps = {.bin = host_topk_bin_of_8_bits, .candidate_capacity = 4096};

HOST_TOPK_FAULT(overflow_4096, "faulty/overflow-4096", "overflow",
                "keeps the first 4096 candidates of an 8-bit fp16 bin and drops the rest",
                .level = TOPK_LEVEL_CANONICAL);
