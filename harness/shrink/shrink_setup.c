/* SPDX-License-Identifier: Apache-2.0 */
/* How a failure is to be seen; see shrink_setup.h. */
#include "harness/shrink/shrink_setup.h"

#include <stdlib.h>
#include <string.h>

static bool is_failure(enum verdict verdict)
{
    return verdict == VERDICT_FAIL || verdict == VERDICT_CRASH || verdict == VERDICT_TIMEOUT;
}

/* Runs `now` in a fresh worker. */
static bool run_fresh(struct shrinking *shrinking, struct judgement *judgement)
{
    if (trial_session_restart(shrinking->session, shrinking->err))
        return false;
    shrink_fails(shrinking, &shrinking->now, judgement);
    return !shrinking->err->status;
}

static void keep_failure(struct shrinking *shrinking, const struct judgement *judgement)
{
    shrinking->failure.verdict = judgement->verdict;
    shrinking->failure.level = judgement->level;
    trial_reason_kind(judgement->reason, shrinking->failure.kind);
    snprintf(shrinking->failure.reason, sizeof shrinking->failure.reason, "%s", judgement->reason);
}

/* Runs `now` up to `attempts` times until it fails in any way; that is then the failure. */
static bool find_failure(struct shrinking *shrinking, int attempts, struct judgement *judgement)
{
    for (int attempt = 0; attempt < attempts; attempt++) {
        if (!run_fresh(shrinking, judgement))
            return false;
        if (is_failure(judgement->verdict)) {
            keep_failure(shrinking, judgement);
            return true;
        }
    }
    return false;
}

/* The problem of a sweep that fails. */
static bool find_swept(struct shrinking *shrinking, const struct shrink_source *source, struct judgement *judgement)
{
    int64_t n = shrink_source_sweeps(source);
    for (int64_t i = 0; i < n && !shrinking->err->status; i++) {
        struct small_trial swept = {0};
        struct error       illegal = {0};
        if (shrink_source_sweep(source, i, &swept, &illegal))
            continue;
        shrinking->plan = TRIAL_ONCE;
        shrink_fails(shrinking, &swept, judgement);
        shrinking->plan = TRIAL_FULL;
        if (!is_failure(judgement->verdict)) {
            small_trial_clear(&swept);
            continue;
        }
        small_trial_clear(&shrinking->now);
        shrinking->now = swept;
        if (find_failure(shrinking, 1, judgement))
            return true;
    }
    return false;
}

/* How often `now` fails in workers of their own, of `attempts`. */
static int count_failures(struct shrinking *shrinking, int attempts)
{
    int n = 0;
    for (int attempt = 0; attempt < attempts && !shrinking->err->status; attempt++)
        if (!trial_session_restart(shrinking->session, shrinking->err))
            n += shrink_fails(shrinking, &shrinking->now, NULL);
    return n;
}

/* More launches, then more attempts, until the failure is there every time. */
static void settle_flakiness(struct shrinking *shrinking)
{
    enum { ATTEMPTS = 4, MAX_VOTES = 24 };
    static const int32_t repeats[] = {25, 100, 400};
    int                  failures = count_failures(shrinking, ATTEMPTS);
    for (size_t r = 0; r < sizeof repeats / sizeof repeats[0] && failures < ATTEMPTS; r++)
        if (repeats[r] > shrinking->repeats) {
            shrinking->repeats = repeats[r];
            failures = count_failures(shrinking, ATTEMPTS);
        }
    if (failures < ATTEMPTS)
        shrinking->votes = failures ? MAX_VOTES / failures : MAX_VOTES;
}

static enum status passes(const struct shrink_source *source, const struct judgement *judgement, struct error *err)
{
    if (judgement->verdict == VERDICT_SKIP || judgement->verdict == VERDICT_ERROR)
        return error_set(err, STATUS_USAGE, "%s is not judged for %s: %s", source->from, source->provider, judgement->reason);
    return error_set(err, STATUS_USAGE, "%s passes for %s, five times in workers of their own: there is nothing to make small",
                     source->from, source->provider);
}

enum status shrink_setup(struct shrinking *shrinking, const struct shrink_source *source, struct error *err)
{
    struct judgement judgement = {.verdict = VERDICT_ERROR};
    if (small_trial_copy(&shrinking->now, &source->trial, err))
        return err->status;
    shrinking->votes = 1;
    shrinking->plan = TRIAL_FULL;
    shrinking->repeats = source->repeats;
    shrinking->bound = INT64_MAX;
    bool found = find_failure(shrinking, 1, &judgement);
    if (!found && !err->status && source->plan != TRIAL_FULL) { /* a finding that the judge's plan does not show */
        shrinking->plan = source->plan;
        shrinking->relations = source->relations;
        shrinking->seed = source->seed;
        found = find_failure(shrinking, 2, &judgement);
    }
    if (!found && !err->status && judgement.verdict == VERDICT_PASS)
        found = find_failure(shrinking, 4, &judgement) || find_swept(shrinking, source, &judgement);
    if (err->status)
        return err->status;
    if (!found)
        return passes(source, &judgement, err);
    if (shrinking->failure.verdict == VERDICT_TIMEOUT) /* each look at it takes seconds */
        return STATUS_OK;
    settle_flakiness(shrinking);
    /* Again in a worker that has just run it: what it leaves behind may hide the failure. */
    shrinking->fresh = !err->status && shrinking->votes == 1 && !shrink_fails(shrinking, &shrinking->now, NULL);
    return err->status;
}

/* ---- the least that has to be launched -------------------------------------------------------------------------- */

static void reverse(uint32_t *scores, int64_t n)
{
    for (int64_t i = 0, j = n - 1; i < j; i++, j--) {
        uint32_t score = scores[i];
        scores[i] = scores[j];
        scores[j] = score;
    }
}

/* The same rows, each one place further up; of one row its columns from behind. As the judge's plan has it. */
static void turn(struct small_problem *problem)
{
    if (problem->n_rows == 1) {
        reverse(problem->rows[0].scores, problem->rows[0].length);
        return;
    }
    struct small_row first = problem->rows[0];
    memmove(problem->rows, problem->rows + 1, (size_t)(problem->n_rows - 1) * sizeof first);
    problem->rows[problem->n_rows - 1] = first;
}

/* Takes over a trial that shows the same failure when launched once. */
static bool take_simpler(struct shrinking *shrinking, struct small_trial *trial, int32_t repeats)
{
    enum trial_plan plan = shrinking->plan;
    int32_t         before = shrinking->repeats;
    uint32_t        relations = shrinking->relations;
    shrinking->plan = TRIAL_ONCE;
    shrinking->repeats = repeats;
    shrinking->relations = 0;
    if (!trial_session_restart(shrinking->session, shrinking->err) && shrink_fails(shrinking, trial, NULL)) {
        small_trial_clear(&shrinking->now);
        shrinking->now = *trial;
        return true;
    }
    shrinking->plan = plan;
    shrinking->repeats = before;
    shrinking->relations = relations;
    small_trial_clear(trial);
    return false;
}

bool shrink_setup_simpler(struct shrinking *shrinking)
{
    struct small_trial trial = {0}, turned = {0};
    int32_t            repeats = shrinking->repeats > 1 ? shrinking->repeats : 1;
    for (int variant = 0; variant < 3 && !shrinking->err->status; variant++) {
        if (variant == 2 && repeats > 4)
            break;
        if (small_trial_copy(&trial, &shrinking->now, shrinking->err))
            return false;
        if (variant == 1)
            turn(&trial.problems[trial.n_problems - 1]);
        if (take_simpler(shrinking, &trial, variant == 2 ? 4 : repeats))
            return true;
    }
    /* After itself turned round: what a launch leaves behind. */
    int32_t n = shrinking->now.n_problems;
    if (shrinking->err->status || n > 1 || small_trial_copy(&turned, &shrinking->now, shrinking->err))
        return false;
    turn(&turned.problems[0]);
    if (small_trial_copy(&trial, &shrinking->now, shrinking->err)) {
        small_trial_clear(&turned);
        return false;
    }
    struct small_problem *both = calloc(3, sizeof *both);
    if (!both) {
        small_trial_clear(&turned);
        small_trial_clear(&trial);
        return false;
    }
    both[0] = turned.problems[0];
    both[1] = trial.problems[0];
    free(turned.problems);
    free(trial.problems);
    trial.problems = both;
    trial.n_problems = 2;
    return take_simpler(shrinking, &trial, 1);
}
