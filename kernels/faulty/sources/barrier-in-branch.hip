// topkcts: block=256 level=canonical nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/*
 * Planted kernel fault, kind hang: threads beyond the end of the row skip the barriers of the last tile.
 *
 * The others wait for them: a hang, or counts that fall apart.
 */
#define SMALL_TOPK_AS_SOURCE
#define SMALL_TOPK_TILE_GUARD(first, n) ((first) + static_cast<int>(thread_number()) < (n))

#include "kernels/faulty/small_topk.h"
