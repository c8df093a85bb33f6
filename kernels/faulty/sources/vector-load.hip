// topkcts: block=256 level=canonical nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/*
 * Planted kernel fault, kind stride: scores are loaded four at a time, past the end of the row and off alignment.
 *
 * A base that is aligned to four bytes only, and lengths that are no multiple of four, break it.
 */
#define SMALL_TOPK_AS_SOURCE
#include "kernels/port.h"
#define SMALL_TOPK_KEY(row, i) vector_key((row).scores, i)
PORT_INLINE unsigned vector_key(const float *scores, int i)
{
    const float4 four = reinterpret_cast<const float4 *>(scores)[i / 4];
    const float  score = i % 4 == 0 ? four.x : i % 4 == 1 ? four.y : i % 4 == 2 ? four.z : four.w;
    unsigned     bits = __float_as_uint(score);
    if ((bits << 1) == 0) bits = 0;
    return bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u);
}

#include "kernels/faulty/small_topk.h"
