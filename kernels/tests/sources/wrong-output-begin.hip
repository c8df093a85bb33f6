// topkcts: block=256 level=canonical nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/* Wrong: the first block writes one place before its output. out-of-bounds */
#define SMALL_TOPK_AT_END(row, places) (thread_number() + block_number() == 0 ? (void)((row).page_indices[-1] = 0) : (void)0)
#define SMALL_TOPK_AS_SOURCE
#include "kernels/faulty/small_topk.h"
