/* SPDX-License-Identifier: Apache-2.0 */
/* Can what was found be had again, and with what; see fuzz_run.h. */
#include "harness/fuzz/fuzz_run.h"

#include <stdlib.h>
#include <string.h>

enum { TIMES = 2, MANY = 256 };

/* Moves the problems of `from` in front of those of *problem, the ones farthest away dropped where there is no room. */
static void put_before(struct fuzz_problem *problem, struct fuzz_problem *from)
{
    int32_t room = TRIAL_MAX_PROBLEMS - problem->trial.n_problems, n = from->trial.n_problems;
    int32_t kept = n < room ? n : room;
    memmove(&problem->inputs[kept], &problem->inputs[0], (size_t)problem->trial.n_problems * sizeof problem->inputs[0]);
    memcpy(&problem->inputs[0], &from->inputs[n - kept], (size_t)kept * sizeof problem->inputs[0]);
    problem->trial.n_problems += kept;
    from->trial.n_problems -= kept; /* the rest is still its own */
}

/* The example's problem behind the `n_before` problems that came before it. */
static enum status make_behind(const struct fuzz_run *run, const struct fuzz_example *example, size_t n_before,
                               struct fuzz_problem *problem, struct error *err)
{
    struct fuzz_problem *before = calloc(1, sizeof *before);
    if (!before)
        return error_no_memory(err);
    if (!fuzz_problem_make(&run->generator, example->number, problem, err))
        for (size_t b = 0; b < n_before && b < example->n_before && problem->trial.n_problems < TRIAL_MAX_PROBLEMS; b++) {
            if (fuzz_problem_make(&run->generator, example->before[b], before, err))
                break;
            put_before(problem, before);
            fuzz_problem_clear(before);
        }
    problem->trial.problems = problem->inputs;
    free(before);
    return err->status;
}

/* How often of TIMES a trial fails as it did, each time in a fresh worker. */
static int times_again(struct trial_session *session, struct fuzz_problem *problem, const struct fuzz_kind *kind, int times,
                       struct error *err)
{
    int n = 0;
    for (int t = 0; t < times && !err->status; t++) {
        struct judgement judgement;
        char             text[TRIAL_KIND_BYTES];
        problem->trial.problems = problem->inputs;
        if (trial_session_restart(session, err) || trial_session_run(session, &problem->trial, 1, &judgement, err))
            break;
        trial_reason_kind(judgement.reason, text);
        n += judgement.verdict == kind->verdict && judgement.level == kind->level && strcmp(text, kind->kind) == 0;
        if (judgement.verdict == VERDICT_TIMEOUT)
            return n ? times : 0; /* once is long enough */
    }
    return n;
}

static void try_behind(struct fuzz_run *run, struct trial_session *session, const struct fuzz_kind *kind,
                       struct fuzz_example *example, struct error *err)
{
    for (size_t n = 1; example->again == FUZZ_AGAIN_UNTRIED && !err->status; n = n * 2 > example->n_before ? example->n_before : n * 2) {
        struct fuzz_problem problem = {0};
        n = n > example->n_before ? example->n_before : n;
        if (n == 0 || make_behind(run, example, n, &problem, err))
            return;
        if (times_again(session, &problem, kind, TIMES, err) == TIMES) {
            example->again = FUZZ_AGAIN_BEHIND;
            example->n_needed = (int32_t)n;
        }
        fuzz_problem_clear(&problem);
        if (n == example->n_before)
            return;
    }
}

static void confirm(struct fuzz_run *run, struct trial_session *session, const struct fuzz_kind *kind,
                    struct fuzz_example *example, struct error *err)
{
    struct fuzz_problem problem = {0};
    if (fuzz_problem_make(&run->generator, example->number, &problem, err))
        return;
    int alone = times_again(session, &problem, kind, TIMES, err);
    if (alone == TIMES)
        example->again = FUZZ_AGAIN_ALONE;
    else
        try_behind(run, session, kind, example, err);
    if (example->again == FUZZ_AGAIN_UNTRIED && !err->status) {
        problem.trial.repeats = MANY;
        example->again = times_again(session, &problem, kind, TIMES, err) == TIMES ? FUZZ_AGAIN_REPEATED : FUZZ_AGAIN_NEVER;
        example->n_needed = MANY;
    }
    fuzz_problem_clear(&problem);
}

enum status fuzz_confirm(struct fuzz_run *run, struct trial_session *session, struct error *err)
{
    for (size_t k = 0; k < run->n_kinds; k++)
        for (size_t e = 0; e < run->kinds[k].n_examples && !err->status; e++)
            confirm(run, session, &run->kinds[k], &run->kinds[k].examples[e], err);
    return err->status;
}

enum status fuzz_example_trial(const struct fuzz_run *run, const struct fuzz_example *example,
                               struct fuzz_problem *problem, struct error *err)
{
    size_t n_before = example->again == FUZZ_AGAIN_BEHIND ? (size_t)example->n_needed : 0;
    if (!make_behind(run, example, n_before, problem, err) && example->again == FUZZ_AGAIN_REPEATED)
        problem->trial.repeats = example->n_needed;
    return err->status;
}
