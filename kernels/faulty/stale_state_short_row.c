/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind stale-state: a short row leaves early and does not clear what the row before it left; the next
 * long row takes the higher of that cut and its own, and comes out short. Seen in local-inference-lab/vllm#431.
 */
#include "kernels/faulty/host_topk.h"

static uint32_t cut_of(const struct host_row *row, const int32_t *selected, int32_t count)
{
    uint32_t cut = UINT32_MAX;
    for (int32_t i = 0; i < count; i++) {
        uint32_t key = host_topk_key(row, selected[i]);
        cut = key < cut ? key : cut;
    }
    return cut;
}

/* The upper half of `remembered_key` is kept by long rows; the lowest bit says that a short row came since. */
static int32_t select_on_old_counts(struct host_row *row, int32_t *selected)
{
    uint32_t *remembered = &row->state->remembered_key;
    int32_t   count = host_topk_select(row, selected);
    if (row->n <= row->problem->topk) {
        *remembered |= *remembered != 0;
        return count;
    }
    uint32_t old_cut = (*remembered & 1) != 0 ? *remembered & ~UINT32_C(1) : 0;
    int32_t  kept = 0;
    *remembered = cut_of(row, selected, count) & ~UINT32_C(1);
    for (int32_t i = 0; i < count; i++) {
        if (host_topk_key(row, selected[i]) >= old_cut) {
            selected[kept++] = selected[i];
        }
    }
    return count < 0 ? count : kept;
}

static const struct host_topk_steps steps = {.select = select_on_old_counts};

HOST_TOPK_FAULT(stale_state_short_row, "faulty/stale-state-short-row", "stale-state",
                "after a short row the next long row is cut where the long row before was",
                .level = TOPK_LEVEL_CANONICAL);
