/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host side of top-k v1: argument checks and the launch plan. Knows no device; start reading at topk_v1_check().
 */
#include "kernels/topk_v1.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

const struct topk_claims topk_v1_claims = {
    .level = TOPK_LEVEL_CANONICAL,
    .tie = TOPK_TIE_LOWEST,
    .zero = TOPK_ZERO_EQUAL,
    .nan = TOPK_NAN_BITS,
    .neg_inf = TOPK_NEG_INF_SCORE,
    .padding = TOPK_PADDING_MINUS_ONE,
    .negative_length = TOPK_NEGATIVE_LENGTH_EMPTY,
    .overlong = TOPK_OVERLONG_CLAMPED,
    .outputs = TOPK_OUTPUTS_ALL,
    .capture = TOPK_CAPTURE_OK,
    .max_topk = TOPK_V1_MAX_TOPK,
};

const struct topk_limit topk_v1_limits[] = {
    {"candidates", TOPK_V1_BUFFER_KEYS},
    {"split_length", TOPK_V1_NARROW_WIDTH},
    {"split_length", TOPK_V1_WIDE_WIDTH},
    {"split_length", TOPK_V1_SPLIT_WIDTH - 1},
    {"split_length", TOPK_V1_ALWAYS_SPLIT - 1},
    {NULL, 0},
};

/* An array argument; null arrays have no bytes. */
struct extent {
    const char *name;
    uintptr_t   at;
    uint64_t    bytes;
    bool        is_output;
};

enum { N_EXTENTS = 6 };

static int64_t pages_of_width(const struct topk_problem *problem)
{
    return ((int64_t)problem->max_seq_len + problem->page_size - 1) / problem->page_size;
}

static int check_numbers(const struct topk_problem *p, char *err, size_t err_size)
{
    if (p->batch < 1) {
        (void)snprintf(err, err_size, "batch is %" PRId32 "; it must be at least 1", p->batch);
        return 1;
    }
    if (p->topk < 1 || p->topk > TOPK_V1_MAX_TOPK) {
        (void)snprintf(err, err_size, "topk is %" PRId32 "; it must be 1 to %d", p->topk, TOPK_V1_MAX_TOPK);
        return 1;
    }
    if (p->page_size < 1 || ((uint32_t)p->page_size & ((uint32_t)p->page_size - 1)) != 0) {
        (void)snprintf(err, err_size, "page_size is %" PRId32 "; it must be a power of two", p->page_size);
        return 1;
    }
    if (p->max_seq_len < 0) {
        (void)snprintf(err, err_size, "max_seq_len is %" PRId32 "; it must not be negative", p->max_seq_len);
        return 1;
    }
    if (p->score_stride < p->max_seq_len) {
        (void)snprintf(err, err_size, "score_stride is %" PRId64 "; it must be at least max_seq_len, %" PRId32,
                       p->score_stride, p->max_seq_len);
        return 1;
    }
    if (p->page_table_stride < pages_of_width(p)) {
        (void)snprintf(err, err_size,
                       "page_table_stride is %" PRId64 "; it must be at least %" PRId64
                       ", the pages of %" PRId32 " that max_seq_len %" PRId32 " needs",
                       p->page_table_stride, pages_of_width(p), p->page_size, p->max_seq_len);
        return 1;
    }
    /* Extents are computed in 64 bits below: keep 4 * batch * stride far from their end. */
    if (p->score_stride > INT64_MAX / 8 / p->batch || p->page_table_stride > INT64_MAX / 8 / p->batch) {
        const bool scores = p->score_stride > INT64_MAX / 8 / p->batch;
        (void)snprintf(err, err_size, "%s is %" PRId64 "; with batch %" PRId32 " it exceeds any address space",
                       scores ? "score_stride" : "page_table_stride", scores ? p->score_stride : p->page_table_stride,
                       p->batch);
        return 1;
    }
    return 0;
}

static int check_pointer(const struct extent *array, bool may_be_null, char *err, size_t err_size)
{
    if (array->at == 0 && !may_be_null) {
        (void)snprintf(err, err_size, "%s is null; it must point to %" PRIu64 " bytes", array->name, array->bytes);
        return 1;
    }
    if (array->at % 4 != 0) {
        (void)snprintf(err, err_size, "%s is at 0x%" PRIxPTR "; it must be aligned to 4 bytes", array->name, array->at);
        return 1;
    }
    return 0;
}

static bool overlap(const struct extent *a, const struct extent *b)
{
    return a->at != 0 && b->at != 0 && a->at < b->at + b->bytes && b->at < a->at + a->bytes;
}

/* Bytes from the first row's begin to the last row's end. */
static uint64_t rows_bytes(int64_t batch, int64_t stride, int64_t width)
{
    return 4 * ((uint64_t)(batch - 1) * (uint64_t)stride + (uint64_t)width);
}

static int check_arrays(const struct topk_problem *p, char *err, size_t err_size)
{
    const uint64_t      output_bytes = rows_bytes(p->batch, p->topk, p->topk);
    const struct extent arrays[N_EXTENTS] = {
        {"scores", (uintptr_t)p->scores, rows_bytes(p->batch, p->score_stride, p->max_seq_len), false},
        {"seq_lens", (uintptr_t)p->seq_lens, rows_bytes(p->batch, 1, 1), false},
        {"page_table", (uintptr_t)p->page_table, rows_bytes(p->batch, p->page_table_stride, pages_of_width(p)), false},
        {"page_indices", (uintptr_t)p->page_indices, output_bytes, true},
        {"raw_indices", (uintptr_t)p->raw_indices, output_bytes, true},
        {"workspace", (uintptr_t)p->workspace, topk_v1_workspace_bytes(p), true},
    };
    if (p->workspace == NULL && topk_v1_workspace_bytes(p) != 0) {
        (void)snprintf(err, err_size, "workspace is null; it must point to %zu bytes", topk_v1_workspace_bytes(p));
        return 1;
    }
    if (p->page_indices == NULL && p->raw_indices == NULL) {
        (void)snprintf(err, err_size, "page_indices and raw_indices are both null; at least one must be given");
        return 1;
    }
    for (size_t i = 0; i < N_EXTENTS; i++) {
        if (check_pointer(&arrays[i], arrays[i].is_output, err, err_size) != 0) return 1;
        for (size_t j = 0; j < i; j++) {
            if (!arrays[i].is_output || !overlap(&arrays[i], &arrays[j])) continue;
            (void)snprintf(err, err_size,
                           "%s at 0x%" PRIxPTR " overlaps %s at 0x%" PRIxPTR " (%" PRIu64 " bytes); an output must "
                           "have memory of its own",
                           arrays[i].name, arrays[i].at, arrays[j].name, arrays[j].at, arrays[j].bytes);
            return 1;
        }
    }
    return 0;
}

int topk_v1_check(const struct topk_problem *problem, char *err, size_t err_size)
{
    if (problem == NULL) {
        (void)snprintf(err, err_size, "problem is null; it must describe a launch");
        return 1;
    }
    if (check_numbers(problem, err, err_size) != 0) return 1;
    return check_arrays(problem, err, err_size);
}

enum { NARROW, WIDE, LONG, SPLIT, MERGE };

/* The buffer: keys and indices. */
#define BUFFER_BYTES (2 * TOPK_V1_BUFFER_KEYS * (uint32_t)sizeof(uint32_t))

const struct topk_v1_launch topk_v1_kernels[] = {
    [NARROW] = {"topk_v1_narrow", 0, 256, 0},
    [WIDE] = {"topk_v1_wide", 0, 512, 0},
    [LONG] = {"topk_v1_long", 0, 512, BUFFER_BYTES},
    [SPLIT] = {"topk_v1_split", 0, 512, BUFFER_BYTES},
    [MERGE] = {"topk_v1_merge", 0, 512, BUFFER_BYTES},
    {NULL, 0, 0, 0},
};

static int32_t splits_of(const struct topk_problem *problem)
{
    int32_t splits = TOPK_V1_FULL_DEVICE / problem->batch;
    if (problem->max_seq_len < TOPK_V1_SPLIT_WIDTH) return 1;
    if (problem->batch > TOPK_V1_SPLIT_BATCH && problem->max_seq_len < TOPK_V1_ALWAYS_SPLIT) return 1;
    if (splits > problem->max_seq_len / TOPK_V1_SEGMENT) splits = problem->max_seq_len / TOPK_V1_SEGMENT;
    if (splits > TOPK_V1_MAX_SPLITS) splits = TOPK_V1_MAX_SPLITS;
    return splits < 2 ? 1 : splits;
}

static struct topk_v1_launch launch_of(int kernel, uint32_t grid)
{
    struct topk_v1_launch launch = topk_v1_kernels[kernel];
    launch.grid = grid;
    return launch;
}

struct topk_v1_plan topk_v1_plan(const struct topk_problem *problem)
{
    struct topk_v1_plan plan = {.n_launches = 1, .splits = splits_of(problem)};
    const uint32_t      batch = (uint32_t)problem->batch;
    if (problem->max_seq_len <= TOPK_V1_NARROW_WIDTH) {
        plan.launches[0] = launch_of(NARROW, batch);
    } else if (problem->max_seq_len <= TOPK_V1_WIDE_WIDTH) {
        plan.launches[0] = launch_of(WIDE, batch);
    } else if (plan.splits == 1) {
        plan.launches[0] = launch_of(LONG, batch);
    } else {
        plan.launches[0] = launch_of(SPLIT, batch * (uint32_t)plan.splits);
        plan.launches[1] = launch_of(MERGE, batch);
        plan.n_launches = 2;
    }
    return plan;
}

/* A header of 256 words a row, then for each segment bits and indices of what it kept, and indices of ties; see struct
 * topk_v1_kept in topk_v1_split.h. */
size_t topk_v1_workspace_bytes(const struct topk_problem *problem)
{
    const int32_t splits = splits_of(problem);
    const size_t  segment = (2 * TOPK_V1_BUFFER_KEYS + TOPK_V1_MAX_TOPK) * sizeof(uint32_t);
    return splits == 1 ? 0 : (size_t)problem->batch * (256 * sizeof(uint32_t) + (size_t)splits * segment);
}

const struct topk_v1_host simulator_v1_host = {&topk_v1_claims, topk_v1_limits, topk_v1_check, topk_v1_plan,
                                               topk_v1_workspace_bytes};
