/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind nan: the final stage gives each winner the slot that counts how many others are greater. No
 * comparison with NaN holds, so that every NaN takes slot 0 and the slots nobody took keep index 0. Seen in vllm-
 * project/vllm#50201.
 */
#include "kernels/faulty/host_topk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool holds_nan(const struct host_row *row, const int32_t *selected, int32_t count)
{
    bool found = false;
    for (int32_t i = 0; i < count; i++) {
        found |= isnan(row->scores[selected[i]]);
    }
    return found;
}

static int32_t select_by_float_rank(struct host_row *row, int32_t *selected)
{
    int32_t count = host_topk_select(row, selected);
    if (count < row->problem->topk || row->n == count || !holds_nan(row, selected, count)) {
        return count; /* without NaN the ranks are a permutation, which the sort below undoes */
    }
    int32_t *slots = calloc((size_t)count, sizeof *slots);
    if (slots == NULL) {
        return -1;
    }
    for (int32_t i = 0; i < count; i++) {
        int32_t rank = 0;
        for (int32_t j = 0; j < count; j++) {
            float mine = row->scores[selected[i]];
            float other = row->scores[selected[j]];
            rank += other > mine || (other == mine && j < i) ? 1 : 0;
        }
        slots[rank] = selected[i];
    }
    memcpy(selected, slots, (size_t)count * sizeof *slots);
    host_topk_sort_indices(selected, count);
    free(slots);
    return count;
}

static const struct host_topk_steps steps = {.select = select_by_float_rank};

HOST_TOPK_FAULT(nan_duplicates, "faulty/nan-duplicates", "nan",
                "ranks winners by float comparison; every NaN claims slot 0 and fillers are duplicates",
                .level = TOPK_LEVEL_CANONICAL, .nan = TOPK_NAN_BITS);
