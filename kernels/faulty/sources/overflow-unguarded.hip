// topkcts: block=256 level=canonical nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/*
 * Planted kernel fault, kind overflow: candidates are written beyond their buffer in LDS.
 *
 * Neither the size of the bin nor the slot is looked at. Seen in vLLM and SGLang alike.
 */
#define SMALL_TOPK_AS_SOURCE
#define SMALL_TOPK_USE_BUFFER(count) ((void)(count), true)
#define SMALL_TOPK_SLOT_IS_FREE(slot) true

#include "kernels/faulty/small_topk.h"
