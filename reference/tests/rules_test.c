/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract by example: each rule on the smallest row that shows it, answers written by hand.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "reference/reference.h"

#define NEGATIVE_ZERO 0x80000000u
#define ZERO 0x00000000u
#define ONE 0x3f800000u
#define TWO 0x40000000u
#define INF 0x7f800000u
#define NEGATIVE_INF 0xff800000u
#define NAN_PLUS 0x7fc00000u
#define NAN_MINUS 0xffc00000u

#define COUNT_OF(array) ((int32_t)(sizeof(array) / sizeof((array)[0])))

/* Both references give `expected`, of which the first `count` are selected. */
static void expect(const struct reference_rules *rules, const uint32_t *scores, int32_t n, const int32_t *expected,
                   int32_t topk, int32_t count)
{
    int32_t indices[16];
    memset(indices, 0x77, sizeof indices);
    cr_assert_eq(reference_select(scores, n, topk, rules, indices), count);
    cr_assert_arr_eq(indices, expected, (size_t)topk * sizeof *expected);
    cr_assert_eq(indices[topk], 0x77777777, "slot topk was written");
    memset(indices, 0x66, sizeof indices);
    cr_assert_eq(reference_select_by_counting(scores, n, topk, rules, indices), count);
    cr_assert_arr_eq(indices, expected, (size_t)topk * sizeof *expected);
    cr_assert_eq(indices[topk], 0x66666666, "slot topk was written");
}

#define EXPECT(rules, scores, count, ...)                                                                              \
    do {                                                                                                               \
        const int32_t expected_indices[] = {__VA_ARGS__};                                                              \
        expect(&(rules), scores, COUNT_OF(scores), expected_indices, COUNT_OF(expected_indices), count);               \
    } while (0)

static const struct reference_rules base = {0};

Test(rules, equal_scores_at_the_cut_resolve_to_the_lower_index)
{
    const uint32_t scores[] = {ONE, ONE, TWO, ONE, ONE};
    EXPECT(base, scores, 3, 0, 1, 2);
}

Test(rules, the_answer_is_in_ascending_index_not_in_score_order)
{
    const uint32_t scores[] = {ONE, ZERO, TWO, INF};
    EXPECT(base, scores, 3, 0, 2, 3);
}

Test(rules, a_short_row_is_all_its_indices_then_minus_one)
{
    const uint32_t scores[] = {NAN_MINUS, NEGATIVE_INF, TWO};
    EXPECT(base, scores, 3, 0, 1, 2, -1, -1);
    EXPECT(base, scores, 3, 0, 1, 2);
}

Test(rules, an_empty_or_negative_row_is_all_minus_one)
{
    const uint32_t scores[] = {ONE};
    const int32_t  expected[] = {-1, -1};
    expect(&base, scores, 0, expected, 2, 0);
    expect(&base, scores, -1, expected, 2, 0);
    expect(&base, scores, INT32_MIN, expected, 2, 0);
}

Test(rules, zeros_are_equal_unless_ranked_by_bits)
{
    const struct reference_rules by_bits = {.zeros_by_bits = true};
    const uint32_t               scores[] = {NEGATIVE_ZERO, ZERO, NEGATIVE_ZERO, ZERO};
    EXPECT(base, scores, 2, 0, 1);
    EXPECT(by_bits, scores, 2, 1, 3);
    EXPECT(by_bits, scores, 3, 0, 1, 3);
}

Test(rules, denormals_are_ordinary_scores)
{
    const uint32_t scores[] = {ZERO, 0x80000001, 0x00000001, 0x00000002};
    EXPECT(base, scores, 1, 3);
    EXPECT(base, scores, 2, 2, 3);
    EXPECT(base, scores, 3, 0, 2, 3);
}

Test(rules, negative_infinity_is_a_score_unless_it_is_a_hole)
{
    const struct reference_rules hole = {.neg_inf_is_hole = true};
    const uint32_t               scores[] = {NEGATIVE_INF, 0xff7fffff, NEGATIVE_INF, NEGATIVE_INF};
    EXPECT(base, scores, 3, 0, 1, 2);
    EXPECT(hole, scores, 1, 1, -1, -1);
    EXPECT(hole, scores, 1, 1, -1, -1, -1, -1);
}

Test(rules, nan_by_bits_stands_outside_the_infinities)
{
    const struct reference_rules bits = {.nan = REFERENCE_NAN_BITS};
    const uint32_t               scores[] = {INF, NAN_PLUS, NEGATIVE_INF, NAN_MINUS, 0x7fc00001, 0xffc00001};
    EXPECT(bits, scores, 1, 4);
    EXPECT(bits, scores, 2, 1, 4);
    EXPECT(bits, scores, 3, 0, 1, 4);
    EXPECT(bits, scores, 4, 0, 1, 2, 4);
    EXPECT(bits, scores, 5, 0, 1, 2, 3, 4);
    EXPECT(base, scores, 4, 0, 1, 2, 4);
}

Test(rules, largest_nan_is_one_score_of_either_sign_above_infinity)
{
    const struct reference_rules largest = {.nan = REFERENCE_NAN_LARGEST};
    const uint32_t               scores[] = {INF, NAN_MINUS, 0x7fffffff, 0xffffffff};
    EXPECT(largest, scores, 1, 1);
    EXPECT(largest, scores, 2, 1, 2);
    EXPECT(largest, scores, 3, 1, 2, 3);
}

Test(rules, never_selected_nan_leaves_minus_one_even_in_a_short_row)
{
    const struct reference_rules never = {.nan = REFERENCE_NAN_NEVER};
    const uint32_t               scores[] = {NAN_PLUS, ONE, NAN_MINUS, NEGATIVE_INF};
    EXPECT(never, scores, 1, 1);
    EXPECT(never, scores, 2, 1, 3, -1);
    EXPECT(never, scores, 2, 1, 3, -1, -1, -1);
}

Test(rules, keys_follow_the_order)
{
    const uint32_t ascending[] = {0xffffffff, NAN_MINUS, 0xff800001, NEGATIVE_INF, 0xff7fffff, 0x80000001,
                                  ZERO,       1,         ONE,        INF,          0x7f800001, 0x7fffffff};
    for (int32_t i = 1; i < COUNT_OF(ascending); i++) {
        cr_assert_lt(reference_key(ascending[i - 1], &base), reference_key(ascending[i], &base), "member %d", i);
    }
    cr_assert_eq(reference_key(NEGATIVE_ZERO, &base), reference_key(ZERO, &base));
    cr_assert_neq(reference_key(0xffffffff, &base), 0);
}

Test(rules, what_is_never_selected_has_key_zero)
{
    const struct reference_rules strict = {.neg_inf_is_hole = true, .nan = REFERENCE_NAN_NEVER};
    const uint32_t               out[] = {NEGATIVE_INF, NAN_PLUS, NAN_MINUS, 0x7f800001, 0xffffffff};
    for (int32_t i = 0; i < COUNT_OF(out); i++) {
        cr_assert_not(reference_selectable(out[i], &strict), "%08x", out[i]);
        cr_assert_eq(reference_key(out[i], &strict), 0, "%08x", out[i]);
        cr_assert(reference_selectable(out[i], &base), "%08x", out[i]);
    }
    cr_assert(reference_selectable(INF, &strict));
    cr_assert(reference_selectable(0xff7fffff, &strict));
}

Test(rules, pages_are_mapped_and_padding_is_not)
{
    const int32_t table[] = {7, 2, 9};
    const int32_t indices[] = {0, 63, 64, 190, -1, -1};
    const int32_t expected[] = {448, 511, 128, 638, -1, -1};
    int32_t       mapped[6];
    reference_map_pages(indices, 6, table, 64, mapped);
    cr_assert_arr_eq(mapped, expected, sizeof expected);

    const int32_t singles[] = {2, 1, 0, -1, 1, 2};
    const int32_t expected_singles[] = {9, 2, 7, -1, 2, 9};
    reference_map_pages(singles, 6, table, 1, mapped);
    cr_assert_arr_eq(mapped, expected_singles, sizeof expected_singles);
}

Test(rules, the_last_page_of_int32_is_reached)
{
    const int32_t table[] = {INT32_MAX / 256};
    const int32_t indices[] = {255};
    int32_t       mapped[1];
    reference_map_pages(indices, 1, table, 256, mapped);
    cr_assert_eq(mapped[0], INT32_MAX);
}
