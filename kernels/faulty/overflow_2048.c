/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind overflow: as overflow-4096, with the finer bin and the smaller buffer of another kernel. Seen in
 * sgl-project/sglang#37941.
 */
#include "kernels/faulty/host_topk.h"

static const struct host_topk_steps steps = {.bin = host_topk_bin_of_12_bits, .candidate_capacity = 2048};

HOST_TOPK_FAULT(overflow_2048, "faulty/overflow-2048", "overflow",
                "keeps the first 2048 candidates of a 12-bit fp16 bin and drops the rest",
                .level = TOPK_LEVEL_CANONICAL);
