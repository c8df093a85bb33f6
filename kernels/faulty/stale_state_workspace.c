/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind stale-state: the histogram lies in the workspace and is only ever cleaned up afterwards, so that
 * the first launch counts on zeroes that nobody promised. Seen in local-inference-lab/vllm#431.
 */
#include "kernels/faulty/host_topk.h"

#define BINS 256

/* Adds the row's counts to what the workspace holds, finds the cut's bin, and leaves zeroes. */
static uint32_t cut_bin_of_histogram(struct host_row *row)
{
    uint32_t *counts = (uint32_t *)row->problem->workspace + (size_t)row->number * BINS;
    for (int32_t i = 0; i < row->n; i++) {
        counts[host_topk_key(row, i) >> 24]++;
    }
    uint64_t reached = 0;
    uint32_t bin = BINS;
    while (bin > 0 && reached < (uint64_t)row->problem->topk) {
        reached += counts[--bin];
    }
    for (uint32_t i = 0; i < BINS; i++) {
        counts[i] = 0;
    }
    return bin;
}

/* Selects exactly among the scores of the cut's bin and above; what is missing is filled up with what comes first. */
static int32_t select_with_dirty_histogram(struct host_row *row, int32_t *selected)
{
    int32_t topk = row->problem->topk;
    if (row->n <= topk || row->problem->workspace == NULL) {
        return host_topk_select(row, selected);
    }
    uint32_t cut_bin = cut_bin_of_histogram(row);
    int32_t  reaching = 0;
    for (int32_t i = 0; i < row->n; i++) {
        reaching += host_topk_key(row, i) >> 24 >= cut_bin ? 1 : 0;
    }
    if (reaching >= topk) {
        return host_topk_select(row, selected);
    }
    int32_t fillers = topk - reaching;
    int32_t count = 0;
    for (int32_t i = 0; i < row->n && count < topk; i++) {
        if (host_topk_key(row, i) >> 24 >= cut_bin || fillers-- > 0) {
            selected[count++] = i;
        }
    }
    return count;
}

static const struct host_topk_steps steps = {
    .select = select_with_dirty_histogram,
    .workspace_per_row = BINS * sizeof(uint32_t),
};

HOST_TOPK_FAULT(stale_state_workspace, "faulty/stale-state-workspace", "stale-state",
                "counts on a zeroed workspace that nobody promised",
                .level = TOPK_LEVEL_CANONICAL);
