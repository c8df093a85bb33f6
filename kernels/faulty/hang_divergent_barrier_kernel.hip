/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted kernel fault, kind hang: threads beyond the end of the row skip the barriers of the last tile.
 *
 * Lanes without a score leave the tile out, barriers included, so that the others wait for them: a hang, or counts
 * that fall apart, unless the row is a multiple of the block.
 */
#define SMALL_TOPK_TILE_GUARD(first, n) ((first) + static_cast<int>(thread_number()) < (n))

#include "kernels/faulty/small_topk.h"

SMALL_TOPK_FAULT(hang_divergent_barrier, "faulty/hang-divergent-barrier", "hang",
                 "threads beyond the end of the row skip the barriers of the last tile");
