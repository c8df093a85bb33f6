/* SPDX-License-Identifier: Apache-2.0 */
/* The search; see fuzz_run.h. */
#include "harness/fuzz/fuzz_run.h"

#include "harness/clock.h"
#include "harness/device.h"
#include "harness/interrupts.h"
#include "harness/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAX_LANES = 64,
    MAX_BATCH = 128,
    MAX_TIMEOUTS = 3,
    MAX_CRASHES = 200,
    SHOW_SECONDS = 10
};

#define BATCH_SECONDS 0.1 /* what a batch should take: short enough to stop in time */

/* Problems on their way to a worker and back. */
struct batch {
    struct fuzz_problem *problems; /* [MAX_BATCH] */
    size_t               n;
};

/* One worker with the batch it judges and the one that comes next. */
struct lane {
    struct trial_session *session;
    struct batch          batches[2];
    int                   current;
    bool                  is_busy;
    double                began;
    size_t                size; /* of the next batch */
    int64_t               history[FUZZ_BEFORE]; /* problems its worker has had, a ring */
    size_t                n_history;
    int32_t               workers; /* of the session, when history began */
};

struct searching {
    struct fuzz_run  *run;
    struct lane       lanes[MAX_LANES];
    size_t            n_lanes;
    int64_t           next;
    double            began, shown;
    struct trial     *trials;     /* [MAX_BATCH] */
    struct judgement *judgements; /* [MAX_BATCH] */
    struct error     *err;
};

const char *fuzz_again_text(enum fuzz_again again)
{
    static const char *const texts[] = {
        [FUZZ_AGAIN_UNTRIED] = "not tried again",
        [FUZZ_AGAIN_ALONE] = "each time, alone in a fresh worker",
        [FUZZ_AGAIN_BEHIND] = "behind other problems",
        [FUZZ_AGAIN_REPEATED] = "in one of many launches",
        [FUZZ_AGAIN_NEVER] = "not seen again",
    };
    return texts[again];
}

/* Of this process and the workers of all lanes. */
static double cpu_seconds(const struct searching *searching)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    double sum = (double)time.tv_sec + (double)time.tv_nsec / 1e9;
    for (size_t l = 0; l < searching->n_lanes; l++)
        sum += trial_session_cpu_seconds(searching->lanes[l].session);
    return sum;
}

/* ---- findings ------------------------------------------------------------------------------------------------- */

static struct fuzz_kind *find_kind(struct fuzz_run *run, const struct judgement *judgement, double seconds)
{
    char text[TRIAL_KIND_BYTES];
    trial_reason_kind(judgement->reason, text);
    for (size_t k = 0; k < run->n_kinds; k++)
        if (run->kinds[k].verdict == judgement->verdict && run->kinds[k].level == judgement->level &&
            strcmp(run->kinds[k].kind, text) == 0)
            return &run->kinds[k];
    if (run->n_kinds == FUZZ_MAX_KINDS)
        return NULL;
    struct fuzz_kind *kind = &run->kinds[run->n_kinds++];
    *kind = (struct fuzz_kind){.verdict = judgement->verdict, .level = judgement->level, .seconds = seconds};
    snprintf(kind->kind, sizeof kind->kind, "%s", text);
    return kind;
}

static void note_finding(struct searching *searching, const struct lane *lane, const struct fuzz_problem *problem,
                         const struct judgement *judgement)
{
    struct fuzz_run  *run = searching->run;
    struct fuzz_kind *kind = find_kind(run, judgement, clock_seconds() - searching->began);
    if (!kind) {
        run->n_other_kinds++;
        return;
    }
    kind->times++;
    for (size_t e = 0; e < kind->n_examples; e++)
        if (fuzz_shape_number(&kind->examples[e].shape) == fuzz_shape_number(&problem->shape)) {
            kind->examples[e].times++;
            return;
        }
    if (kind->n_examples == FUZZ_MAX_SHAPES) {
        kind->n_other_shapes++;
        return;
    }
    struct fuzz_example *example = &kind->examples[kind->n_examples++];
    *example = (struct fuzz_example){.number = problem->number, .times = 1, .shape = problem->shape,
                                     .judgement = *judgement};
    for (; example->n_before < lane->n_history && example->n_before < FUZZ_BEFORE; example->n_before++)
        example->before[example->n_before] =
            lane->history[(lane->n_history - 1 - example->n_before) % FUZZ_BEFORE];
}

/* A problem was judged. */
static void note(struct searching *searching, struct lane *lane, const struct fuzz_problem *problem,
                 const struct judgement *judgement)
{
    struct fuzz_run *run = searching->run;
    run->problems++;
    run->launches += judgement->repeats;
    if (judgement->verdict == VERDICT_SKIP) {
        run->skipped++;
        snprintf(run->skip_reason, sizeof run->skip_reason, "%.*s", (int)sizeof run->skip_reason - 1, judgement->reason);
        return;
    }
    if (judgement->verdict == VERDICT_ERROR) {
        run->errors++;
        lane->n_history = 0; /* what follows runs in a fresh worker */
        snprintf(run->error_reason, sizeof run->error_reason, "problem %lld: %.*s", (long long)problem->number,
                 (int)sizeof run->error_reason - 64, judgement->reason);
        return;
    }
    run->judged++;
    run->seen[fuzz_shape_number(&problem->shape)] = 1;
    run->full_plans += problem->trial.plan == TRIAL_FULL;
    run->sequences += problem->trial.n_problems > 1;
    for (int relation = 0; relation < N_TRIAL_RELATIONS; relation++)
        run->relations[relation] += problem->trial.relations >> relation & 1;
    if (judgement->verdict != VERDICT_PASS)
        note_finding(searching, lane, problem, judgement);
    run->crashes += judgement->verdict == VERDICT_CRASH;
    run->timeouts += judgement->verdict == VERDICT_TIMEOUT;
    if (judgement->verdict == VERDICT_CRASH || judgement->verdict == VERDICT_TIMEOUT)
        lane->n_history = 0; /* what follows runs in a fresh worker */
    else
        lane->history[lane->n_history++ % FUZZ_BEFORE] = problem->number;
}

/* ---- batches -------------------------------------------------------------------------------------------------- */

static bool is_over(const struct searching *searching)
{
    const struct fuzz_run *run = searching->run;
    return run->stopped || (run->count && searching->next >= run->first + run->count) ||
           (run->seconds > 0 && clock_seconds() - searching->began >= run->seconds);
}

/* Makes the batch that comes next. */
static void make_batch(struct searching *searching, struct lane *lane)
{
    struct batch    *batch = &lane->batches[1 - lane->current];
    struct fuzz_run *run = searching->run;
    while (batch->n < lane->size && !searching->err->status && !is_over(searching))
        if (!fuzz_problem_make(&run->generator, searching->next++, &batch->problems[batch->n], searching->err))
            batch->n++;
}

static void clear_batch(struct batch *batch)
{
    for (size_t i = 0; i < batch->n; i++)
        fuzz_problem_clear(&batch->problems[i]);
    batch->n = 0;
}

static void begin_batch(struct searching *searching, struct lane *lane)
{
    lane->current = 1 - lane->current;
    struct batch *batch = &lane->batches[lane->current];
    for (size_t i = 0; i < batch->n; i++) {
        searching->trials[i] = batch->problems[i].trial;
        searching->trials[i].problems = batch->problems[i].inputs;
    }
    lane->began = clock_seconds();
    lane->is_busy = !trial_session_begin(lane->session, searching->trials, batch->n, searching->err);
}

static void end_batch(struct searching *searching, struct lane *lane)
{
    struct batch *batch = &lane->batches[lane->current];
    double        took = clock_seconds() - lane->began;
    lane->is_busy = false;
    for (size_t i = 0; i < batch->n; i++)
        note(searching, lane, &batch->problems[i], &searching->judgements[i]);
    /* As many as fit the time, growing by at most as many again. */
    double fit = took > 0 ? (double)batch->n * BATCH_SECONDS / took : MAX_BATCH;
    size_t most = 2 * batch->n < MAX_BATCH ? 2 * batch->n : MAX_BATCH;
    lane->size = fit < 1 ? 1 : fit > (double)most ? most : (size_t)fit;
    clear_batch(batch);
}

static void check_stops(struct searching *searching)
{
    struct fuzz_run *run = searching->run;
    if (run->stopped)
        return;
    if (interrupts_so_far()) {
        run->stopped = "interrupted";
        run->is_interrupted = true;
    } else if (run->timeouts >= MAX_TIMEOUTS)
        run->stopped = "3 launches that did not end";
    else if (run->crashes >= MAX_CRASHES)
        run->stopped = "200 crashes";
    else if (run->fail_fast && run->n_kinds)
        run->stopped = "--fail-fast";
    else if (run->n_kinds == FUZZ_MAX_KINDS)
        run->stopped = "64 kinds of failures";
}

static void show(struct searching *searching)
{
    const struct fuzz_run *run = searching->run;
    double                 elapsed = clock_seconds() - searching->began;
    if (elapsed - searching->shown < SHOW_SECONDS)
        return;
    searching->shown = elapsed;
    fprintf(stderr, "fuzz: %.0f s, %lld problems, %zu kinds of failures\n", elapsed, (long long)run->problems,
            run->n_kinds);
}

/* One look at every lane. True when one of them did anything. */
static bool turn(struct searching *searching)
{
    bool any = false;
    for (size_t l = 0; l < searching->n_lanes && !searching->err->status; l++) {
        struct lane *lane = &searching->lanes[l];
        bool         is_done = false;
        if (lane->is_busy && !trial_session_poll(lane->session, 0, searching->judgements, &is_done, searching->err) &&
            is_done) {
            end_batch(searching, lane);
            any = true;
        }
        check_stops(searching);
        if (lane->batches[1 - lane->current].n == 0 && !is_over(searching)) {
            make_batch(searching, lane);
            any = true;
        }
        if (!lane->is_busy && lane->batches[1 - lane->current].n && !searching->err->status && !searching->run->stopped)
            begin_batch(searching, lane);
    }
    return any;
}

static bool any_busy(const struct searching *searching)
{
    bool busy = false;
    for (size_t l = 0; l < searching->n_lanes; l++)
        busy |= searching->lanes[l].is_busy ||
                (searching->lanes[l].batches[1 - searching->lanes[l].current].n && !searching->run->stopped);
    return busy;
}

/* Opens lanes beside the first: one a core on host and sim. */
static void open_lanes(struct searching *searching, struct trial_session *first)
{
    struct fuzz_run *run = searching->run;
    size_t           n = device_is_gpu(trial_session_device(first)) ? 1 : plan_jobs(run->settings);
    n = n > MAX_LANES ? MAX_LANES : n;
    for (size_t l = 0; l < n && !searching->err->status; l++) {
        struct lane *lane = &searching->lanes[l];
        if (l == 0)
            lane->session = first;
        else if (trial_session_open(&lane->session, run->settings, run->provider, run->device, searching->err))
            break;
        searching->n_lanes++;
        lane->size = 4;
        for (int b = 0; b < 2; b++) {
            lane->batches[b].problems = calloc(MAX_BATCH, sizeof *lane->batches[b].problems);
            if (!lane->batches[b].problems)
                error_no_memory(searching->err);
        }
    }
}

static void close_lanes(struct searching *searching)
{
    struct fuzz_run *run = searching->run;
    for (size_t l = 0; l < searching->n_lanes; l++) {
        struct lane *lane = &searching->lanes[l];
        if (l > 0)
            trial_session_close(lane->session, run->close_cause, run->close_cause[0] ? 0 : sizeof run->close_cause);
        for (int b = 0; b < 2; b++) {
            if (lane->batches[b].problems)
                clear_batch(&lane->batches[b]);
            free(lane->batches[b].problems);
        }
    }
}

enum status fuzz_search(struct fuzz_run *run, struct trial_session *session, struct error *err)
{
    struct searching *searching = calloc(1, sizeof *searching);
    if (!searching)
        return error_no_memory(err);
    searching->run = run;
    searching->err = err;
    searching->next = run->first;
    searching->trials = calloc(MAX_BATCH, sizeof *searching->trials);
    searching->judgements = calloc(MAX_BATCH, sizeof *searching->judgements);
    interrupts_catch();
    if (!searching->trials || !searching->judgements)
        error_no_memory(err);
    else
        open_lanes(searching, session);
    double cpu = cpu_seconds(searching);
    searching->began = clock_seconds();
    do {
        if (!turn(searching)) {
            struct trial_session *sessions[MAX_LANES];
            for (size_t l = 0; l < searching->n_lanes; l++)
                sessions[l] = searching->lanes[l].session;
            trial_session_wait(sessions, searching->n_lanes, 20);
        }
        show(searching);
    } while (!err->status && (any_busy(searching) || !is_over(searching)));
    run->elapsed = clock_seconds() - searching->began;
    run->cpu_seconds = cpu_seconds(searching) - cpu;
    close_lanes(searching);
    interrupts_release();
    free(searching->trials);
    free(searching->judgements);
    free(searching);
    return err->status;
}

int32_t fuzz_shapes_seen(const struct fuzz_run *run)
{
    int32_t n = 0;
    for (int32_t shape = 0; shape < N_FUZZ_SHAPES; shape++)
        n += run->seen[shape];
    return n;
}
