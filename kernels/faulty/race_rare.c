/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind race: two winners are given one slot when a barrier is missed, which happens once in 29 launches
 * here.
 */
#include "kernels/faulty/host_topk.h"

#define LAUNCHES_BETWEEN_STRIKES 29

static int32_t select_with_lost_update(struct host_row *row, int32_t *selected)
{
    int32_t count = host_topk_select(row, selected);
    if (count > 1 && row->n > row->problem->topk && row->state->launches % LAUNCHES_BETWEEN_STRIKES == 0) {
        selected[count - 1] = selected[count - 2];
    }
    return count;
}

static const struct host_topk_steps steps = {.select = select_with_lost_update};

HOST_TOPK_FAULT(race_rare, "faulty/race-rare", "race",
                "every 29th launch one winner is overwritten by another",
                .level = TOPK_LEVEL_CANONICAL);
