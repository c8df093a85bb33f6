/* SPDX-License-Identifier: Apache-2.0 */
/* Judging a trial; see trial.h. The relations themselves are in judge_relation.c. */
#include "harness/judge_relation.h"
#include "harness/judging.h"
#include "harness/trial.h"

#include "harness/claims.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory that each buffer of a bench keeps from trial to trial; more goes back, since the look at what was written far off
 * reads all of it. */
enum { KEPT_BYTES = 96 << 10 };

static bool has_nan(const struct case_inputs *inputs, int32_t row, int32_t *column)
{
    const uint32_t *scores = inputs->scores + (int64_t)row * inputs->score_stride;
    int32_t         length = inputs->seq_lens[row] < inputs->max_seq_len ? inputs->seq_lens[row] : inputs->max_seq_len;
    for (int32_t i = 0; i < length; i++)
        if ((scores[i] & 0x7fffffffu) > 0x7f800000u) {
            *column = i;
            return true;
        }
    return false;
}

bool trial_is_promised(const struct case_inputs *inputs, const struct topk_claims *claims, enum topk_level *level,
                       char *why, size_t why_size)
{
    int32_t column;
    *level = claims->level;
    if (inputs->topk < 1 || inputs->topk > claims_max_topk(claims)) {
        snprintf(why, why_size, "topk %" PRId32 " where 1 .. %" PRId32 " are promised", inputs->topk,
                 claims_max_topk(claims));
        return false;
    }
    for (int32_t row = 0; row < inputs->batch; row++) {
        int32_t length = inputs->seq_lens[row];
        if ((length < 0 && claims->negative_length == TOPK_NEGATIVE_LENGTH_NONE) ||
            (length > inputs->max_seq_len && claims->overlong == TOPK_OVERLONG_NONE)) {
            snprintf(why, why_size, "row %" PRId32 " has length %" PRId32 " in a width of %" PRId32, row, length,
                     inputs->max_seq_len);
            return false;
        }
        if ((claims->nan != TOPK_NAN_NONE && claims->nan != TOPK_NAN_ANY) || !has_nan(inputs, row, &column))
            continue;
        if (claims->nan == TOPK_NAN_NONE) {
            snprintf(why, why_size, "row %" PRId32 " has NaN at %" PRId32, row, column);
            return false;
        }
        if (*level > TOPK_LEVEL_VALID)
            *level = TOPK_LEVEL_VALID; /* which NaN are taken is left open */
    }
    return true;
}

/* What the trial asks, against what is promised. */
static bool is_promised(const struct trial *trial, const struct topk_claims *claims, struct judgement *judgement)
{
    char            why[192];
    enum topk_level level;
    judgement->promised = claims->level;
    if ((trial->outputs != OUTPUTS_PAGE && claims->outputs == TOPK_OUTPUTS_PAGE) ||
        (trial->outputs != OUTPUTS_RAW && claims->outputs == TOPK_OUTPUTS_RAW)) {
        snprintf(judgement->reason, sizeof judgement->reason, "not promised: outputs %s", outputs_text(trial->outputs));
        return false;
    }
    for (int32_t p = 0; p < trial->n_problems; p++) {
        if (!trial_is_promised(&trial->problems[p], claims, &level, why, sizeof why)) {
            snprintf(judgement->reason, sizeof judgement->reason, "not promised: problem %d: %s", p + 1, why);
            return false;
        }
        if (level < judgement->promised)
            judgement->promised = level;
    }
    return true;
}

/* Inputs with their answers; the last problem is judged, the others are its steps. */
static void make_problems(struct judging *judging, const struct trial *trial)
{
    judging->steps = calloc((size_t)trial->n_problems, sizeof *judging->steps);
    if (!judging->steps) {
        error_no_memory(&judging->error);
        return;
    }
    for (int32_t p = 0; p < trial->n_problems && !judging->error.status; p++) {
        bool               is_last = p == trial->n_problems - 1;
        struct case_inputs inputs;
        if (problem_copy_inputs(&trial->problems[p], &inputs, &judging->error))
            return;
        if (is_last)
            digest_of_inputs(&inputs, judging->judgement->input_hash);
        if (!problem_make(is_last ? &judging->problem : &judging->steps[p], &inputs, &judging->bench->provider->claims,
                          &judging->error) &&
            !is_last)
            judging->n_steps++;
    }
    if (judging->error.status)
        return;
    judging->rows = malloc((size_t)judging->problem.inputs.batch * sizeof *judging->rows);
    if (!judging->rows)
        error_no_memory(&judging->error);
}

/* The problems in order, each once, over the same workspace; the last one as often as was asked. False when the
 * provider does not take the last one. */
static bool launch_once(struct judging *judging, const struct trial *trial)
{
    size_t n_steps = judging->n_steps;
    for (size_t s = 0; s < n_steps && !judging_is_decided(judging); s++) {
        struct launch_form form = {.what = "another problem of the sequence",
                                   .pattern = ++judging->launches,
                                   .workspace = s ? WORKSPACE_KEPT : WORKSPACE_PATTERN,
                                   .turn = judging->turn++};
        if (!launch_run(judging->bench, &judging->steps[s], &form, &judging->last, &judging->error) && judging->last.ran)
            judging_check(judging, &judging->steps[s], &form, &judging->last);
    }
    judging->n_steps = 0; /* judging_launch would launch them before every launch */
    bool supported = true;
    for (int32_t i = 0; supported && (i == 0 || i < trial->repeats) && !judging_is_decided(judging); i++) {
        struct launch_form form = {.what = "the problem itself",
                                   .turn = judging->turn++,
                                   .workspace = i == 0 && n_steps ? WORKSPACE_KEPT : WORKSPACE_PATTERN};
        supported = judging_launch(judging, &judging->problem, form, COMPARE_REPEAT);
        if (i == 0 || judging->last.us < judging->judgement->launch_us)
            judging->judgement->launch_us = judging->last.us;
    }
    judging->n_steps = n_steps;
    return supported;
}

static bool launch_fully(struct judging *judging, const struct trial *trial)
{
    int32_t repeats = judging->bench->device->default_repeats;
    if (!judging_repeat(judging, trial->repeats > repeats ? trial->repeats : repeats))
        return false;
    judging_follow_plan(judging);
    return true;
}

static void run_relations(struct judging *judging, const struct trial *trial)
{
    size_t n_steps = judging->n_steps;
    judging->n_steps = 0;
    for (int relation = 0; relation < N_TRIAL_RELATIONS && !judging_is_decided(judging); relation++)
        if (trial->relations & 1u << relation)
            judge_relation(judging, (enum trial_relation)relation, trial->seed);
    judging->n_steps = n_steps;
}

/* As judging_conclude, for what was launched; and buffers of odd sizes go back. */
static void conclude(struct judging *judging, bool supported)
{
    struct judgement *judgement = judging->judgement;
    if (judging->launches)
        judging_look_afar(judging);
    judging_conclude(judging, supported);
    judgement->repeats = judging->launches;
    if (judgement->level > judgement->promised && judgement->promised < judging->bench->provider->claims.level)
        judgement->level = judgement->promised; /* what the claim leaves unranked is not judged beyond */
    if (judgement->verdict == VERDICT_PASS) {
        judgement->reason[0] = '\0';
        judgement->n_differences = 0;
    }
    struct launch_bench *bench = judging->bench;
    struct guarded *buffers[] = {&bench->scores, &bench->seq_lens, &bench->page_table, &bench->pages, &bench->raw,
                                 &bench->workspace};
    for (size_t b = 0; bench->device->host_visible && b < sizeof buffers / sizeof buffers[0]; b++)
        if (buffers[b]->capacity > KEPT_BYTES)
            guarded_free(buffers[b]);
}

void judge_trial(struct launch_bench *bench, const struct trial *trial, struct judgement *judgement)
{
    struct judging judging = {.bench = bench, .judgement = judgement, .missed = JUDGING_NOTHING_MISSED};
    bool           supported = true;
    memset(judgement, 0, sizeof *judgement);
    judgement->set_exact = -1;
    bench->with_pages = trial->outputs != OUTPUTS_RAW;
    bench->with_raw = trial->outputs != OUTPUTS_PAGE;
    if (trial->n_problems < 1 || trial->n_problems > TRIAL_MAX_PROBLEMS) {
        judgement->verdict = VERDICT_ERROR;
        snprintf(judgement->reason, sizeof judgement->reason, "a trial has 1 to %d problems, not %d", TRIAL_MAX_PROBLEMS,
                 trial->n_problems);
        return;
    }
    if (!is_promised(trial, &bench->provider->claims, judgement)) {
        judgement->verdict = VERDICT_SKIP;
        return;
    }
    make_problems(&judging, trial);
    if (!judging.error.status)
        supported = trial->plan == TRIAL_FULL ? launch_fully(&judging, trial) : launch_once(&judging, trial);
    if (!judging.error.status && supported && judging.has_first[0])
        run_relations(&judging, trial);
    conclude(&judging, supported);
    judging_clear(&judging);
}
