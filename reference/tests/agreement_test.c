/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long rows: the two references against each other, under every combination of rules, and against a full sort.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "reference/reference.h"

enum pattern {
    UNIFORM_BITS,
    FEW_DISTINCT,
    ALL_EQUAL,
    ASCENDING,
    DESCENDING,
    ZEROS_OF_BOTH_SIGNS,
    MOSTLY_HOLES,
    ONE_COARSE_BIN,
    N_PATTERNS
};

/* A counter-based stream: the same numbers everywhere. */
static uint32_t random_bits(uint64_t counter)
{
    uint64_t x = counter * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(x >> 32);
}

static void fill(uint32_t *scores, int32_t n, enum pattern pattern, uint64_t seed)
{
    static const uint32_t few[] = {0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x80000000, 0x00000000, 0x7fc00000};
    for (int32_t i = 0; i < n; i++) {
        uint32_t bits = random_bits(seed << 32 | (uint32_t)i);
        uint32_t all[N_PATTERNS] = {
            [UNIFORM_BITS] = bits,
            [FEW_DISTINCT] = few[bits % 7],
            [ALL_EQUAL] = 0x3f8ccccd,
            [ASCENDING] = 0x3f800000u + (uint32_t)i,
            [DESCENDING] = 0x3f800000u - (uint32_t)i,
            [ZEROS_OF_BOTH_SIGNS] = bits << 31,
            [MOSTLY_HOLES] = bits % 16 == 0 ? bits : bits % 2 == 0 ? 0xff800000u : 0xffc00000u | bits % 8,
            [ONE_COARSE_BIN] = 0x3f800000u + bits % 0x4000,
        };
        scores[i] = all[pattern];
    }
}

static const struct reference_rules *rules_number(int i)
{
    static struct reference_rules rules;
    rules = (struct reference_rules){(i & 1) != 0, (i & 2) != 0, (enum reference_nan)(i >> 2)};
    return &rules;
}

#define N_RULES 16

static void compare(const uint32_t *scores, int32_t n, int32_t topk, const struct reference_rules *rules,
                    enum pattern pattern)
{
    int32_t *by_heap = malloc((size_t)topk * sizeof *by_heap);
    int32_t *by_counting = malloc((size_t)topk * sizeof *by_counting);
    cr_assert(by_heap != NULL && by_counting != NULL);
    int32_t heap_count = reference_select(scores, n, topk, rules, by_heap);
    int32_t counting_count = reference_select_by_counting(scores, n, topk, rules, by_counting);
    cr_assert_eq(heap_count, counting_count, "pattern %d n %d topk %d: %d and %d selected", (int)pattern, n, topk,
                 heap_count, counting_count);
    cr_assert_arr_eq(by_heap, by_counting, (size_t)topk * sizeof *by_heap, "pattern %d n %d topk %d", (int)pattern, n,
                     topk);
    free(by_heap);
    free(by_counting);
}

Test(agreement, rows_of_a_few_thousand_under_every_rule, .timeout = 60)
{
    static const int32_t lengths[] = {1, 2, 31, 512, 513, 1025, 4099};
    static const int32_t topks[] = {1, 7, 512, 1024, 4096};
    static uint32_t      scores[4099];
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        for (int pattern = 0; pattern < N_PATTERNS; pattern++) {
            fill(scores, lengths[l], (enum pattern)pattern, l);
            for (size_t k = 0; k < sizeof topks / sizeof *topks; k++) {
                for (int rules = 0; rules < N_RULES; rules++) {
                    compare(scores, lengths[l], topks[k], rules_number(rules), (enum pattern)pattern);
                }
            }
        }
    }
}

Test(agreement, the_longest_rows_of_the_registry, .timeout = 60)
{
    enum { LENGTH = 262144 };
    uint32_t *scores = malloc(LENGTH * sizeof *scores);
    cr_assert_not_null(scores);
    for (int pattern = 0; pattern < N_PATTERNS; pattern++) {
        fill(scores, LENGTH, (enum pattern)pattern, 99);
        compare(scores, LENGTH, 1024, rules_number(pattern * 5 % N_RULES), (enum pattern)pattern);
        compare(scores, LENGTH, 512, rules_number(0), (enum pattern)pattern);
    }
    free(scores);
}

struct scored_index {
    uint32_t score;
    int32_t  index;
};

/* Ordinary numbers only: descending score, then ascending index. */
static int by_place(const void *left, const void *right)
{
    const struct scored_index *a = left;
    const struct scored_index *b = right;
    float                      x;
    float                      y;
    memcpy(&x, &a->score, sizeof x);
    memcpy(&y, &b->score, sizeof y);
    if (x != y) {
        return x > y ? -1 : 1;
    }
    return a->index < b->index ? -1 : 1;
}

static int ascending(const void *left, const void *right)
{
    return *(const int32_t *)left < *(const int32_t *)right ? -1 : 1;
}

Test(agreement, a_full_sort_of_ordinary_numbers_gives_the_same, .timeout = 60)
{
    enum { LENGTH = 5000, TOPK = 777 };
    static struct scored_index sorted[LENGTH];
    static uint32_t            scores[LENGTH];
    int32_t                    expected[TOPK];
    int32_t                    indices[TOPK];
    const struct reference_rules base = {0};

    for (uint64_t seed = 0; seed < 40; seed++) {
        for (int32_t i = 0; i < LENGTH; i++) {
            uint32_t bits = random_bits(seed << 32 | (uint32_t)i);
            /* Even seeds: any finite number. Odd seeds: 13 bits survive, so that ties abound. */
            scores[i] = (seed % 2 == 0 ? bits : bits & 0xfff80000u) & ~0x00800000u;
            sorted[i] = (struct scored_index){scores[i], i};
        }
        qsort(sorted, LENGTH, sizeof *sorted, by_place);
        for (int32_t slot = 0; slot < TOPK; slot++) {
            expected[slot] = sorted[slot].index;
        }
        qsort(expected, TOPK, sizeof *expected, ascending);
        cr_assert_eq(reference_select(scores, LENGTH, TOPK, &base, indices), TOPK);
        cr_assert_arr_eq(indices, expected, sizeof expected, "seed %d", (int)seed);
        cr_assert_eq(reference_select_by_counting(scores, LENGTH, TOPK, &base, indices), TOPK);
        cr_assert_arr_eq(indices, expected, sizeof expected, "seed %d", (int)seed);
    }
}
