/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fuzzer's problems: the same whenever and in whatever order they are made; legal under the claims; of every pattern,
 * length and batch; around limits where there are any. Findings come back from their files as they went in.
 */
#include "harness/digest.h"
#include "harness/finding.h"
#include "harness/fuzz/fuzz_problem.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct fuzz_generator make_generator(uint64_t seed)
{
    return (struct fuzz_generator){
        .seed = seed,
        .claims = {.level = TOPK_LEVEL_CANONICAL, .nan = TOPK_NAN_BITS, .negative_length = TOPK_NEGATIVE_LENGTH_EMPTY,
                   .overlong = TOPK_OVERLONG_CLAMPED},
        .max_length = 20000};
}

/* Everything of a problem. */
static void digest_of_problem(const struct fuzz_problem *problem, char hex[DIGEST_HEX])
{
    struct digest digest;
    char          one[DIGEST_HEX];
    digest_begin(&digest);
    for (int32_t p = 0; p < problem->trial.n_problems; p++) {
        digest_of_inputs(&problem->inputs[p], one);
        digest_add(&digest, one, sizeof one);
    }
    uint64_t rest[] = {(uint64_t)problem->trial.outputs, (uint64_t)problem->trial.plan, problem->trial.relations,
                       problem->trial.seed, (uint64_t)fuzz_shape_number(&problem->shape)};
    digest_add(&digest, rest, sizeof rest);
    digest_end(&digest, hex);
}

static void digest_of_number(const struct fuzz_generator *generator, int64_t number, char hex[DIGEST_HEX])
{
    struct fuzz_problem problem = {0};
    struct error        err = {0};
    cr_assert_eq(fuzz_problem_make(generator, number, &problem, &err), STATUS_OK, "%s", err.text);
    digest_of_problem(&problem, hex);
    fuzz_problem_clear(&problem);
}

Test(fuzz, a_problem_is_a_function_of_seed_and_number)
{
    struct fuzz_generator generator = make_generator(7), other = make_generator(8);
    char                  first[200][DIGEST_HEX], again[DIGEST_HEX];
    int                   n_same = 0;
    for (int i = 0; i < 200; i++)
        digest_of_number(&generator, i + 1, first[i]);
    for (int i = 199; i >= 0; i--) {
        digest_of_number(&generator, i + 1, again);
        cr_assert_str_eq(again, first[i], "problem %d", i + 1);
        digest_of_number(&other, i + 1, again);
        n_same += strcmp(again, first[i]) == 0;
    }
    cr_assert_eq(n_same, 0, "another seed makes other problems");
}

/* Change the number when the generator is changed on purpose. */
Test(fuzz, a_seed_means_the_same_on_every_machine)
{
    struct fuzz_generator generator = make_generator(1);
    struct digest         digest;
    char                  hex[DIGEST_HEX];
    digest_begin(&digest);
    for (int64_t number = 1; number <= 300; number++) {
        digest_of_number(&generator, number, hex);
        digest_add(&digest, hex, sizeof hex);
    }
    digest_end(&digest, hex);
    cr_assert_str_eq(hex, "b3125c711d8abc84e2ecb66d76fa8bb7");
}

Test(fuzz, only_every_fourth_problem_looks_at_limits)
{
    struct fuzz_generator plain = make_generator(3), limited = make_generator(3);
    int                   n_other = 0;
    char                  a[DIGEST_HEX], b[DIGEST_HEX];
    fuzz_add_limit(&limited, 1777);
    fuzz_add_limit(&limited, 1777);
    fuzz_add_limit(&limited, 33);
    fuzz_add_limit(&limited, 1);
    fuzz_add_limit(&limited, 20001);
    cr_assert_eq(limited.n_limits, 2);
    cr_assert_eq(limited.limits[0], 33);
    for (int64_t number = 1; number <= 400; number++) {
        digest_of_number(&plain, number, a);
        digest_of_number(&limited, number, b);
        if (number % FUZZ_LIMIT_EVERY != FUZZ_LIMIT_EVERY - 1)
            cr_assert_str_eq(a, b);
        n_other += strcmp(a, b) != 0;
    }
    cr_assert_eq(n_other, 100);
}

static void check_inputs(const struct fuzz_generator *generator, const struct case_inputs *inputs)
{
    enum topk_level level;
    char            why[128];
    cr_assert(trial_is_promised(inputs, &generator->claims, &level, why, sizeof why), "%s", why);
    cr_assert_geq(inputs->max_seq_len, 1);
    cr_assert_leq(inputs->max_seq_len, inputs->score_stride);
    cr_assert_eq(inputs->page_size & (inputs->page_size - 1), 0);
    int64_t pages = ((int64_t)inputs->max_seq_len + inputs->page_size - 1) / inputs->page_size;
    cr_assert_leq(pages, inputs->page_table_stride);
    for (int32_t row = 0; row < inputs->batch; row++) {
        const int32_t *table = inputs->page_table + row * inputs->page_table_stride;
        for (int64_t p = 0; p < inputs->page_table_stride; p++)
            cr_assert(p < pages ? table[p] >= 0 && (int64_t)table[p] * inputs->page_size + inputs->page_size - 1 <= INT32_MAX
                                : table[p] < -1,
                      "entry %lld of %lld: %d", (long long)p, (long long)pages, table[p]);
        for (int64_t p = 1; p < pages && pages <= 64; p++)
            for (int64_t q = 0; q < p; q++)
                cr_assert_neq(table[p], table[q]);
    }
}

Test(fuzz, problems_are_legal_and_of_every_kind)
{
    struct fuzz_generator generator = make_generator(11);
    int                   patterns[N_FUZZ_PATTERNS] = {0}, lengths[N_FUZZ_LENGTHS] = {0}, batches[N_FUZZ_BATCHES] = {0};
    int                   outputs[N_OUTPUTS] = {0}, relations[N_TRIAL_RELATIONS] = {0}, n_sequences = 0, n_full = 0, n_loose = 0;
    generator.max_length = 70000;
    for (int64_t number = 1; number <= 3000; number++) {
        struct fuzz_problem problem = {0};
        struct error        err = {0};
        cr_assert_eq(fuzz_problem_make(&generator, number, &problem, &err), STATUS_OK);
        for (int32_t p = 0; p < problem.trial.n_problems; p++)
            check_inputs(&generator, &problem.inputs[p]);
        patterns[problem.shape.pattern]++;
        lengths[problem.shape.length]++;
        batches[problem.shape.batch]++;
        outputs[problem.trial.outputs]++;
        n_sequences += problem.trial.n_problems > 1;
        n_full += problem.trial.plan == TRIAL_FULL;
        n_loose += problem.inputs[0].max_seq_len > problem.inputs[0].seq_lens[0];
        for (int r = 0; r < N_TRIAL_RELATIONS; r++)
            relations[r] += problem.trial.relations >> r & 1;
        fuzz_problem_clear(&problem);
    }
    for (int i = 0; i < N_FUZZ_PATTERNS; i++)
        cr_expect_geq(patterns[i], 30, "pattern %s: %d", fuzz_pattern_text((enum fuzz_pattern)i), patterns[i]);
    for (int i = 0; i < N_FUZZ_LENGTHS; i++)
        cr_expect_geq(lengths[i], 1, "length class %d", i);
    for (int i = 0; i < N_FUZZ_BATCHES; i++)
        cr_expect_geq(batches[i], 50, "batch class %d: %d", i, batches[i]);
    for (int i = 0; i < N_OUTPUTS; i++)
        cr_expect_geq(outputs[i], 200);
    for (int i = 0; i < TRIAL_BESIDE; i++)
        cr_expect_geq(relations[i], 100);
    cr_expect_eq(relations[TRIAL_BESIDE], 0);
    cr_expect_geq(n_sequences, 200);
    cr_expect_geq(n_full, 20);
    cr_expect_geq(n_loose, 200);
}

Test(fuzz, what_is_not_promised_is_not_asked)
{
    struct fuzz_generator generator = make_generator(5);
    generator.claims = (struct topk_claims){.level = TOPK_LEVEL_VALID, .tie = TOPK_TIE_ANY, .outputs = TOPK_OUTPUTS_PAGE,
                                            .max_topk = 100};
    generator.max_length = 3000;
    for (int64_t number = 1; number <= 800; number++) {
        struct fuzz_problem problem = {0};
        struct error        err = {0};
        cr_assert_eq(fuzz_problem_make(&generator, number, &problem, &err), STATUS_OK);
        cr_assert_eq(problem.trial.outputs, OUTPUTS_PAGE);
        for (int32_t p = 0; p < problem.trial.n_problems; p++) {
            cr_assert_leq(problem.inputs[p].topk, 100);
            check_inputs(&generator, &problem.inputs[p]);
        }
        fuzz_problem_clear(&problem);
    }
}

Test(fuzz, a_finding_comes_back_from_its_file)
{
    struct fuzz_generator generator = make_generator(2);
    static struct finding finding, got;
    char                  path[64], before[DIGEST_HEX], after[DIGEST_HEX];
    snprintf(path, sizeof path, "/tmp/topkcts-finding-%ld.json", (long)getpid());
    for (int64_t number = 1; number <= 60; number++) {
        struct fuzz_problem problem = {0};
        struct error        err = {0};
        cr_assert_eq(fuzz_problem_make(&generator, number, &problem, &err), STATUS_OK);
        memset(&finding, 0, sizeof finding);
        snprintf(finding.provider, sizeof finding.provider, "./it's \"mine\".so");
        snprintf(finding.reason, sizeof finding.reason, "bytes \xff that are no text");
        finding.verdict = VERDICT_CRASH;
        finding.level = TOPK_LEVEL_SAFE;
        finding.promised = TOPK_LEVEL_CANONICAL;
        finding.problem = number;
        finding.trial = problem.trial;
        finding.trial.problems = problem.inputs;
        cr_assert_eq(finding_write(path, &finding, &err), STATUS_OK, "%s", err.text);
        cr_assert_eq(finding_read(path, &got, &err), STATUS_OK, "%s", err.text);
        cr_assert_str_eq(got.provider, finding.provider);
        cr_assert_eq(got.verdict, VERDICT_CRASH);
        cr_assert_eq(got.level, TOPK_LEVEL_SAFE);
        cr_assert_eq(got.trial.relations, problem.trial.relations);
        cr_assert_eq(got.trial.seed, problem.trial.seed);
        cr_assert_eq(got.trial.plan, problem.trial.plan);
        cr_assert_eq(got.trial.outputs, problem.trial.outputs);
        cr_assert_eq(got.trial.n_problems, problem.trial.n_problems);
        for (int32_t p = 0; p < got.trial.n_problems; p++) {
            digest_of_inputs(&problem.inputs[p], before);
            digest_of_inputs(&got.trial.problems[p], after);
            cr_assert_str_eq(before, after, "problem %d of number %d", (int)p, (int)number);
        }
        finding_clear(&got);
        fuzz_problem_clear(&problem);
    }
    unlink(path);
}

Test(fuzz, a_spoilt_finding_says_where)
{
    static const char *const texts[][2] = {
        {"", "line"},
        {"{\"finding\": 2}", "finding"},
        {"{\"finding\": 1, \"verdict\": \"bad\"}", "verdict: accepted are pass"},
        {"{\"finding\": 1, \"verdict\": \"fail\", \"level\": \"safe\", \"promised\": \"canonical\", \"trial\": {\"outputs\": \"page\", "
         "\"plan\": \"once\", \"repeats\": 0, \"problems\": [{\"topk\": 1, \"page_size\": 3, \"batch\": 1, \"max_seq_len\": 2, "
         "\"score_stride\": 2, \"page_table_stride\": 1, \"base_shift\": 0, \"rows\": [\"1, 2\"], \"pages\": [\"0\"]}]}}",
         "trial problem 1 page_size: a power of two"},
        {"{\"finding\": 1, \"verdict\": \"fail\", \"level\": \"safe\", \"promised\": \"canonical\", \"trial\": {\"outputs\": \"page\", "
         "\"plan\": \"once\", \"repeats\": 0, \"problems\": [{\"topk\": 1, \"page_size\": 4, \"batch\": 1, \"max_seq_len\": 2, "
         "\"score_stride\": 3, \"page_table_stride\": 1, \"base_shift\": 0, \"rows\": [\"1, 2\"], \"pages\": [\"0\"]}]}}",
         "rows[0]: 2 scores where score_stride asks for 3"},
    };
    static struct finding got;
    char                  path[64];
    snprintf(path, sizeof path, "/tmp/topkcts-finding-%ld.json", (long)getpid());
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct error err = {0};
        FILE        *file = fopen(path, "w");
        cr_assert_not_null(file);
        fputs(texts[i][0], file);
        fclose(file);
        cr_expect_eq(finding_read(path, &got, &err), STATUS_USAGE);
        cr_expect(strstr(err.text, texts[i][1]) && strstr(err.text, path), "'%s' lacks '%s'", err.text, texts[i][1]);
    }
    unlink(path);
}
