/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted kernel fault, kind overflow: candidates that do not fit into LDS are dropped.
 *
 * The buffer is used even when more candidates share the first digit than it holds; those that arrive late are
 * dropped. Seen in sgl-project/sglang#36807 and vllm-project/vllm#51782.
 */
#define SMALL_TOPK_USE_BUFFER(count) ((count) > 0)

#include "kernels/faulty/small_topk.h"

SMALL_TOPK_FAULT(overflow_clipped, "faulty/overflow-clipped", "overflow",
                 "candidates that do not fit into LDS are dropped");
