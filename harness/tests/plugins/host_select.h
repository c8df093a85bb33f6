/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the plugins of this folder have in common: a correct top-k on the host, and the slots that do nothing special.
 *
 * Each plugin is one file that is right but for the one thing its name says. Built like anybody's plugin:
 *
 *     gcc -shared -fPIC -I harness -o crash_on_launch.so harness/tests/plugins/crash_on_launch.c
 */
#ifndef TOPKCTS_PLUGINS_HOST_SELECT_H
#define TOPKCTS_PLUGINS_HOST_SELECT_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "provider.h"

/* Larger keys are larger scores; -0 and +0 have one key, NaN ranks by bits. */
static inline uint32_t plugin_key(float score)
{
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    return bits >> 31 != 0 ? 0u - bits : bits | UINT32_C(0x80000000);
}

static inline int32_t plugin_length(const struct topk_problem *problem, int32_t row)
{
    int32_t n = problem->seq_lens[row];
    n = n < problem->max_seq_len ? n : problem->max_seq_len;
    return n > 0 ? n : 0;
}

static inline void plugin_write(const struct topk_problem *problem, int32_t row, int32_t slot, int32_t index)
{
    int64_t at = (int64_t)row * problem->topk + slot;
    if (problem->raw_indices != NULL) {
        problem->raw_indices[at] = index;
    }
    if (problem->page_indices != NULL) {
        const int32_t *pages = problem->page_table + row * problem->page_table_stride;
        int32_t        size = problem->page_size;
        problem->page_indices[at] = index < 0 ? -1 : pages[index / size] * size + index % size;
    }
}

/* The largest key that at least topk scores reach. Needs n > topk. */
static inline uint32_t plugin_cut(const float *scores, int32_t n, int32_t topk)
{
    uint32_t cut = 0;
    for (uint32_t bit = UINT32_C(1) << 31; bit != 0; bit >>= 1) {
        int32_t reaching = 0;
        for (int32_t i = 0; i < n; i++) {
            reaching += plugin_key(scores[i]) >= (cut | bit) ? 1 : 0;
        }
        cut |= reaching >= topk ? bit : 0;
    }
    return cut;
}

/* Writes the selected indices of a row and returns how many; the slots behind them are left alone. Among equal scores
 * at the cut the lowest indices are taken, or the highest ones; slots are filled from `first_slot` on, cyclically. */
static inline int32_t plugin_select_row(const struct topk_problem *problem, int32_t row, bool highest,
                                        int32_t first_slot)
{
    const float *scores = problem->scores + row * problem->score_stride;
    int32_t      topk = problem->topk;
    int32_t      n = plugin_length(problem, row);
    if (topk <= 0) {
        return 0;
    }
    if (n <= topk) {
        for (int32_t i = 0; i < n; i++) {
            plugin_write(problem, row, i, i);
        }
        return n;
    }
    uint32_t cut = plugin_cut(scores, n, topk);
    int32_t  equal = 0;
    int32_t  above = 0;
    for (int32_t i = 0; i < n; i++) {
        above += plugin_key(scores[i]) > cut ? 1 : 0;
        equal += plugin_key(scores[i]) == cut ? 1 : 0;
    }
    int32_t take_from = highest ? equal - (topk - above) : 0;
    int32_t take_to = highest ? equal : topk - above;
    int32_t seen = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++) {
        uint32_t key = plugin_key(scores[i]);
        bool     taken = key > cut || (key == cut && seen >= take_from && seen < take_to);
        seen += key == cut ? 1 : 0;
        if (taken) {
            plugin_write(problem, row, (first_slot + count) % topk, i);
            count++;
        }
    }
    return count;
}

/* The canonical answer of the whole problem. */
static inline void plugin_select(const struct topk_problem *problem)
{
    for (int32_t row = 0; row < problem->batch; row++) {
        for (int32_t slot = plugin_select_row(problem, row, false, 0); slot < problem->topk; slot++) {
            plugin_write(problem, row, slot, -1);
        }
    }
}

static inline int plugin_open(int device, void **self, char *err, size_t err_size)
{
    (void)device;
    (void)err;
    (void)err_size;
    *self = NULL;
    return 0;
}

static inline int plugin_launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    (void)self;
    (void)err;
    (void)err_size;
    plugin_select(problem);
    return 0;
}

static inline void plugin_close(void *self)
{
    (void)self;
}

#endif
