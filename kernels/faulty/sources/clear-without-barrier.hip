// topkcts: block=256 level=canonical nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/*
 * Planted kernel fault, kind race: no barrier stands between clearing the counts and counting.
 *
 * Who clears late wipes out what others have counted already.
 */
#define SMALL_TOPK_AS_SOURCE
#define SMALL_TOPK_BARRIER_AFTER_CLEAR() ((void)0)

#include "kernels/faulty/small_topk.h"
