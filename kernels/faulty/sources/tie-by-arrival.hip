// topkcts: block=256 level=canonical nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/*
 * Planted kernel fault, kind tie-break: equal scores win in the order in which their threads come to a counter.
 *
 * Right under one order of threads only. Seen in sgl-project/sglang#34591.
 */
#define SMALL_TOPK_AS_SOURCE
#include "kernels/port.h"
static __shared__ unsigned ties_arrived;
#define SMALL_TOPK_TIE_RANK(scanned) ((void)(scanned), atomicAdd(&ties_arrived, 1u))
#define SMALL_TOPK_CLEAR_PER_ROW() (ties_before = 0, ties_arrived = 0)

#include "kernels/faulty/small_topk.h"
