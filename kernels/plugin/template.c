/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin to copy: the smallest complete one. Follow the numbered steps; README.md says how to build and run it.
 *
 * It works as it stands, on the host, and promises a valid answer with any of the equal scores. correct.c shows the
 * optional slots and the strongest promise.
 */

/* Step 1. Copy this file. The header is all that a plugin includes of topkcts: -I path/to/harness. */
#include "provider.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct scored_index {
    float   score;
    int32_t index;
};

/* Step 2. State that lives from open to close: a loaded module, a handle, a buffer of your own. */
struct state {
    struct scored_index *ranked; /* [capacity] */
    size_t               capacity;
};

static int open_plugin(int device, void **self, char *err, size_t err_size)
{
    (void)device; /* on a GPU: the ordinal; its primary context is current at every call */
    *self = calloc(1, sizeof(struct state));
    if (*self == NULL) {
        snprintf(err, err_size, "no memory for the plugin's state");
        return 1;
    }
    return 0;
}

static void close_plugin(void *self)
{
    struct state *state = self;
    free(state->ranked);
    free(state);
}

/* Descending score; NaN, of which nothing is promised, last. */
static int by_score(const void *left, const void *right)
{
    float a = ((const struct scored_index *)left)->score;
    float b = ((const struct scored_index *)right)->score;
    if (isnan(a) || isnan(b)) {
        return (isnan(a) ? 1 : 0) - (isnan(b) ? 1 : 0);
    }
    return (a < b) - (a > b);
}

/* Step 3. Your kernel. One row: writes the logical indices of its topk best scores, in any order, and returns their
 * number. A row of n <= topk scores is all its indices in order. */
static int32_t select_row(struct state *state, const float *scores, int32_t n, int32_t topk, int32_t *selected)
{
    if (n <= topk) {
        for (int32_t i = 0; i < n; i++) {
            selected[i] = i;
        }
        return n;
    }
    for (int32_t i = 0; i < n; i++) {
        state->ranked[i] = (struct scored_index){scores[i], i};
    }
    qsort(state->ranked, (size_t)n, sizeof *state->ranked, by_score);
    for (int32_t i = 0; i < topk; i++) {
        selected[i] = state->ranked[i].index;
    }
    return topk;
}

/* Step 4. The launch. On a GPU it enqueues on problem->stream and returns; on the host it does the work. Either output
 * may be NULL, but not both. Rows are score_stride apart, which is more than max_seq_len as often as not. */
static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    struct state *state = self;
    int32_t       topk = problem->topk;
    size_t        width = (size_t)problem->max_seq_len;
    if (state->ranked == NULL || width > state->capacity) {
        free(state->ranked);
        state->ranked = malloc((width + 1) * sizeof *state->ranked);
        state->capacity = width;
    }
    int32_t *selected = malloc((size_t)topk * sizeof *selected);
    if (state->ranked == NULL || selected == NULL) {
        snprintf(err, err_size, "no memory for rows of %d scores", (int)problem->max_seq_len);
        free(selected);
        return 1;
    }
    for (int32_t row = 0; row < problem->batch; row++) {
        const int32_t *pages = problem->page_table + row * problem->page_table_stride;
        const float   *scores = problem->scores + row * problem->score_stride;
        int32_t        count = select_row(state, scores, problem->seq_lens[row], topk, selected);
        for (int32_t slot = 0; slot < topk; slot++) {
            int32_t index = slot < count ? selected[slot] : -1;
            int64_t at = (int64_t)row * topk + slot;
            if (problem->raw_indices != NULL) {
                problem->raw_indices[at] = index;
            }
            if (problem->page_indices != NULL) {
                int32_t size = problem->page_size;
                problem->page_indices[at] = index < 0 ? -1 : pages[index / size] * size + index % size;
            }
        }
    }
    free(selected);
    return 0;
}

/* Step 5. What you promise; you are judged by it and by nothing else. All zeroes but `level` is the base contract. */
static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "template",
    .version = "1",
    .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_VALID, .tie = TOPK_TIE_ANY},
    .open = open_plugin,
    .launch = launch,
    .close = close_plugin,
};

/* Step 6. The one exported symbol. */
const struct topk_provider *topk_provider_entry(void)
{
    return &provider;
}
