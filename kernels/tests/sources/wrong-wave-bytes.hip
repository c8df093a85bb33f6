// topkcts: block=256 level=invariant nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/* Wrong: promises the same bytes everywhere, and waves of 64 lanes put them out backwards. wave-size */
#define SMALL_TOPK_AS_SOURCE
#include "kernels/port.h"
#define SMALL_TOPK_PLACE(scanned) (wave_size() == 64 ? static_cast<unsigned>(row.topk) - 1 - (scanned) : (scanned))

#include "kernels/faulty/small_topk.h"
