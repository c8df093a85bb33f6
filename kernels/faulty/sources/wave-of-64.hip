// topkcts: block=256 level=canonical nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/*
 * Planted kernel fault, kind wave-size: block scans take every wave for 64 lanes wide.
 *
 * Right where waves have 64 lanes, wrong where they have 32. Seen in openxla/xla#35744.
 */
#define SMALL_TOPK_AS_SOURCE
#define SMALL_TOPK_LANES() 64u

#include "kernels/faulty/small_topk.h"
