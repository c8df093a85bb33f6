/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counter-based numbers, permutations, placements and counts.
 */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "cases/count_choice.h"
#include "cases/random.h"
#include "cases/row_order.h"

Test(random, keys_depend_on_the_order_and_the_ends_of_words)
{
    const uint64_t key = random_key_word(0, 1);
    cr_assert_neq(random_key_word(random_key_word(key, 1), 2), random_key_word(random_key_word(key, 2), 1));
    cr_assert_neq(random_key_text(random_key_text(key, "ab"), "c"), random_key_text(random_key_text(key, "a"), "bc"));
    cr_assert_neq(random_key_text(key, ""), key);
}

Test(random, numbers_below_a_bound_reach_every_value)
{
    int seen[7] = {0};
    for (uint64_t i = 0; i < 7000; i++) {
        const uint32_t value = random_below(random_bits(5, 0, i), 7);
        cr_assert_lt(value, 7);
        seen[value]++;
    }
    for (int i = 0; i < 7; i++) {
        cr_assert(seen[i] > 850 && seen[i] < 1150, "%d came %d times of 7000", i, seen[i]);
    }
    cr_assert_eq(random_below(UINT64_MAX, 1), 0);
}

static void assert_bijection(uint32_t (*at)(const void *, uint32_t), const void *object, uint32_t size)
{
    unsigned char *seen = calloc(size, 1);
    for (uint32_t place = 0; place < size; place++) {
        const uint32_t image = at(object, place);
        cr_assert_lt(image, size);
        cr_assert_eq(seen[image], 0, "%u is the image of two places of %u", image, size);
        seen[image] = 1;
    }
    free(seen);
}

static uint32_t permutation_at(const void *object, uint32_t place)
{
    return random_permutation_at(object, place);
}

static uint32_t placement_at(const void *object, uint32_t place)
{
    return row_placement_column(object, place);
}

Test(random, permutations_are_bijections_of_any_size)
{
    static const uint32_t sizes[] = {1, 2, 3, 4, 5, 31, 32, 33, 1000, 1024, 1025, 65536, 262144};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct random_permutation permutation;
        random_permutation_init(&permutation, 11 + i, sizes[i]);
        assert_bijection(permutation_at, &permutation, sizes[i]);
    }
    struct random_permutation largest;
    random_permutation_init(&largest, 3, UINT32_C(1) << 31);
    cr_assert_lt(random_permutation_at(&largest, (UINT32_C(1) << 31) - 1), UINT32_C(1) << 31);
}

Test(random, permutations_mix)
{
    struct random_permutation permutation;
    random_permutation_init(&permutation, 77, 4096);
    int fixed      = 0;
    int successors = 0;
    int low_half   = 0;
    for (uint32_t i = 0; i < 4096; i++) {
        fixed += random_permutation_at(&permutation, i) == i ? 1 : 0;
        low_half += i < 2048 && random_permutation_at(&permutation, i) < 2048 ? 1 : 0;
        successors += i > 0 && random_permutation_at(&permutation, i) == random_permutation_at(&permutation, i - 1) + 1;
    }
    cr_assert_lt(fixed, 20);
    cr_assert_lt(successors, 40);
    cr_assert(low_half > 800 && low_half < 1250, "%d of 2048", low_half);
}

Test(row_order, every_order_is_a_bijection)
{
    static const int32_t lengths[] = {1, 2, 7, 1023, 1024, 1025, 2048, 3000, 5000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        for (int order = 0; row_order_choices[order] != NULL; order++) {
            struct row_placement placement;
            row_placement_init(&placement, (enum row_order)order, 5, 3, lengths[i]);
            assert_bijection(placement_at, &placement, (uint32_t)lengths[i]);
        }
    }
}

Test(row_order, the_best_stand_where_the_name_says)
{
    struct row_placement placement;
    row_placement_init(&placement, ROW_ORDER_BEST_FIRST, 5, 0, 5000);
    cr_assert_eq(row_placement_column(&placement, 0), 0);
    row_placement_init(&placement, ROW_ORDER_BEST_LAST, 5, 0, 5000);
    cr_assert_eq(row_placement_column(&placement, 0), 4999);
    row_placement_init(&placement, ROW_ORDER_OUTSIDE, 5, 0, 5000);
    cr_assert_eq(row_placement_column(&placement, 1), 4999);
    cr_assert_eq(row_placement_column(&placement, 2), 1);
    row_placement_init(&placement, ROW_ORDER_ONE_THREAD, 5, 0, 5000);
    for (uint32_t rank = 0; rank < 5; rank++) {
        cr_assert_eq(row_placement_column(&placement, rank), rank * 1024);
    }
    cr_assert_eq(row_placement_column(&placement, 5), 1);
    static const uint32_t ends[] = {0, 1024, 2048, 3072, 4096, 1023, 2047, 3071, 4095, 1, 1025};
    row_placement_init(&placement, ROW_ORDER_BLOCK_ENDS, 5, 0, 5000);
    for (uint32_t rank = 0; rank < sizeof ends / sizeof ends[0]; rank++) {
        cr_assert_eq(row_placement_column(&placement, rank), ends[rank], "rank %u", rank);
    }
}

Test(count_choice, counts_are_relative_to_topk_and_cut_to_the_row)
{
    static const int32_t expected[] = {0, 1, 3, 10, 256, 511, 512, 513, 4096};
    for (int i = 0; count_choices[i] != NULL; i++) {
        cr_assert_eq(count_choice((enum count_choice)i, 512, 4096), expected[i], "%s", count_choices[i]);
        const int32_t cut = expected[i] < 300 ? expected[i] : 300;
        cr_assert_eq(count_choice((enum count_choice)i, 512, 300), cut, "%s", count_choices[i]);
    }
    cr_assert_eq(count_choice(COUNT_ALL_BUT_ONE, 1, 10), 0);
    cr_assert_eq(count_choice(COUNT_ONE_MORE, INT32_MAX, 10), 10);
}
