/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What v1 refuses, by which words, and that refusing touches nothing; and which launch serves which problem.
 */
#include "kernels/builtin.h"
#include "kernels/topk_v1.h"

#include <criterion/criterion.h>
#include <string.h>

extern const struct builtin_provider builtin_v1;

#define POISON 0x7abcdef1

static float   scores[2 * 100];
/* Larger than their arguments say, so that an output laid over one of them touches no other. */
static int32_t seq_lens[2 + 16] = {90, 80};
static int32_t page_table[2 * 2 + 16];
static int32_t page_indices[2 * 8];
static int32_t raw_indices[2 * 8];

static struct topk_problem good(void)
{
    return (struct topk_problem){
        .scores = scores,
        .seq_lens = seq_lens,
        .page_table = page_table,
        .page_indices = page_indices,
        .raw_indices = raw_indices,
        .score_stride = 100,
        .page_table_stride = 2,
        .batch = 2,
        .topk = 8,
        .page_size = 64,
        .max_seq_len = 90,
    };
}

/* The problem is refused by the public entry with these words, and outputs stay as they are. */
static void expect_refused(const struct topk_problem *problem, const char *words)
{
    char err[300] = "";
    for (size_t i = 0; i < 16; i++) page_indices[i] = raw_indices[i] = POISON;
    cr_assert_neq(topk_v1_launch_simulator(problem, err, sizeof err), 0, "accepted, but: %s", words);
    cr_assert_not_null(strstr(err, words), "\"%s\" lacks \"%s\"", err, words);
    for (size_t i = 0; i < 16; i++) cr_assert(page_indices[i] == POISON && raw_indices[i] == POISON);
}

#define EXPECT_REFUSED(change, words)                                                                                  \
    do {                                                                                                               \
        struct topk_problem p = good();                                                                                \
        change;                                                                                                        \
        expect_refused(&p, words);                                                                                     \
    } while (0)

Test(topk_v1_check, accepts_a_good_problem)
{
    char                err[300] = "";
    struct topk_problem p = good();
    cr_assert_eq(topk_v1_check(&p, err, sizeof err), 0, "%s", err);
    p.raw_indices = NULL;
    cr_assert_eq(topk_v1_check(&p, err, sizeof err), 0, "%s", err);
    p.raw_indices = raw_indices;
    p.page_indices = NULL;
    cr_assert_eq(topk_v1_check(&p, err, sizeof err), 0, "%s", err);
    /* Side by side is not an overlap. */
    p = good();
    p.topk = 4;
    p.raw_indices = page_indices + 8;
    cr_assert_eq(topk_v1_check(&p, err, sizeof err), 0, "%s", err);
}

Test(topk_v1_check, refuses_numbers_out_of_range)
{
    EXPECT_REFUSED(p.topk = 0, "topk is 0; it must be 1 to 1024");
    EXPECT_REFUSED(p.topk = 1025, "topk is 1025; it must be 1 to 1024");
    EXPECT_REFUSED(p.topk = -7, "topk is -7; it must be 1 to 1024");
    EXPECT_REFUSED(p.batch = 0, "batch is 0; it must be at least 1");
    EXPECT_REFUSED(p.page_size = 0, "page_size is 0; it must be a power of two");
    EXPECT_REFUSED(p.page_size = 48, "page_size is 48; it must be a power of two");
    EXPECT_REFUSED(p.page_size = INT32_MIN, "page_size is -2147483648; it must be a power of two");
    EXPECT_REFUSED(p.max_seq_len = -1, "max_seq_len is -1; it must not be negative");
    EXPECT_REFUSED(p.score_stride = 89, "score_stride is 89; it must be at least max_seq_len, 90");
    EXPECT_REFUSED(p.score_stride = -100, "score_stride is -100; it must be at least max_seq_len, 90");
    EXPECT_REFUSED(p.page_table_stride = 1, "page_table_stride is 1; it must be at least 2");
    EXPECT_REFUSED(p.page_table_stride = -1, "page_table_stride is -1; it must be at least 2");
    EXPECT_REFUSED(p.score_stride = INT64_MAX / 4, "score_stride is 2305843009213693951; with batch 2");
    EXPECT_REFUSED(p.page_table_stride = INT64_MAX, "page_table_stride is 9223372036854775807; with batch 2");
}

Test(topk_v1_check, refuses_null_and_misaligned_arrays)
{
    EXPECT_REFUSED(p.scores = NULL, "scores is null");
    EXPECT_REFUSED(p.seq_lens = NULL, "seq_lens is null");
    EXPECT_REFUSED(p.page_table = NULL, "page_table is null");
    EXPECT_REFUSED((p.page_indices = NULL, p.raw_indices = NULL), "page_indices and raw_indices are both null");
    EXPECT_REFUSED(p.scores = (const float *)((uintptr_t)scores + 2), "it must be aligned to 4 bytes");
    EXPECT_REFUSED(p.raw_indices = (int32_t *)((uintptr_t)raw_indices + 1), "it must be aligned to 4 bytes");
    cr_assert_neq(topk_v1_check(NULL, (char[100]){""}, 100), 0);
}

Test(topk_v1_check, refuses_overlapping_outputs)
{
    EXPECT_REFUSED(p.raw_indices = page_indices, "raw_indices at 0x");
    EXPECT_REFUSED((p.topk = 4, p.raw_indices = page_indices + 7), "overlaps page_indices at 0x");
    EXPECT_REFUSED(p.page_indices = (int32_t *)(void *)(scores + 180), "overlaps scores at 0x");
    EXPECT_REFUSED(p.page_indices = seq_lens, "overlaps seq_lens at 0x");
    EXPECT_REFUSED(p.raw_indices = page_table + 3, "overlaps page_table at 0x");
}

static struct topk_v1_plan plan_of(int32_t batch, int32_t width)
{
    struct topk_problem p = good();
    p.batch = batch;
    p.max_seq_len = width;
    return topk_v1_plan(&p);
}

static void expect_one(struct topk_v1_plan plan, const char *kernel, uint32_t grid, uint32_t block)
{
    cr_assert_eq(plan.n_launches, 1);
    cr_assert_eq(plan.splits, 1);
    cr_assert_str_eq(plan.launches[0].kernel, kernel);
    cr_assert_eq(plan.launches[0].grid, grid);
    cr_assert_eq(plan.launches[0].block, block);
}

Test(topk_v1_check, plans_by_width_and_batch)
{
    expect_one(plan_of(2, 0), "topk_v1_narrow", 2, 256);
    expect_one(plan_of(2, TOPK_V1_NARROW_WIDTH), "topk_v1_narrow", 2, 256);
    expect_one(plan_of(3, TOPK_V1_NARROW_WIDTH + 1), "topk_v1_wide", 3, 512);
    expect_one(plan_of(1, TOPK_V1_WIDE_WIDTH), "topk_v1_wide", 1, 512);
    expect_one(plan_of(1, TOPK_V1_WIDE_WIDTH + 1), "topk_v1_long", 1, 512);
    expect_one(plan_of(133, 262144), "topk_v1_long", 133, 512);
    expect_one(plan_of(33, TOPK_V1_ALWAYS_SPLIT - 1), "topk_v1_long", 33, 512);
    const struct topk_v1_plan split = plan_of(132, TOPK_V1_ALWAYS_SPLIT);
    cr_assert_eq(split.n_launches, 2);
    cr_assert_eq(split.splits, 2);
    cr_assert_str_eq(split.launches[0].kernel, "topk_v1_split");
    cr_assert_eq(split.launches[0].grid, 264u);
    cr_assert_str_eq(split.launches[1].kernel, "topk_v1_merge");
    cr_assert_eq(split.launches[1].grid, 132u);
    cr_assert_eq(plan_of(1, 65536).splits, 32, "segments do not become shorter than 2048");
    cr_assert_eq(plan_of(1, INT32_MAX).splits, TOPK_V1_MAX_SPLITS);
}

Test(topk_v1_check, a_split_row_needs_a_workspace)
{
    struct topk_problem p = good();
    cr_assert_eq(topk_v1_workspace_bytes(&p), 0u);
    p.batch = 2;
    p.max_seq_len = 65536;
    cr_assert_eq(topk_v1_workspace_bytes(&p), 2u * (1024 + 32 * 36864));
    p.max_seq_len = INT32_MAX;
    p.batch = 132;
    cr_assert_eq(topk_v1_workspace_bytes(&p), 132u * (1024 + 2 * 36864));
}

Test(topk_v1_check, every_kernel_of_a_plan_is_listed)
{
    static const int32_t widths[] = {1, 5000, 20000, 100000};
    for (size_t i = 0; i < 4; i++) {
        const struct topk_v1_plan plan = plan_of(1, widths[i]);
        for (int32_t j = 0; j < plan.n_launches; j++) {
            size_t k = 0;
            while (topk_v1_kernels[k].kernel != NULL && strcmp(topk_v1_kernels[k].kernel, plan.launches[j].kernel) != 0) k++;
            cr_assert_not_null(topk_v1_kernels[k].kernel, "%s", plan.launches[j].kernel);
        }
    }
}

Test(topk_v1_check, the_provider_promises_the_canonical_answer)
{
    const struct topk_provider *const v1 = builtin_v1.provider;
    cr_assert_eq(v1->abi, TOPK_PROVIDER_ABI);
    cr_assert_str_eq(v1->name, "v1");
    cr_assert_eq(v1->memory, TOPK_MEMORY_HOST);
    cr_assert_eq(v1->claims.level, TOPK_LEVEL_CANONICAL);
    cr_assert_eq(v1->claims.nan, TOPK_NAN_BITS);
    cr_assert_eq(v1->claims.max_topk, 1024);
    cr_assert_str_eq(v1->limits[0].name, "candidates");
    cr_assert_eq(v1->limits[0].value, 4096);
    cr_assert_eq(builtin_v1.place, BUILTIN_SIMULATOR);
    cr_assert_null(builtin_v1.fault);
    cr_assert_not_null(strstr(builtin_v1.source, "topk_v1_merge"), "the kernel's own text is its identity");
    cr_assert_not_null(strstr(topk_v1_texts[0].text, "void PORT_BLOCK_THREADS(512, 2) topk_v1_long("));
    for (const struct topk_v1_text *part = topk_v1_texts; part->name != NULL; part++)
        cr_assert_eq(strncmp(part->text, "/* SPDX-License-Identifier", 26), 0, "%s", part->name);
}
