// topkcts: block=256 level=canonical nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/*
 * Planted kernel fault, kind overflow: candidates beyond the capacity of their buffer are dropped.
 *
 * The slot is looked at, the size of the bin is not: silent loss.
 */
#define SMALL_TOPK_AS_SOURCE
#define SMALL_TOPK_USE_BUFFER(count) ((void)(count), true)

#include "kernels/faulty/small_topk.h"
