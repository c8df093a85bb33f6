/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind tie-break: equal scores at the cut win by arrival, as behind an atomic counter; here the arrival
 * order is a shuffle that changes with every launch. Seen in sgl-project/sglang#34591, jundot/omlx#2243.
 */
#include "kernels/faulty/host_topk.h"

static uint32_t arrival(const struct host_row *row, int32_t index)
{
    /* An odd factor keeps the arrivals of different indices distinct. */
    return ((uint32_t)index ^ (uint32_t)row->state->launches) * UINT32_C(0x9e3779b1);
}

static const struct host_topk_steps steps = {.tie = arrival};

HOST_TOPK_FAULT(tie_arrival, "faulty/tie-arrival", "tie-break",
                "equal scores at the cut win in an order that changes from launch to launch",
                .level = TOPK_LEVEL_CANONICAL);
