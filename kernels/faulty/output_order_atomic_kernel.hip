/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted kernel fault, kind output-order: selected indices are written in the order in which their threads reach an
 * atomic counter.
 *
 * The set is right, the slot is what an atomic counter returns: the bytes follow the schedule, and promise more than
 * they keep. Most kernels of the field do this, and do not promise an order.
 */
#include "kernels/port.h"

static __shared__ unsigned slots_taken;

#define SMALL_TOPK_PLACE(scanned) ((void)(scanned), atomicAdd(&slots_taken, 1u))
#define SMALL_TOPK_CLEAR_PER_ROW() (ties_before = 0, slots_taken = 0)

#include "kernels/faulty/small_topk.h"

SMALL_TOPK_FAULT(output_order_atomic, "faulty/output-order-atomic", "output-order",
                 "selected indices are written in the order in which their threads reach an atomic counter");
