/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind stale-state: the cut survives from the row before, or from the launch before: as long as enough
 * scores reach it, the new row is not looked at again. Seen in vllm-project/vllm#55314.
 */
#include "kernels/faulty/host_topk.h"

static int32_t select_by_remembered_cut(struct host_row *row, int32_t *selected)
{
    if (row->n <= row->problem->topk) {
        return host_topk_select(row, selected);
    }
    if (row->state->remembered_key != 0) {
        int32_t count = 0;
        for (int32_t i = 0; i < row->n && count < row->problem->topk; i++) {
            if (host_topk_key(row, i) >= row->state->remembered_key) {
                selected[count++] = i;
            }
        }
        if (count == row->problem->topk) {
            return count;
        }
    }
    int32_t  count = host_topk_select(row, selected);
    uint32_t cut = UINT32_MAX;
    for (int32_t i = 0; i < count; i++) {
        uint32_t key = host_topk_key(row, selected[i]);
        cut = key < cut ? key : cut;
    }
    row->state->remembered_key = cut;
    return count;
}

static const struct host_topk_steps steps = {.select = select_by_remembered_cut};

HOST_TOPK_FAULT(stale_state_cut, "faulty/stale-state-cut", "stale-state",
                "judges a row by the cut of the row or launch before it",
                .level = TOPK_LEVEL_CANONICAL);
