/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every short row over the scores where an order can go wrong, under every combination of rules: both references
 * against the definition of the operation.
 *
 * The definition below is written from the contract alone, with float comparison, and knows no key: an index is
 * selected when fewer than topk selectable indices come before it. It is slow and used nowhere else.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "reference/reference.h"

#define MAX_VALUES 24
#define MAX_LENGTH 6
#define MAX_TOPK 6
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The order of the members is arbitrary; the first ones are the ones that collide most easily. */
static const uint32_t special_scores[] = {
    0x80000000, /* -0 */
    0x00000000, /* +0 */
    0x80000001, /* -smallest denormal */
    0x00000001, /* +smallest denormal */
    0xff800000, /* -inf */
    0x7f800000, /* +inf */
    0xffc00000, /* -NaN */
    0x7fc00000, /* +NaN */
    0x3f800000, /* 1 */
    0x477fe000, /* 65504, the largest fp16 number */
    0x7fffffff, /* +NaN, every payload bit */
    0xffffffff, /* -NaN, every payload bit */
    0x3f800001, /* the number after 1 */
    0x477ff000, /* 65520, the first that rounds to fp16 infinity */
    0xc77ff000, /* -65520 */
    0xbf800000, /* -1 */
    0x7f7fffff, /* FLT_MAX */
    0xff7fffff, /* -FLT_MAX */
    0x007fffff, /* the largest denormal */
    0x00800000, /* the smallest normal number */
    0x7f800001, /* +NaN, signalling, smallest payload */
    0xff800001, /* -NaN, signalling, smallest payload */
};

struct definition {
    struct reference_rules rules;
    size_t                 n_values;
    bool                   selectable[MAX_VALUES];
    bool                   greater[MAX_VALUES][MAX_VALUES]; /* [a][b]: score a comes before score b */
};

static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int nan_side(float x)
{
    return !isnan(x) ? 0 : signbit(x) ? -1 : 1;
}

static bool is_greater(uint32_t a, uint32_t b, const struct reference_rules *rules)
{
    float x = as_float(a);
    float y = as_float(b);
    if (isnan(x) || isnan(y)) {
        if (rules->nan == REFERENCE_NAN_LARGEST) {
            return isnan(x) && !isnan(y);
        }
        if (nan_side(x) != nan_side(y)) {
            return nan_side(x) > nan_side(y);
        }
        return signbit(x) ? (a & 0x7fffff) < (b & 0x7fffff) : (a & 0x7fffff) > (b & 0x7fffff);
    }
    if (x == y) {
        return rules->zeros_by_bits && !signbit(x) && signbit(y);
    }
    return x > y;
}

static bool is_selectable(uint32_t a, const struct reference_rules *rules)
{
    float x = as_float(a);
    return !(rules->nan == REFERENCE_NAN_NEVER && isnan(x)) && !(rules->neg_inf_is_hole && isinf(x) && x < 0);
}

static void define(struct definition *definition, size_t n_values, struct reference_rules rules)
{
    definition->rules = rules;
    definition->n_values = n_values;
    for (size_t a = 0; a < n_values; a++) {
        definition->selectable[a] = is_selectable(special_scores[a], &rules);
        for (size_t b = 0; b < n_values; b++) {
            definition->greater[a][b] = is_greater(special_scores[a], special_scores[b], &rules);
        }
    }
}

/* row: numbers of special scores. before[i]: how many selectable indices come before i; -1 when i never is selected. */
static void count_before(const struct definition *definition, const uint8_t *row, int32_t n, int32_t *before)
{
    for (int32_t i = 0; i < n; i++) {
        before[i] = definition->selectable[row[i]] ? 0 : -1;
        for (int32_t j = 0; j < n && before[i] >= 0; j++) {
            bool earlier_equal = j < i && !definition->greater[row[i]][row[j]];
            if (definition->selectable[row[j]] && (definition->greater[row[j]][row[i]] || earlier_equal)) {
                before[i]++;
            }
        }
    }
}

static void check_row(const struct definition *definition, const uint8_t *row, int32_t n, int32_t topk,
                      const int32_t *before)
{
    uint32_t scores[MAX_LENGTH] = {0};
    int32_t  expected[MAX_TOPK];
    int32_t  by_heap[MAX_TOPK];
    int32_t  by_counting[MAX_TOPK];
    int32_t  count = 0;

    for (int32_t i = 0; i < n; i++) {
        scores[i] = special_scores[row[i]];
        if (before[i] >= 0 && before[i] < topk) {
            expected[count++] = i;
        }
    }
    for (int32_t slot = count; slot < topk; slot++) {
        expected[slot] = -1;
    }
    size_t bytes = (size_t)topk * sizeof *expected;
    memset(by_heap, 0x5a, sizeof by_heap);
    memset(by_counting, 0xa5, sizeof by_counting);
    int32_t heap_count = reference_select(scores, n, topk, &definition->rules, by_heap);
    int32_t counting_count = reference_select_by_counting(scores, n, topk, &definition->rules, by_counting);
    bool    heap_agrees = heap_count == count && memcmp(by_heap, expected, bytes) == 0;
    bool    counting_agrees = counting_count == count && memcmp(by_counting, expected, bytes) == 0;
    if (!heap_agrees || !counting_agrees) {
        const struct reference_rules *rules = &definition->rules;
        cr_assert(false,
                  "heap %s, counting %s: n %d topk %d zeros_by_bits %d neg_inf_is_hole %d nan %d "
                  "scores %08x %08x %08x %08x %08x %08x",
                  heap_agrees ? "right" : "wrong", counting_agrees ? "right" : "wrong", n, topk, rules->zeros_by_bits,
                  rules->neg_inf_is_hole, (int)rules->nan, scores[0], scores[1], scores[2], scores[3], scores[4],
                  scores[5]);
    }
}

/* Every row of length n over the first n_values special scores; topk values are those whose bit is set in `topks`. */
static long check_all_rows(const struct definition *definition, int32_t n, unsigned topks)
{
    uint8_t row[MAX_LENGTH] = {0};
    int32_t before[MAX_LENGTH];
    long    rows = 0;

    for (;;) {
        count_before(definition, row, n, before);
        for (int32_t topk = 1; topk <= MAX_TOPK; topk++) {
            if ((topks >> topk & 1) != 0) {
                check_row(definition, row, n, topk, before);
            }
        }
        rows++;
        int32_t place = 0;
        while (place < n && ++row[place] == definition->n_values) {
            row[place++] = 0;
        }
        if (place == n) {
            return rows;
        }
    }
}

#define ALL_TOPKS 0x7eu

static void check_under_all_rules(enum reference_nan nan, size_t n_values, int32_t n, unsigned topks)
{
    long rows_of_this_length = 1;
    for (int32_t i = 0; i < n; i++) {
        rows_of_this_length *= (long)n_values;
    }
    for (int combination = 0; combination < 4; combination++) {
        struct definition definition;
        define(&definition, n_values, (struct reference_rules){(combination & 1) != 0, (combination & 2) != 0, nan});
        cr_assert_eq(check_all_rows(&definition, n, topks), rows_of_this_length);
    }
}

static void check_rows_up_to_four(enum reference_nan nan)
{
    for (int32_t n = 0; n <= 3; n++) {
        check_under_all_rules(nan, COUNT_OF(special_scores), n, ALL_TOPKS);
    }
    check_under_all_rules(nan, 14, 4, ALL_TOPKS);
}

static void check_rows_up_to_six(enum reference_nan nan)
{
    check_rows_up_to_four(nan);
    check_under_all_rules(nan, 12, 5, ALL_TOPKS);
    check_under_all_rules(nan, 8, 6, 1u << 2 | 1u << 5);
}

Test(exhaustive, rows_are_right_when_nan_is_unranked, .timeout = 120)
{
    check_rows_up_to_four(REFERENCE_NAN_UNRANKED);
}

Test(exhaustive, rows_are_right_when_nan_ranks_by_bits, .timeout = 120)
{
    check_rows_up_to_six(REFERENCE_NAN_BITS);
}

Test(exhaustive, rows_are_right_when_nan_is_largest, .timeout = 120)
{
    check_rows_up_to_six(REFERENCE_NAN_LARGEST);
}

Test(exhaustive, rows_are_right_when_nan_is_never_selected, .timeout = 120)
{
    check_rows_up_to_six(REFERENCE_NAN_NEVER);
}
