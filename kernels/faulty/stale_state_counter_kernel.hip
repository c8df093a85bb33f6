/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted kernel fault, kind stale-state: a counter in LDS is cleared once a block instead of once a row.
 *
 * One block serves all rows, and the count of ties before a tile goes on from the previous row. Shows from the
 * second row on. Seen in vllm-project/vllm#55314.
 */
#define SMALL_TOPK_GRID(batch) 1u
#define SMALL_TOPK_CLEAR_PER_ROW() ((void)0)

#include "kernels/faulty/small_topk.h"

SMALL_TOPK_FAULT(stale_state_counter, "faulty/stale-state-counter", "stale-state",
                 "a counter in LDS is cleared once a block instead of once a row");
