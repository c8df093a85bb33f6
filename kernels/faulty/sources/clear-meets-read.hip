// topkcts: block=256 level=canonical nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/*
 * Planted kernel fault, kind race: the next round clears the counts while one thread still reads them.
 *
 * Without the barrier after the choice, a fast wave is a round ahead of the thread that chooses.
 */
#define SMALL_TOPK_AS_SOURCE
#define SMALL_TOPK_BARRIER_AFTER_CHOOSE() ((void)0)

#include "kernels/faulty/small_topk.h"
