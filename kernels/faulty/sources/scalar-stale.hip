// topkcts: block=256 level=canonical nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/*
 * Planted kernel fault, kind stale-state: blocks loop over rows, and a scalar in LDS is not reset for rows little longer
 * than topk.
 *
 * Two blocks serve all rows. The path of rows of up to twice topk goes on with the count of ties that the row before has
 * left. Seen in vllm-project/vllm#55314.
 */
#define SMALL_TOPK_AS_SOURCE
#define SMALL_TOPK_GRID(rows) ((rows) < 2 ? (rows) : 2u)
#define SMALL_TOPK_CLEAR_PER_ROW() (row.n > 2 * row.topk ? (void)(ties_before = 0) : (void)0)

#include "kernels/faulty/small_topk.h"
