/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin that promises everything: the canonical form, NaN by bits, lengths outside the row width. Uses every
 * optional slot once. Needs harness/provider.h and nothing else; README.md says how to build and run it.
 *
 * Algorithm: scores become integer keys, in the workspace. The key at the cut is the largest one that topk keys reach;
 * it is found bit by bit from the top, one count over the row each. What is above it is selected, and of the keys equal
 * to it the first ones that still fit; going through the row in order makes the answer ascending.
 */
#include "provider.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_TOPK 4096

struct state {
    const char *path; /* of the last launch */
};

static int open_plugin(int device, void **self, char *err, size_t err_size)
{
    (void)device;
    struct state *state = malloc(sizeof *state);
    if (state == NULL) {
        snprintf(err, err_size, "no memory for the plugin's state");
        return 1;
    }
    state->path = "none";
    *self = state;
    return 0;
}

static void close_plugin(void *self)
{
    free(self);
}

static int supports(void *self, const struct topk_problem *problem, char *why, size_t why_size)
{
    (void)self;
    if (problem->topk > LARGEST_TOPK) {
        snprintf(why, why_size, "topk %d is above %d", (int)problem->topk, LARGEST_TOPK);
        return 0;
    }
    return 1;
}

/* One row of keys: rows are worked on one after the other. */
static size_t workspace_bytes(void *self, const struct topk_problem *problem)
{
    (void)self;
    return (size_t)problem->max_seq_len * sizeof(uint32_t);
}

static const char *path(void *self)
{
    const struct state *state = self;
    return state->path;
}

/* A larger key is a larger score; -0 and +0 have the same; +NaN is above +inf and -NaN below -inf. */
static uint32_t key_of(float score)
{
    uint32_t bits;
    memcpy(&bits, &score, sizeof bits);
    return bits >> 31 != 0 ? 0u - bits : bits | UINT32_C(0x80000000);
}

static int32_t count_reaching(const uint32_t *keys, int32_t n, uint32_t bound)
{
    int32_t reaching = 0;
    for (int32_t i = 0; i < n; i++) {
        reaching += keys[i] >= bound ? 1 : 0;
    }
    return reaching;
}

static uint32_t key_at_the_cut(const uint32_t *keys, int32_t n, int32_t topk)
{
    uint32_t cut = 0;
    for (uint32_t bit = UINT32_C(1) << 31; bit != 0; bit >>= 1) {
        if (count_reaching(keys, n, cut | bit) >= topk) {
            cut |= bit;
        }
    }
    return cut;
}

struct output_row {
    const int32_t *pages;
    int32_t       *page_indices; /* [topk], or NULL */
    int32_t       *raw_indices;  /* [topk], or NULL */
    int32_t        page_size;
};

static void put(const struct output_row *output, int32_t slot, int32_t index)
{
    if (output->raw_indices != NULL) {
        output->raw_indices[slot] = index;
    }
    if (output->page_indices != NULL) {
        int32_t size = output->page_size;
        output->page_indices[slot] = index < 0 ? -1 : output->pages[index / size] * size + index % size;
    }
}

static int32_t select_long_row(const float *scores, uint32_t *keys, int32_t n, int32_t topk,
                               const struct output_row *output)
{
    for (int32_t i = 0; i < n; i++) {
        keys[i] = key_of(scores[i]);
    }
    uint32_t cut = key_at_the_cut(keys, n, topk);
    int32_t  above = cut == UINT32_MAX ? 0 : count_reaching(keys, n, cut + 1);
    int32_t  equal_wanted = topk - above;
    int32_t  count = 0;
    for (int32_t i = 0; i < n; i++) {
        if (keys[i] > cut || (keys[i] == cut && equal_wanted-- > 0)) {
            put(output, count++, i);
        }
    }
    return count;
}

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    (void)err;
    (void)err_size;
    struct state *state = self;
    int32_t       topk = problem->topk;
    state->path = "short-rows";
    for (int32_t row = 0; row < problem->batch; row++) {
        int64_t           first_slot = (int64_t)row * topk;
        struct output_row output = {
            .pages = problem->page_table + row * problem->page_table_stride,
            .page_indices = problem->page_indices == NULL ? NULL : problem->page_indices + first_slot,
            .raw_indices = problem->raw_indices == NULL ? NULL : problem->raw_indices + first_slot,
            .page_size = problem->page_size,
        };
        int32_t n = problem->seq_lens[row];
        n = n < 0 ? 0 : n > problem->max_seq_len ? problem->max_seq_len : n;
        int32_t count = 0;
        if (n > topk) {
            const float *scores = problem->scores + row * problem->score_stride;
            count = select_long_row(scores, problem->workspace, n, topk, &output);
            state->path = "long-rows";
        } else {
            for (; count < n; count++) {
                put(&output, count, count);
            }
        }
        for (; count < topk; count++) {
            put(&output, count, -1);
        }
    }
    return 0;
}

static const struct topk_limit limits[] = {{"largest_topk", LARGEST_TOPK}, {NULL, 0}};

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "correct",
    .version = "1",
    .memory = TOPK_MEMORY_HOST,
    .claims =
        {
            .level = TOPK_LEVEL_CANONICAL,
            .nan = TOPK_NAN_BITS,
            .negative_length = TOPK_NEGATIVE_LENGTH_EMPTY,
            .overlong = TOPK_OVERLONG_CLAMPED,
            .max_topk = LARGEST_TOPK,
        },
    .limits = limits,
    .open = open_plugin,
    .supports = supports,
    .workspace_bytes = workspace_bytes,
    .launch = launch,
    .path = path,
    .close = close_plugin,
};

const struct topk_provider *topk_provider_entry(void)
{
    return &provider;
}
