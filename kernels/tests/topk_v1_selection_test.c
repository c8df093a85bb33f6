/* SPDX-License-Identifier: Apache-2.0 */
/*
 * v1 on the simulator gives the reference's bytes for every input, wave size and order of threads. Inputs stand at the
 * places where the kernels change their ways: buffer, row widths, splits, short rows, special values, ties, and rows that
 * mislead the sample.
 */
#include "kernels/simulator/simulator.h"
#include "kernels/topk_v1.h"
#include "reference/reference.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT_POISON 0x7abcdef1
#define GUARD ((size_t)16)

enum { CAPACITY = TOPK_V1_BUFFER_KEYS };

static const struct simulator_schedule schedules[] = {
    {32, SIMULATOR_ROUND_ROBIN, 0}, {64, SIMULATOR_ROUND_ROBIN, 0}, {32, SIMULATOR_REVERSED, 0},
    {64, SIMULATOR_REVERSED, 0},    {32, SIMULATOR_RANDOM, 1},      {64, SIMULATOR_RANDOM, 2},
    {32, SIMULATOR_RANDOM, 3},
};

enum { N_SCHEDULES = sizeof schedules / sizeof schedules[0] };

/* A problem under construction: rows of one stride; +inf behind every row's end. */
struct rows {
    int32_t   batch, topk, page_size, width;
    int64_t   stride, page_stride;
    uint32_t *scores;
    int32_t  *lengths;
    int32_t  *pages;
};

static uint32_t mixed(uint64_t counter)
{
    uint64_t x = (counter + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(x >> 32);
}

static struct rows make_rows(int32_t batch, int32_t topk, int32_t page_size, int32_t width, int64_t slack)
{
    struct rows r = {batch, topk, page_size, width, width + slack, 0, NULL, NULL, NULL};
    r.page_stride = (width + page_size - 1) / page_size + slack;
    const size_t n_scores = (size_t)(batch * r.stride) + 1;
    const size_t n_pages = (size_t)(batch * r.page_stride) + 1;
    r.scores = malloc(n_scores * sizeof *r.scores);
    r.lengths = malloc((size_t)batch * sizeof *r.lengths);
    r.pages = malloc(n_pages * sizeof *r.pages);
    cr_assert(r.scores != NULL && r.lengths != NULL && r.pages != NULL);
    for (size_t i = 0; i < n_scores; i++) r.scores[i] = 0x7f800000u;
    for (int32_t b = 0; b < batch; b++) r.lengths[b] = width;
    for (size_t i = 0; i < n_pages; i++) r.pages[i] = (int32_t)((i * 7 + 3) % (r.page_stride > 7 ? 1000003 : 11));
    return r;
}

static void free_rows(struct rows *r)
{
    free(r->scores);
    free(r->lengths);
    free(r->pages);
}

static uint32_t *row_scores(const struct rows *r, int32_t b) { return r->scores + b * r->stride; }
static int32_t  *row_pages(const struct rows *r, int32_t b) { return r->pages + b * r->page_stride; }

static int32_t counted_length(const struct rows *r, int32_t b)
{
    if (r->lengths[b] < 0) return 0;
    return r->lengths[b] < r->width ? r->lengths[b] : r->width;
}

static void expect_outputs(const struct rows *r, const int32_t *page, const int32_t *raw, const char *what)
{
    const struct reference_rules rules = {.nan = REFERENCE_NAN_BITS};
    int32_t expected[TOPK_V1_MAX_TOPK];
    int32_t mapped[TOPK_V1_MAX_TOPK];
    const size_t bytes = (size_t)r->topk * sizeof expected[0];
    for (int32_t b = 0; b < r->batch; b++) {
        cr_assert_geq(reference_select(row_scores(r, b), counted_length(r, b), r->topk, &rules, expected), 0);
        const size_t slot = (size_t)b * (size_t)r->topk;
        reference_map_pages(expected, r->topk, row_pages(r, b), r->page_size, mapped);
        if (raw != NULL) {
            for (int32_t j = 0; j < r->topk; j++)
                cr_assert_eq(raw[slot + (size_t)j], expected[j], "%s: row %d, raw slot %d: %d, not %d", what, b, j,
                             raw[slot + (size_t)j], expected[j]);
        }
        if (page != NULL) cr_assert_arr_eq(page + slot, mapped, bytes, "%s: row %d, pages", what, b);
    }
}

static void poison(int32_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++) at[i] = OUTPUT_POISON;
}

static void expect_guards(const int32_t *outputs, size_t n, const char *what)
{
    for (size_t i = 0; i < GUARD; i++)
        cr_assert(outputs[i] == OUTPUT_POISON && outputs[GUARD + n + i] == OUTPUT_POISON, "%s: wrote outside", what);
}

/* Launches under the first n_schedules schedules and compares with the reference. */
static void expect_reference(const struct rows *r, int n_schedules, bool want_page, bool want_raw, const char *what)
{
    const size_t n = (size_t)r->batch * (size_t)r->topk;
    int32_t     *page = malloc((n + 2 * GUARD) * sizeof *page);
    int32_t     *raw = malloc((n + 2 * GUARD) * sizeof *raw);
    struct topk_problem asked = {.batch = r->batch, .max_seq_len = r->width};
    const size_t        workspace_bytes = topk_v1_workspace_bytes(&asked);
    void               *workspace = aligned_alloc(256, workspace_bytes + 256 - workspace_bytes % 256);
    cr_assert(page != NULL && raw != NULL && workspace != NULL);
    for (int i = 0; i < n_schedules; i++) {
        memset(workspace, 0x5a + i, workspace_bytes);
        char err[300] = "";
        char where[200];
        (void)snprintf(where, sizeof where, "%s, schedule %d", what, i);
        poison(page, n + 2 * GUARD);
        poison(raw, n + 2 * GUARD);
        const struct topk_problem problem = {
            .scores = (const void *)r->scores,
            .seq_lens = r->lengths,
            .page_table = r->pages,
            .page_indices = want_page ? page + GUARD : NULL,
            .raw_indices = want_raw ? raw + GUARD : NULL,
            .score_stride = r->stride,
            .page_table_stride = r->page_stride,
            .batch = r->batch,
            .topk = r->topk,
            .page_size = r->page_size,
            .max_seq_len = r->width,
            .workspace = workspace,
        };
        simulator_set_schedule(&schedules[i]);
        cr_assert_eq(topk_v1_launch_simulator(&problem, err, sizeof err), 0, "%s: %s", where, err);
        expect_outputs(r, want_page ? page + GUARD : NULL, want_raw ? raw + GUARD : NULL, where);
        expect_guards(page, n, where);
        expect_guards(raw, n, where);
    }
    free(page);
    free(raw);
    free(workspace);
}

static void expect_row(int32_t n, int32_t topk, uint32_t (*bits)(int32_t i), int n_schedules, const char *what)
{
    struct rows r = make_rows(1, topk, 64, n, 3);
    for (int32_t i = 0; i < n; i++) r.scores[i] = bits(i);
    expect_reference(&r, n_schedules, true, true, what);
    free_rows(&r);
}

static uint32_t any_bits(int32_t i) { return mixed((uint64_t)i); }
static uint32_t normal_like(int32_t i)
{
    return (mixed((uint64_t)i) & 0x80000000u) | (0x3e000000u + mixed((uint64_t)i + 77777) % 0x02400000u);
}
static uint32_t one_bin_rising(int32_t i) { return 0x3f800000u + (uint32_t)i; }
static uint32_t one_bin_falling(int32_t i) { return 0x3f9fff00u - (uint32_t)i; }
static uint32_t one_bin_shuffled(int32_t i) { return 0x3f800000u + mixed((uint64_t)i) % 0x1f0000u; }
static uint32_t all_equal(int32_t i)
{
    (void)i;
    return 0xc1234567u;
}
static uint32_t two_values(int32_t i) { return i % 5 == 3 ? 0x40000000u : 0x3f800000u; }
static uint32_t mixed_zeros(int32_t i) { return mixed((uint64_t)i) % 2 != 0 ? 0x80000000u : 0u; }
static uint32_t zeros_and_tiny(int32_t i)
{
    static const uint32_t values[] = {0u, 0x80000000u, 1u, 0x80000001u, 0x007fffffu, 0x807fffffu, 0x33000000u,
                                      0xb3000000u, 0x33000001u, 0x32ffffffu};
    return values[mixed((uint64_t)i) % 10];
}
static uint32_t specials(int32_t i)
{
    static const uint32_t values[] = {
        0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffc00000u, 0x7f800001u, 0xff800001u, 0x7fffffffu, 0xffffffffu,
        0x7f7fffffu, 0xff7fffffu, 0x477fe000u, 0x477fefffu, 0x477ff000u, 0x47800000u, 0x38800000u, 0x387fffffu,
        0x00000000u, 0x80000000u, 0x00000001u, 0x80000001u, 0x3f800000u, 0xbf800000u, 0x3f9ff000u, 0x3f9fefffu,
    };
    return values[mixed((uint64_t)i) % 24];
}
static uint32_t huge(int32_t i) { return 0x47800000u + mixed((uint64_t)i) % 0x37ffffffu; }
static uint32_t nans(int32_t i) { return 0x7f800001u + mixed((uint64_t)i) % 0x7fffffu; }
static uint32_t negative_nans(int32_t i) { return 0xff800001u + mixed((uint64_t)i) % 0x7fffffu; }

static const struct {
    const char *name;
    uint32_t (*bits)(int32_t i);
} patterns[] = {
    {"any bits", any_bits},
    {"normal", normal_like},
    {"one bin rising", one_bin_rising},
    {"one bin falling", one_bin_falling},
    {"one bin shuffled", one_bin_shuffled},
    {"all equal", all_equal},
    {"two values", two_values},
    {"mixed zeros", mixed_zeros},
    {"zeros and tiny", zeros_and_tiny},
    {"specials", specials},
    {"huge", huge},
    {"nans", nans},
    {"negative nans", negative_nans},
};

enum { N_PATTERNS = sizeof patterns / sizeof patterns[0] };

Test(topk_v1_selection, every_pattern_under_every_schedule)
{
    for (size_t p = 0; p < N_PATTERNS; p++) expect_row(1300, 512, patterns[p].bits, N_SCHEDULES, patterns[p].name);
}

Test(topk_v1_selection, every_pattern_beyond_the_candidate_buffer)
{
    for (size_t p = 0; p < N_PATTERNS; p++) expect_row(9001, 512, patterns[p].bits, 2, patterns[p].name);
}

Test(topk_v1_selection, around_the_candidate_capacity)
{
    static const int32_t lengths[] = {CAPACITY - 1, CAPACITY, CAPACITY + 1, 2 * CAPACITY};
    for (size_t i = 0; i < 4; i++) {
        expect_row(lengths[i], 512, one_bin_rising, N_SCHEDULES, "rising");
        expect_row(lengths[i], 1024, one_bin_falling, 2, "falling");
        expect_row(lengths[i], 7, one_bin_shuffled, 2, "shuffled");
        expect_row(lengths[i], 777, two_values, 2, "two values");
    }
}

/* On both sides of every width at which another kernel takes over, for one block a row and for several. */
Test(topk_v1_selection, around_every_width)
{
    static const int32_t widths[] = {TOPK_V1_NARROW_WIDTH, TOPK_V1_WIDE_WIDTH, 4 * TOPK_V1_WIDE_WIDTH};
    for (size_t i = 0; i < 3; i++) {
        for (int32_t step = -1; step < 3; step++) {
            expect_row(widths[i] + step, 512, normal_like, 2, "normal");
            expect_row(widths[i] + step, 1024, two_values, 1, "two values");
            expect_row(widths[i] + step, 1, specials, 1, "specials");
        }
    }
}

Test(topk_v1_selection, every_pattern_in_split_rows)
{
    for (size_t p = 0; p < N_PATTERNS; p++) {
        expect_row(40000, 512, patterns[p].bits, 2, patterns[p].name);
        expect_row(33001, 1000, patterns[p].bits, 1, patterns[p].name);
    }
}

/* The places that the long kernels sample in a row that begins at a multiple of 16 bytes; topk_v1.hip, sample_threshold. */
static void mark_sampled(int32_t n, int32_t topk, bool *sampled)
{
    enum { block = 512 };
    const uint32_t n_lines = (uint32_t)n / 32;
    uint32_t       each = 4 * 2048 / block;
    while (each > 1 && (2 * each * (block / 128) > (uint32_t)(n / topk) || n_lines * 32 < each * block)) each /= 2;
    const uint32_t steps = each > 4 ? each / 4 : 1;
    const uint32_t parts = block / 8 * steps;
    const uint32_t width = n_lines / parts;
    for (uint32_t part = 0; part < parts; part++) {
        uint32_t hash = part * 0x9e3779b1u;
        hash = (hash ^ hash >> 15) * 0x85ebca77u;
        hash ^= hash >> 13;
        const uint32_t line = part * width + (uint32_t)((uint64_t)hash * width >> 32);
        for (uint32_t c = 0; c < 32; c++) sampled[32 * line + c] = true;
    }
}

/* Samples that lie: as the row's best (too few are kept, then too few ties), as its worst (too many are kept) in rows
 * that rise, so that the buffer fills over and over, fall, or are shuffled. */
static void expect_misled(int32_t batch, int32_t n, int32_t topk)
{
    bool *sampled = calloc((size_t)n + 32, sizeof *sampled);
    cr_assert(sampled != NULL);
    mark_sampled(n, topk, sampled);
    for (int32_t kind = 0; kind < 6; kind++) {
        struct rows r = make_rows(batch, topk, 64, n, 4 - n % 4);
        char        what[100];
        for (int32_t b = 0; b < batch; b++) {
            for (int32_t i = 0; i < n; i++) {
                const uint32_t value = kind % 3 == 0   ? (uint32_t)i
                                       : kind % 3 == 1 ? (uint32_t)(n - i)
                                                       : mixed((uint64_t)i) % (uint32_t)n;
                const uint32_t lie = kind < 3 ? 0x20000000u : 0x60000000u;
                row_scores(&r, b)[i] = b % 16 == 0 && sampled[i] ? lie + value % 7 : 0x3f800000u + value;
            }
        }
        if (batch > 1) r.lengths[1] = topk + 1;
        (void)snprintf(what, sizeof what, "misled, kind %d, batch %d, n %d, topk %d", kind, batch, n, topk);
        expect_reference(&r, 1, true, true, what);
        free_rows(&r);
    }
    free(sampled);
}

Test(topk_v1_selection, samples_that_lie)
{
    expect_misled(1, 20000, 512);  /* one block */
    expect_misled(1, 20001, 1024);
    expect_misled(1, 40000, 512);  /* split */
    expect_misled(1, 65536, 1024);
    expect_misled(1, 262144, 7);
    expect_misled(133, 32768, 100); /* too many rows to split */
}

Test(topk_v1_selection, every_topk_class)
{
    static const int32_t topks[] = {1, 2, 7, 31, 32, 33, 63, 64, 65, 255, 256, 257, 511, 512, 513, 777, 1023, 1024};
    for (size_t i = 0; i < sizeof topks / sizeof topks[0]; i++) {
        expect_row(1500, topks[i], normal_like, 2, "normal");
        expect_row(1500, topks[i], specials, 2, "specials");
        expect_row(9000, topks[i], normal_like, 1, "normal, long");
        expect_row(5000, topks[i], specials, 1, "specials, wide");
        expect_row(topks[i] + 1, topks[i], any_bits, 2, "one more than topk");
        expect_row(topks[i], topks[i], any_bits, 2, "exactly topk");
        expect_row(topks[i] - 1, topks[i], any_bits, 2, "one less than topk");
    }
}

Test(topk_v1_selection, random_lengths_and_topks)
{
    for (int32_t i = 0; i < 250; i++) {
        const int32_t n = (int32_t)(mixed((uint64_t)i * 3) % 5001);
        const int32_t topk = 1 + (int32_t)(mixed((uint64_t)i * 3 + 1) % 1024);
        const size_t  p = mixed((uint64_t)i * 3 + 2) % N_PATTERNS;
        char          what[100];
        (void)snprintf(what, sizeof what, "%s, n %d, topk %d", patterns[p].name, n, topk);
        expect_row(n, topk, patterns[p].bits, 1 + i % 2, what);
    }
}

Test(topk_v1_selection, a_long_row_under_every_schedule)
{
    expect_row(262144, 512, normal_like, N_SCHEDULES, "normal");
    expect_row(262144, 1024, one_bin_shuffled, 2, "one bin");
    expect_row(262143, 1, all_equal, 2, "all equal");
}

/* Rows of all kinds side by side: short, empty, negative, overlong, long, in one batch. */
Test(topk_v1_selection, batches_strides_pages_and_outputs)
{
    static const int32_t page_sizes[] = {1, 64, 256};
    for (size_t i = 0; i < 3; i++) {
        for (int outputs = 1; outputs < 4; outputs++) {
            struct rows r = make_rows(11, 300, page_sizes[i], 1201, 1 + 2 * outputs);
            for (int32_t b = 0; b < r.batch; b++) {
                for (int32_t j = 0; j < r.width; j++) row_scores(&r, b)[j] = patterns[b].bits(j + 10000 * b);
            }
            static const int32_t lengths[] = {1201, 0, -1, INT32_MIN, 1202, INT32_MAX, 300, 301, 299, 1, 1200};
            memcpy(r.lengths, lengths, sizeof lengths);
            expect_reference(&r, outputs == 3 ? N_SCHEDULES : 2, (outputs & 1) != 0, (outputs & 2) != 0, "batch");
            free_rows(&r);
        }
    }
}

/* The same in long rows, one block a row and several; rows of all alignments. */
Test(topk_v1_selection, ragged_long_batches)
{
    static const int32_t widths[] = {9001, 33003};
    for (size_t i = 0; i < 2; i++) {
        struct rows r = make_rows(11, 300, 64, widths[i], 2 + (int64_t)i);
        for (int32_t b = 0; b < r.batch; b++) {
            for (int32_t j = 0; j < r.width; j++) row_scores(&r, b)[j] = patterns[b].bits(j + 10000 * b);
        }
        const int32_t lengths[] = {r.width, 0, -1, INT32_MIN, r.width + 1, INT32_MAX, 300, 301, 2053, 8191, r.width - 1};
        memcpy(r.lengths, lengths, sizeof lengths);
        expect_reference(&r, 3, true, true, "long batch");
        free_rows(&r);
    }
}

/* Short rows of long widths, whose threshold is negative or none. */
Test(topk_v1_selection, every_pattern_in_short_rows_of_long_widths)
{
    static const int32_t lengths[] = {100, 513, 2049, 2303, 2305, 4097, 5000, 8193};
    static const int32_t topks[] = {1, 99, 512, 1000};
    for (size_t t = 0; t < 4; t++) {
        for (size_t p = 0; p < N_PATTERNS; p++) {
            struct rows r = make_rows(8, topks[t], 64, 9000, 4 * (int64_t)t);
            for (int32_t b = 0; b < r.batch; b++) {
                for (int32_t j = 0; j < r.width; j++) row_scores(&r, b)[j] = patterns[p].bits(j + 10000 * b);
            }
            memcpy(r.lengths, lengths, sizeof lengths);
            expect_reference(&r, 1, true, true, patterns[p].name);
            free_rows(&r);
        }
    }
}

Test(topk_v1_selection, a_width_of_nothing)
{
    struct rows r = make_rows(2, 5, 64, 0, 0);
    r.lengths[1] = 7;
    expect_reference(&r, N_SCHEDULES, true, true, "empty");
    free_rows(&r);
}
