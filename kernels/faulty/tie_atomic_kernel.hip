/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted kernel fault, kind tie-break: equal scores at the cut win in the order in which their threads reach an
 * atomic counter.
 *
 * The rank of a tie is what an atomic counter returns instead of the number of ties before it in the row. Right
 * only when threads come in ascending order. Seen in sgl-project/sglang#34591.
 */
#include "kernels/port.h"

static __shared__ unsigned ties_arrived;

#define SMALL_TOPK_TIE_RANK(scanned) ((void)(scanned), atomicAdd(&ties_arrived, 1u))
#define SMALL_TOPK_CLEAR_PER_ROW() (ties_before = 0, ties_arrived = 0)

#include "kernels/faulty/small_topk.h"

SMALL_TOPK_FAULT(tie_atomic, "faulty/tie-atomic", "tie-break",
                 "equal scores at the cut win in the order in which their threads reach an atomic counter");
