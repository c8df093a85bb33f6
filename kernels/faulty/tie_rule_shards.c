/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind tie-rule: a row is cut in two, each half selects its own topk and takes the higher index among
 * equals, and the merge of the two takes the lower one. Seen in vllm-project/vllm#54955.
 */
#include "kernels/faulty/host_topk.h"

#include <stdlib.h>

#define SHORTEST_SHARED_ROW 2048

static uint32_t higher_index(const struct host_row *row, int32_t index)
{
    (void)row;
    return (uint32_t)index;
}

static const struct host_topk_steps shard_steps = {.tie = higher_index};

/* One half's own selection, as indices of the whole row; returns how many. */
static int32_t select_shard(const struct host_row *row, int32_t begin, int32_t end, int32_t *selected)
{
    struct host_row shard = *row;
    shard.steps = &shard_steps;
    shard.scores += begin;
    shard.n = end - begin;
    int32_t count = host_topk_select(&shard, selected);
    for (int32_t i = 0; i < count; i++) {
        selected[i] += begin;
    }
    return count;
}

static int32_t select_by_halves(struct host_row *row, int32_t *selected)
{
    int32_t topk = row->problem->topk;
    if (row->n < SHORTEST_SHARED_ROW || row->n <= topk) {
        return host_topk_select(row, selected);
    }
    int32_t  count = -1;
    int32_t *candidates = calloc(2 * (size_t)topk, sizeof *candidates);
    if (candidates == NULL) {
        return -1;
    }
    int32_t first = select_shard(row, 0, row->n / 2, candidates);
    int32_t second = first < 0 ? -1 : select_shard(row, row->n / 2, row->n, candidates + first);
    if (second < 0 || host_topk_sort_by_place(row, candidates, first + second) < 0) {
        goto done;
    }
    for (count = 0; count < topk; count++) {
        selected[count] = candidates[count];
    }
    host_topk_sort_indices(selected, count);
done:
    free(candidates);
    return count;
}

static const struct host_topk_steps steps = {.select = select_by_halves};

HOST_TOPK_FAULT(tie_rule_shards, "faulty/tie-rule-shards", "tie-rule",
                "halves of a row prefer the higher index among equals, their merge the lower",
                .level = TOPK_LEVEL_CANONICAL);
