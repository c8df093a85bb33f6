// topkcts: block=256 level=canonical nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/*
 * Planted kernel fault, kind read-past-end: aligned scores are loaded four at a time, past the end of the last row.
 *
 * Alignment is looked at, the length is not: what is loaded too much is never used, but where memory ends with the row it
 * belongs to somebody else. Seen in flashinfer-ai/flashinfer#2308.
 */
#define SMALL_TOPK_AS_SOURCE
#include "kernels/port.h"
#define SMALL_TOPK_KEY(row, i) vector_key((row).scores, i)
PORT_INLINE unsigned vector_key(const float *scores, int i)
{
    float score = 0;
    if (reinterpret_cast<uintptr_t>(scores + (i & ~3)) % 16 != 0) score = scores[i];
    else {
        const float4 four = *reinterpret_cast<const float4 *>(scores + (i & ~3));
        score = i % 4 == 0 ? four.x : i % 4 == 1 ? four.y : i % 4 == 2 ? four.z : four.w;
    }
    unsigned bits = __float_as_uint(score);
    if ((bits << 1) == 0) bits = 0;
    return bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u);
}

#include "kernels/faulty/small_topk.h"
