/* SPDX-License-Identifier: Apache-2.0 */
/* Making problems small, as far as it needs no provider: the form they are changed in, what is smaller, classes. */
#include "harness/digest.h"
#include "harness/shrink/shrinking.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void generate(const char *generator, const int32_t *lengths, size_t n, struct case_inputs *inputs)
{
    const struct case_param params[] = {{"base_shift", "3"}, {"stride_extra", "5"}, {"table_stride_extra", "2"},
                                        {"width_slack", "7"}};
    struct case_spec        spec = {.family = "test", .generator = generator, .seed = 1, .topk = 7, .page_size = 4,
                                    .batch = (int32_t)n, .lengths = lengths, .n_lengths = n, .params = params, .n_params = 4};
    char                    cause[256] = "";
    cr_assert_eq(case_generate(&spec, inputs, cause, sizeof cause), 0, "%s", cause);
}

/* What is launched first is what failed: every column, every entry, every stride. */
Test(shrink, a_problem_in_its_small_form_is_the_same_inputs)
{
    static const char *const generators[] = {"ties", "random", "nan", "negative-lengths", "overlong-lengths", "infinities"};
    static const int32_t     lengths[] = {90, 0, 1, 33};
    for (size_t g = 0; g < sizeof generators / sizeof generators[0]; g++) {
        struct case_inputs inputs, again;
        struct small_trial trial;
        struct error       err = {0};
        char               hash[DIGEST_HEX], hash_again[DIGEST_HEX];
        generate(generators[g], lengths, 4, &inputs);
        cr_assert_eq(small_trial_from(&trial, &inputs, 1, OUTPUTS_PAGE, &err), STATUS_OK);
        cr_assert_eq(small_problem_inputs(&trial.problems[0], "any", &again, &err), STATUS_OK, "%s: %s", generators[g], err.text);
        digest_of_inputs(&inputs, hash);
        digest_of_inputs(&again, hash_again);
        cr_assert_str_eq(hash, hash_again, "%s", generators[g]);
        case_inputs_clear(&inputs);
        case_inputs_clear(&again);
        small_trial_clear(&trial);
    }
}

Test(shrink, every_part_counts_in_its_order)
{
    static const int32_t lengths[] = {20, 20};
    struct case_inputs   inputs;
    struct small_trial   a, b;
    struct error         err = {0};
    generate("random", lengths, 2, &inputs);
    cr_assert_eq(small_trial_from(&a, &inputs, 1, OUTPUTS_PAGE, &err), STATUS_OK);
    cr_assert_eq(small_trial_copy(&b, &a, &err), STATUS_OK);
    cr_assert_eq(shrink_compare(&a, &b), 0);
    b.problems[0].rows[0].scores[3] = 0; /* a simpler score */
    cr_assert_lt(shrink_compare(&b, &a), 0);
    a.problems[0].base_shift = 0; /* a plainer layout is worth more */
    cr_assert_lt(shrink_compare(&a, &b), 0);
    b.problems[0].topk--;
    cr_assert_lt(shrink_compare(&b, &a), 0);
    shrink_remove_columns(&a.problems[0].rows[1], 5, 2);
    cr_assert_lt(shrink_compare(&a, &b), 0);
    cr_assert(a.problems[0].rows[1].length == 18 && a.problems[0].rows[1].told == 18);
    small_row_clear(&b.problems[0].rows[1]);
    b.problems[0].n_rows = 1;
    cr_assert_lt(shrink_compare(&b, &a), 0);
    case_inputs_clear(&inputs);
    small_trial_clear(&a);
    small_trial_clear(&b);
}

Test(shrink, simple_scores_cost_least)
{
    static const uint32_t ordered[] = {0,          0x3f800000, 0x40000000, 0xbf800000, 0x40400000, 0x42c80000, 0x7f800000,
                                       0x80000000, 0x3f000000, 0x3fc00000, 0x3f9e0652, 0x7fc00000};
    for (size_t i = 1; i < sizeof ordered / sizeof ordered[0]; i++)
        cr_assert_lt(shrink_score_cost(ordered[i - 1]), shrink_score_cost(ordered[i]), "%08x before %08x", ordered[i - 1],
                     ordered[i]);
}

Test(shrink, classes_of_rank_are_those_of_the_contract)
{
    uint32_t         scores[] = {0x40000000, 0x80000000, 0x3f800000, 0, 0xbf800000, 0x7f800000};
    struct small_row row = {.scores = scores, .length = 6, .columns = 6, .told = 6};
    enum rank_class  classes[6];
    const enum rank_class at_zero[] = {RANK_ABOVE, RANK_TIED, RANK_ABOVE, RANK_TIED, RANK_BELOW, RANK_ABOVE};
    cr_assert(shrink_classes(&row, 4, classes));
    cr_assert_eq(memcmp(classes, at_zero, sizeof at_zero), 0);
    cr_assert(shrink_classes(&row, 6, classes)); /* not cut */
    for (int i = 0; i < 6; i++)
        cr_assert_eq(classes[i], RANK_ABOVE);
    cr_assert(shrink_classes(&row, 1, classes));
    cr_assert(classes[5] == RANK_TIED && classes[0] == RANK_BELOW);
}
