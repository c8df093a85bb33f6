// topkcts: block=256 level=canonical nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/*
 * Planted kernel fault, kind race: a histogram is counted by plain increments.
 *
 * Two threads read the same count and store the same sum.
 */
#define SMALL_TOPK_AS_SOURCE
#define SMALL_TOPK_COUNT(digit) (digit_count[digit]++)

#include "kernels/faulty/small_topk.h"
