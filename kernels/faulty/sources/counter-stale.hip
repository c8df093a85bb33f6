// topkcts: block=256 level=canonical nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/*
 * Planted kernel fault, kind stale-state: a counter in global memory is not reset between rows and launches.
 *
 * The rank of a tie goes on where the row before it ended. Seen as state that survives a launch.
 */
#define SMALL_TOPK_AS_SOURCE
#include "kernels/port.h"
__device__ unsigned ties_before_rows;
#define SMALL_TOPK_AT_END(row, places) (thread_number() == 0 ? (void)atomicAdd(&ties_before_rows, 1u) : (void)0)
#define SMALL_TOPK_TIE_RANK(scanned) ((scanned) + atomicAdd(&ties_before_rows, 0u))

#include "kernels/faulty/small_topk.h"
