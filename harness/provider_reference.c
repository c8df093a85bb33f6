/* SPDX-License-Identifier: Apache-2.0 */
/* The scalar reference as a provider: a check of the suite on itself. */
#include "harness/provider_load.h"
#include "reference/reference.h"

#include <stdio.h>

static int reference_open(int device, void **self, char *err, size_t err_size)
{
    (void)device;
    (void)err;
    (void)err_size;
    *self = NULL;
    return 0;
}

/* The reference works on int32 raw indices in place; page indices are mapped from them, so that a launch that asks for
 * pages only still needs room for one row. */
static size_t reference_workspace_bytes(void *self, const struct topk_problem *problem)
{
    (void)self;
    return (size_t)problem->topk * sizeof(int32_t);
}

static int reference_launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    const struct reference_rules rules = {.nan = REFERENCE_NAN_BITS};
    (void)self;
    for (int32_t row = 0; row < problem->batch; row++) {
        int64_t  first = (int64_t)row * problem->topk;
        int32_t *raw = problem->raw_indices ? problem->raw_indices + first : problem->workspace;
        int32_t  length = problem->seq_lens[row];
        if (length > problem->max_seq_len)
            length = problem->max_seq_len;
        const uint32_t *scores = (const uint32_t *)problem->scores + (int64_t)row * problem->score_stride;
        if (reference_select(scores, length, problem->topk, &rules, raw) < 0) {
            snprintf(err, err_size, "out of memory for row %d of length %d", row, length);
            return 1;
        }
        if (problem->page_indices)
            reference_map_pages(raw, problem->topk, problem->page_table + (int64_t)row * problem->page_table_stride,
                                problem->page_size, problem->page_indices + first);
    }
    return 0;
}

static const char *reference_path(void *self)
{
    (void)self;
    return "scalar";
}

static void reference_close(void *self)
{
    (void)self;
}

const struct topk_provider provider_reference = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "reference",
    .version = "1",
    .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL,
               .nan = TOPK_NAN_BITS,
               .negative_length = TOPK_NEGATIVE_LENGTH_EMPTY,
               .overlong = TOPK_OVERLONG_CLAMPED,
               .max_topk = 4096},
    .open = reference_open,
    .workspace_bytes = reference_workspace_bytes,
    .launch = reference_launch,
    .path = reference_path,
    .close = reference_close,
};
