// topkcts: block=256 level=canonical nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/*
 * Planted kernel fault, kind race: a place comes from LDS that nobody has written.
 *
 * An offset that was to be stored by thread 0 is used as an index.
 */
#define SMALL_TOPK_AS_SOURCE
#include "kernels/port.h"
static __shared__ unsigned first_place;
#define SMALL_TOPK_PLACE(scanned) ((scanned) + first_place)

#include "kernels/faulty/small_topk.h"
