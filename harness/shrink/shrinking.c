/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a candidate fails in the same way, and the order of passes; see shrinking.h. */
#include "harness/shrink/shrinking.h"

#include "harness/clock.h"

#include <stdlib.h>
#include <string.h>

static bool is_same_failure(const struct failure *failure, const struct judgement *judgement)
{
    char kind[TRIAL_KIND_BYTES];
    if (judgement->verdict != failure->verdict)
        return false;
    if (failure->verdict != VERDICT_FAIL)
        return true;
    trial_reason_kind(judgement->reason, kind);
    return judgement->level == failure->level && strcmp(kind, failure->kind) == 0;
}

/* The inputs of every problem; false when one of them is no legal problem. */
static bool make_inputs(const struct small_trial *trial, const char *id, struct case_inputs *inputs)
{
    for (int32_t p = 0; p < trial->n_problems; p++) {
        struct error illegal = {0};
        if (small_problem_inputs(&trial->problems[p], id, &inputs[p], &illegal))
            return false;
    }
    return true;
}

bool shrink_fails(struct shrinking *shrinking, const struct small_trial *trial, struct judgement *judgement)
{
    struct case_inputs inputs[TRIAL_MAX_PROBLEMS] = {{0}};
    struct judgement   own = {0};
    bool               fails = false;
    judgement = judgement ? judgement : &own;
    *judgement = own;
    judgement->verdict = VERDICT_ERROR;
    if (trial->n_problems <= TRIAL_MAX_PROBLEMS && make_inputs(trial, shrinking->id, inputs)) {
        struct trial asked = {.problems = inputs,
                              .n_problems = trial->n_problems,
                              .outputs = trial->outputs,
                              .plan = shrinking->plan,
                              .repeats = shrinking->repeats,
                              .relations = shrinking->relations,
                              .seed = shrinking->seed};
        for (int32_t vote = 0; vote < shrinking->votes && !fails && !shrinking->err->status; vote++) {
            if (shrinking->fresh && trial_session_restart(shrinking->session, shrinking->err))
                break;
            if (!trial_session_run(shrinking->session, &asked, 1, judgement, shrinking->err))
                fails = is_same_failure(&shrinking->failure, judgement);
        }
        shrinking->tried++;
        shrinking->failed += fails;
    }
    for (int32_t p = 0; p < trial->n_problems && p < TRIAL_MAX_PROBLEMS; p++)
        case_inputs_clear(&inputs[p]);
    return fails;
}

bool shrink_candidate(struct shrinking *shrinking, struct small_trial *candidate)
{
    shrinking->out_of_time |= clock_ms() >= shrinking->deadline;
    if (shrinking->out_of_time || shrinking->err->status || shrinking->tried >= shrinking->bound)
        return false;
    return small_trial_copy(candidate, &shrinking->now, shrinking->err) == STATUS_OK;
}

bool shrink_try(struct shrinking *shrinking, struct small_trial *candidate)
{
    for (int32_t p = 0; p < candidate->n_problems; p++)
        shrink_settle(&candidate->problems[p]);
    if (shrink_compare(candidate, &shrinking->now) < 0 && shrink_fails(shrinking, candidate, NULL)) {
        small_trial_clear(&shrinking->now);
        shrinking->now = *candidate;
        memset(candidate, 0, sizeof *candidate);
        return true;
    }
    small_trial_clear(candidate);
    return false;
}

/* Runs a pass with a bound on its attempts, then asks a fresh worker: what only failed because of the attempts before it
 * is taken back, and from then on every attempt has a worker of its own. */
static bool run_pass(struct shrinking *shrinking, bool (*pass)(struct shrinking *), int64_t attempts)
{
    struct small_trial before = {0};
    if (shrinking->err->status || shrinking->out_of_time || small_trial_copy(&before, &shrinking->now, shrinking->err))
        return false;
    shrinking->bound = shrinking->tried + attempts;
    bool smaller = pass(shrinking);
    if (smaller && !shrinking->fresh && !shrinking->err->status) {
        if (trial_session_restart(shrinking->session, shrinking->err) ||
            !shrink_fails(shrinking, &shrinking->now, NULL)) {
            small_trial_clear(&shrinking->now);
            shrinking->now = before;
            shrinking->fresh = true;
            return true; /* go on, more carefully */
        }
    }
    small_trial_clear(&before);
    return smaller;
}

enum status shrink_run(struct shrinking *shrinking)
{
    enum { MAX_ROUNDS = 8 };
    static const struct {
        bool (*pass)(struct shrinking *);
        int64_t attempts;
    } passes[] = {{shrink_layout, 200},   {shrink_launches, 200}, {shrink_rows, 400},   {shrink_to_classes, 50},
                  {shrink_order, 20},     {shrink_halves, 400},   {shrink_topk, 100},   {shrink_winners, 300},
                  {shrink_values, 600},   {shrink_order, 100},  {shrink_run_lengths, 1000},
                  {shrink_columns, 1200}, {shrink_topk, 200},     {shrink_layout, 200}, {shrink_values, 600},
                  {shrink_run_lengths, 1000}};
    bool smaller = true;
    for (int round = 0; round < MAX_ROUNDS && smaller; round++) {
        smaller = false;
        for (size_t p = 0; p < sizeof passes / sizeof passes[0]; p++)
            smaller |= run_pass(shrinking, passes[p].pass, passes[p].attempts);
    }
    return shrinking->err->status;
}
