// topkcts: block=256 level=canonical nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/* Right: the kernel that every planted source spoils in one place. */
#define SMALL_TOPK_AS_SOURCE
#include "kernels/faulty/small_topk.h"
