// topkcts: block=256 level=canonical nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/*
 * Planted kernel fault, kind race: one thread resets the counter of candidates while others still read it.
 *
 * The reset at the head of the next round needs a barrier after the last read. Seen in flagos-ai/FlagGems#4132.
 */
#define SMALL_TOPK_AS_SOURCE
#define SMALL_TOPK_BARRIER_AFTER_BUFFER() ((void)0)

#include "kernels/faulty/small_topk.h"
