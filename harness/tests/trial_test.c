/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials: what only a relation shows is seen by that relation and by no other launch; the reference keeps all of them;
 * what is packed into shared memory comes out as it went in; reasons that differ in numbers are of one kind.
 */
#include "harness/provider_load.h"
#include "harness/trial.h"
#include "harness/trial_memory.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* When the spoilt provider breaks the reference's answer. */
static enum trial_relation spoil;
static int32_t             launches;
static const float        *first_scores;
static float               first_score, previous_score;
static bool                was_beside; /* the second provider has launched since */

static bool is_spoilt(const struct topk_problem *p)
{
    const float *row = p->scores;
    float        before = previous_score;
    uint32_t     bits;
    int32_t      largest = 0;
    previous_score = row[0];
    launches++;
    if (launches == 1) {
        first_scores = p->scores;
        first_score = row[0];
        return false;
    }
    switch (spoil) {
    case TRIAL_AGAIN:
    case TRIAL_ROWS:
        return p->batch == 4 && (spoil == TRIAL_AGAIN || row[0] != first_score);
    case TRIAL_SPLIT:
        return p->batch < 4;
    case TRIAL_MEMORY:
        return p->scores != first_scores || ((const unsigned char *)p->workspace)[0] != 0x71;
    case TRIAL_BETWEEN:
        return before != row[0];
    case TRIAL_COLUMNS:
        for (int32_t i = 0; i < p->seq_lens[0]; i++)
            largest = row[i] > row[largest] ? i : largest;
        return row[0] != first_score && p->seq_lens[0] == 300 && p->topk == 64 && row[largest] == 299.0f;
    case TRIAL_APPENDED:
        return p->seq_lens[0] > 300;
    case TRIAL_GARBAGE:
        memcpy(&bits, &row[p->seq_lens[0]], sizeof bits);
        return bits != 0x7f800000u;
    case TRIAL_NEXT_TOPK:
        return p->topk != 64;
    case TRIAL_SCALED:
        return row[0] != first_score && row[0] + row[0] != row[0] && row[1] == 0.0f && (row[2] != 2.0f);
    case TRIAL_ZEROES:
        memcpy(&bits, &row[1], sizeof bits);
        return bits == 0x80000000u;
    case TRIAL_BESIDE:
        return was_beside;
    case N_TRIAL_RELATIONS:
        return false;
    }
    return false;
}

static int launch_spoilt(void *self, const struct topk_problem *p, char *err, size_t err_size)
{
    int code = provider_reference.launch(self, p, err, err_size);
    if (is_spoilt(p))
        p->raw_indices[0] = p->raw_indices[1];
    return code;
}

static int launch_beside(void *self, const struct topk_problem *p, char *err, size_t err_size)
{
    was_beside = true;
    return provider_reference.launch(self, p, err, err_size);
}

static size_t some_workspace(void *self, const struct topk_problem *p)
{
    (void)self;
    (void)p;
    return 64;
}

/* Four rows of 300 scores 1, 0, 2, 3 ... 299, with the first one row by row larger, so that rows can be told apart. */
static struct case_inputs make_inputs(void)
{
    struct case_inputs inputs = {.score_stride = 307, .page_table_stride = 5, .batch = 4, .topk = 64, .page_size = 64,
                                 .max_seq_len = 300, .base_shift = 3};
    inputs.scores = malloc(case_scores_bytes(&inputs));
    inputs.seq_lens = malloc(case_seq_lens_bytes(&inputs));
    inputs.page_table = malloc(case_page_table_bytes(&inputs));
    for (int32_t row = 0; row < 4; row++) {
        inputs.seq_lens[row] = 300;
        for (int32_t i = 0; i < 307; i++) {
            float value = i == 0 ? 1.0f + 0.125f * (float)row : i == 1 ? 0.0f : (float)i;
            memcpy(&inputs.scores[row * 307 + i], &value, sizeof value);
            if (i >= 300)
                inputs.scores[row * 307 + i] = 0x7f800000u;
        }
        for (int32_t p = 0; p < 5; p++)
            inputs.page_table[row * 5 + p] = row * 5 + (p * 3) % 5;
    }
    return inputs;
}

static struct judgement judge_with(enum trial_relation fault, uint32_t relations, enum trial_plan plan, uint64_t seed)
{
    struct topk_provider provider = provider_reference, beside = provider_reference;
    struct device        device;
    struct error         err = {0};
    struct case_inputs   inputs = make_inputs();
    struct judgement     judgement;
    struct trial         trial = {.problems = &inputs, .n_problems = 1, .outputs = OUTPUTS_PAGE_RAW, .plan = plan,
                                  .relations = relations, .seed = seed};
    spoil = fault;
    launches = 0;
    was_beside = false;
    beside.launch = launch_beside;
    provider.launch = launch_spoilt;
    provider.workspace_bytes = some_workspace;
    cr_assert_eq(device_open(&device, "host", &err), STATUS_OK);
    struct launch_bench bench = {.device = &device, .provider = &provider, .beside = &beside};
    judge_trial(&bench, &trial, &judgement);
    launch_bench_clear(&bench);
    device_close(&device);
    case_inputs_clear(&inputs);
    return judgement;
}

Test(trial, the_reference_keeps_every_relation)
{
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct judgement judgement =
            judge_with(N_TRIAL_RELATIONS, (1u << N_TRIAL_RELATIONS) - 1, seed % 2 ? TRIAL_FULL : TRIAL_ONCE, seed);
        cr_assert_eq(judgement.verdict, VERDICT_PASS, "seed %d: %s", (int)seed, judgement.reason);
        cr_assert_eq(judgement.level, TOPK_LEVEL_CANONICAL);
        cr_assert_geq(judgement.repeats, N_TRIAL_RELATIONS, "every relation has something to say here");
    }
}

Test(trial, each_relation_shows_what_the_problem_itself_does_not)
{
    for (int relation = 0; relation < N_TRIAL_RELATIONS; relation++) {
        int n_seen = 0;
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct judgement judgement = judge_with((enum trial_relation)relation, 1u << relation, TRIAL_ONCE, seed);
            n_seen += judgement.verdict == VERDICT_FAIL && judgement.reason[0];
        }
        cr_expect_geq(n_seen, 8, "relation %s saw its fault with %d of 20 seeds",
                      trial_relation_text((enum trial_relation)relation), n_seen);
        cr_expect_eq(judge_with((enum trial_relation)relation, 0, TRIAL_ONCE, 1).verdict, VERDICT_PASS);
    }
}

Test(trial, what_is_not_promised_is_a_skip_and_names_it)
{
    struct topk_claims claims = {.level = TOPK_LEVEL_CANONICAL};
    struct case_inputs inputs = make_inputs();
    enum topk_level    level;
    char               why[128];
    cr_assert(trial_is_promised(&inputs, &claims, &level, why, sizeof why));
    cr_assert_eq(level, TOPK_LEVEL_CANONICAL);
    inputs.scores[2 * 307 + 17] = 0x7fc00000u;
    cr_assert_not(trial_is_promised(&inputs, &claims, &level, why, sizeof why));
    cr_assert_str_eq(why, "row 2 has NaN at 17");
    claims.nan = TOPK_NAN_ANY;
    cr_assert(trial_is_promised(&inputs, &claims, &level, why, sizeof why));
    cr_assert_eq(level, TOPK_LEVEL_VALID);
    inputs.seq_lens[1] = -4;
    cr_assert_not(trial_is_promised(&inputs, &claims, &level, why, sizeof why));
    inputs.seq_lens[1] = 300;
    inputs.topk = 1025;
    cr_assert_not(trial_is_promised(&inputs, &claims, &level, why, sizeof why));
    case_inputs_clear(&inputs);
}

Test(trial, memory_gives_back_what_was_packed)
{
    struct case_inputs  inputs[2] = {make_inputs(), make_inputs()}, got[TRIAL_MAX_PROBLEMS];
    struct trial        trials[3], trial;
    struct trial_memory runner = {.fd = -1}, worker;
    struct judgement    judgement;
    struct error        err = {0};
    char                path[64];
    inputs[1].topk = 7;
    for (int i = 0; i < 3; i++)
        trials[i] = (struct trial){.problems = inputs, .n_problems = 1 + i % 2, .outputs = OUTPUTS_RAW, .seed = (uint64_t)i,
                                   .plan = TRIAL_FULL, .repeats = i, .relations = 5};
    cr_assert_eq(trial_memory_pack(&runner, trials, 3, &err), STATUS_OK, "%s", err.text);
    trial_memory_path(&runner, path, sizeof path);
    cr_assert_eq(trial_memory_open(&worker, path, &err), STATUS_OK, "%s", err.text);
    cr_assert_eq(trial_memory_count(&worker), 3);
    for (size_t i = 0; i < 3; i++) {
        trial_memory_trial(&worker, i, &trial, got);
        cr_assert_eq(trial.n_problems, trials[i].n_problems);
        cr_assert_eq(trial.seed, i);
        cr_assert_eq(trial.repeats, (int32_t)i);
        cr_assert_eq(trial.plan, TRIAL_FULL);
        cr_assert_eq(trial.relations, 5);
        cr_assert_eq(got[trial.n_problems - 1].topk, i % 2 ? 7 : 64);
        cr_assert_arr_eq(got[0].scores, inputs[0].scores, case_scores_bytes(&inputs[0]));
        cr_assert_arr_eq(got[0].page_table, inputs[0].page_table, case_page_table_bytes(&inputs[0]));
        cr_assert_eq(got[0].base_shift, 3);
    }
    cr_assert_eq(trial_memory_next(&runner), 0);
    memset(trial_memory_judgement(&worker, 1), 0xff, sizeof judgement); /* what a provider might scribble */
    trial_memory_finish(&worker, 1);
    cr_assert_eq(trial_memory_next(&runner), 2);
    trial_memory_read(&runner, 1, &judgement);
    cr_assert_lt(judgement.verdict, VERDICT_COUNT);
    cr_assert_eq(strnlen(judgement.reason, sizeof judgement.reason), sizeof judgement.reason - 1);
    cr_assert_eq(judgement.n_differences, 0);
    trial_memory_close(&worker);
    trial_memory_close(&runner);
    case_inputs_clear(&inputs[0]);
    case_inputs_clear(&inputs[1]);
}

Test(trial, reasons_of_one_kind)
{
    static const char *const pairs[][2] = {
        {"not valid: launch 3 (rows rotated by one): row 2: index 17 is selected twice", "index # is selected twice"},
        {"not valid: launch 1 (the problem itself; wave 64, --schedule 3: random): row 12: index 5 is selected twice",
         "index # is selected twice"},
        {"not repeatable: launch 2 (again): row 0 gives the same set in another order than the same launch before",
         "row # gives the same set in another order than the same launch before"},
        {"not safe: launch 2 (again): wrote 16 bytes before the start of scores", "wrote # bytes before the start of scores"},
        {"in a launch: signal 11 (Segmentation fault)", "in a launch: signal # (Segmentation fault)"},
        {"not safe: launch 1 (the problem itself): row 0: raw_indices[3] is -77 where -1 pads the row (2 indices to select)",
         "raw_indices[#] is # where # pads the row (# indices to select)"},
    };
    char kind[TRIAL_KIND_BYTES];
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        trial_reason_kind(pairs[i][0], kind);
        cr_expect_str_eq(kind, pairs[i][1]);
    }
}
