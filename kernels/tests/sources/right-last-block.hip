// topkcts: block=256 level=canonical nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/* Right: the last block reads what others wrote, after their fences. */
#define SMALL_TOPK_AS_SOURCE
#include "kernels/port.h"
__device__ unsigned block_places[4096];
__device__ unsigned blocks_done;
__device__ unsigned total_places;
template <typename Row> PORT_INLINE void leave_places(const Row &, unsigned places)
{
    if (thread_number() != 0) return;
    block_places[block_number()] = places;
    __threadfence();
    if (atomicAdd(&blocks_done, 1u) != gridDim.x - 1) return;
    unsigned sum = 0;
    for (unsigned b = 0; b < gridDim.x; b++) sum += block_places[b];
    total_places = sum;
    blocks_done = 0;
}
#define SMALL_TOPK_AT_END(row, places) leave_places(row, places)

#include "kernels/faulty/small_topk.h"
