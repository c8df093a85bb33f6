/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind race: winners take their slots in order of arrival. The set is right and the same every time;
 * the bytes change from launch to launch.
 */
#include "kernels/faulty/host_topk.h"

static void write_by_arrival(const struct host_row *row, const int32_t *selected, int32_t count)
{
    host_topk_write(row, selected, count);
    for (int32_t i = 0; i < count && row->n > row->problem->topk; i++) {
        int32_t slot = (int32_t)(((uint64_t)i + row->state->launches) % (uint64_t)count);
        host_topk_write_slot(row, slot, selected[i]);
    }
}

static const struct host_topk_steps steps = {.write = write_by_arrival};

HOST_TOPK_FAULT(race_order, "faulty/race-order", "race",
                "puts the selected indices out in an order that changes from launch to launch",
                .level = TOPK_LEVEL_CANONICAL);
