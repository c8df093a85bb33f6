/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carrying out a plan; see runner.h. A slot is a place for one worker process. Each turn of the loop listens to every
 * slot, lets time limits expire, and gives free slots the next row. Start reading at runner_run().
 */
#include "harness/runner.h"

#include "harness/progress.h"
#include "harness/row_result.h"
#include "harness/worker_process.h"

#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAX_SLOTS = 256,
    LOAD_MILLISECONDS = 10000,
    PREPARE_MILLISECONDS = 300000, /* inputs and references of the largest cases, before the first launch */
    CLOSE_MILLISECONDS = 2000,
    MAX_TIMEOUTS = 3,
    MAX_CRASHES = 10
};

enum phase { PHASE_FREE, PHASE_LOADING, PHASE_OPENING, PHASE_READY, PHASE_PREPARING, PHASE_LAUNCHING };

struct slot {
    struct worker_process worker;
    enum phase            phase;
    size_t                target; /* of the worker, unless free */
    size_t                row;    /* in flight, unless free or ready */
    int32_t               attempt;
    enum verdict          first_verdict; /* of attempt 1, to tell a flaky case */
    int64_t               deadline, row_started;
};

/* What a run learns of a target. */
struct target_state {
    size_t      next; /* row to start next */
    size_t      end;  /* one past its last row */
    int         timeouts, crashes;
    const char *gave_up;     /* why its remaining rows are not run */
    const char *open_failed; /* why every remaining row fails */
};

struct running {
    struct runner       *runner;
    struct slot          slots[MAX_SLOTS];
    size_t               n_slots;
    struct target_state *targets;
    struct progress      progress;
    bool                 stop; /* no new rows */
    const char          *stop_reason;
    struct error        *err;
};

static volatile sig_atomic_t interrupts;

static void count_interrupt(int number)
{
    (void)number;
    interrupts++;
}

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct target *target_of(const struct running *running, size_t row)
{
    return &running->runner->plan->targets[running->runner->plan->rows[row].target];
}

/* ---- verdicts ------------------------------------------------------------------------------------------------- */

/* Writes one attempt's verdict to the store, the listeners and the outcome. */
static void record(struct running *running, size_t row, const struct row_result *result)
{
    struct runner   *runner = running->runner;
    struct plan_row *planned = &runner->plan->rows[row];
    if (running->err->status)
        return;
    if (row_result_store(runner->store, &planned->row_id, result, running->err))
        return;
    struct outcome *outcome = &runner->outcomes[row];
    row_result_outcome(&runner->plan->arena, result, outcome);
    if (runner->json_lines)
        row_result_json_line(runner->json_lines, target_of(running, row), planned->concrete, result);
    progress_note(&running->progress, result->verdict);
}

/* Turns what happened into the verdict that counts: expectations, then flakiness. True when another attempt is due. */
static bool settle(struct running *running, struct slot *slot, struct row_result *result)
{
    struct runner             *runner = running->runner;
    const struct target       *target = target_of(running, slot->row);
    const struct expectation  *expected = registry_expectation(
        runner->registry, runner->plan->rows[slot->row].concrete->name, target->record.arch, target->record.device_id,
        target->description.name);
    enum verdict               happened = result->verdict;
    if (expected && happened == VERDICT_PASS)
        result->verdict = VERDICT_XPASS;
    else if (expected && strcmp(verdict_text(happened), expected->verdict) == 0 &&
             (expected->level < 0 || !result->judgement || (int)result->judgement->level >= expected->level))
        result->verdict = VERDICT_XFAIL;
    if (expected && (result->verdict == VERDICT_XFAIL || result->verdict == VERDICT_XPASS))
        result->expected = expected->issue;
    bool red = verdict_is_red(result->verdict) && result->verdict != VERDICT_NOTRUN;
    result->attempt = slot->attempt;
    if (slot->attempt == 1)
        slot->first_verdict = result->verdict;
    if (red && slot->attempt <= runner->settings->retry && !running->stop)
        return true;
    if (slot->attempt > 1 && result->verdict != slot->first_verdict) {
        result->happened = result->verdict;
        result->verdict = VERDICT_FLAKY;
    }
    return false;
}

static void begin_row(struct running *running, struct slot *slot, size_t row, int32_t attempt);

/* Ends the row in flight of a slot with what happened. */
static void end_row(struct running *running, struct slot *slot, struct row_result *result)
{
    struct target_state *state = &running->targets[slot->target];
    size_t               row = slot->row;
    result->wall_ms = (double)(now_ms() - slot->row_started);
    bool again = settle(running, slot, result);
    record(running, row, result);
    if (result->verdict == VERDICT_TIMEOUT && ++state->timeouts >= MAX_TIMEOUTS && !state->gave_up)
        state->gave_up = "gave up after 3 timeouts of this provider";
    if (result->verdict == VERDICT_CRASH && ++state->crashes >= MAX_CRASHES && !state->gave_up)
        state->gave_up = "gave up after 10 crashes of this provider";
    if (again && !state->gave_up) {
        begin_row(running, slot, row, slot->attempt + 1);
        return;
    }
    running->runner->n_done++;
    slot->phase = slot->worker.pid ? PHASE_READY : PHASE_FREE;
    if (running->runner->settings->fail_fast && verdict_is_red(result->verdict) && !running->stop) {
        running->stop = true;
        running->stop_reason = "stopped at the first failure (--fail-fast)";
    }
}

/* A row that ends without a worker: skipped, given up, failed with its provider's open. */
static void end_unstarted(struct running *running, size_t row, enum verdict verdict, const char *reason)
{
    struct row_result result = {.verdict = verdict, .attempt = 1};
    snprintf(result.reason, sizeof result.reason, "%s", reason);
    record(running, row, &result);
    running->runner->n_done++;
}

/* What the machine lacks for the case; false when nothing. */
static bool lacks_capability(const struct target *target, const struct concrete_case *concrete, char *why, size_t size)
{
    const struct needed_capability *needs = &concrete->family->needs;
    if (needs->backend && fnmatch(needs->backend, target->record.backend, 0) != 0)
        snprintf(why, size, "needs backend %s", needs->backend);
    else if (needs->arch && fnmatch(needs->arch, target->record.arch, 0) != 0)
        snprintf(why, size, "needs arch %s", needs->arch);
    else if (needs->wave_size && target->record.wave_size && needs->wave_size != target->record.wave_size)
        snprintf(why, size, "needs wave size %d", needs->wave_size);
    else if (needs->memory_mib && target->record.memory_bytes < needs->memory_mib << 20)
        snprintf(why, size, "needs %lld MiB of memory", (long long)needs->memory_mib);
    else if (needs->lds_kib && target->record.lds_bytes && target->record.lds_bytes < needs->lds_kib << 10)
        snprintf(why, size, "needs %lld KiB of LDS", (long long)needs->lds_kib);
    else
        return false;
    return true;
}

/* ---- workers -------------------------------------------------------------------------------------------------- */

static void free_worker(struct slot *slot, int milliseconds)
{
    worker_stop(&slot->worker, milliseconds);
    slot->phase = PHASE_FREE;
}

static void set_deadline(struct slot *slot, enum phase phase, int milliseconds)
{
    slot->phase = phase;
    slot->deadline = now_ms() + milliseconds;
}

static void tell_case(struct running *running, struct slot *slot)
{
    struct message *order = calloc(1, sizeof *order);
    if (!order) {
        error_no_memory(running->err);
        return;
    }
    order->kind = MESSAGE_CASE;
    order->repeats = (int32_t)running->runner->settings->repeat;
    snprintf(order->text, sizeof order->text, "%s", running->runner->plan->rows[slot->row].concrete->name);
    worker_tell(&slot->worker, order);
    free(order);
    set_deadline(slot, PHASE_PREPARING, PREPARE_MILLISECONDS);
}

static void tell_open(struct running *running, struct slot *slot)
{
    static struct message order = {.kind = MESSAGE_OPEN};
    snprintf(order.text, sizeof order.text, "%s", running->runner->plan->targets[slot->target].device);
    worker_tell(&slot->worker, &order);
    set_deadline(slot, PHASE_OPENING,
                 plan_launch_milliseconds(running->runner->settings, &running->runner->plan->targets[slot->target]));
}

static void begin_row(struct running *running, struct slot *slot, size_t row, int32_t attempt)
{
    size_t target = running->runner->plan->rows[row].target;
    if (slot->phase != PHASE_FREE && slot->target != target)
        free_worker(slot, CLOSE_MILLISECONDS);
    slot->row = row;
    slot->attempt = attempt;
    slot->row_started = now_ms();
    slot->target = target;
    if (slot->worker.pid) {
        tell_case(running, slot);
        return;
    }
    if (worker_start(&slot->worker, running->runner->settings, running->runner->plan->targets[target].provider,
                     plan_worker_memory(running->runner->settings), running->err))
        return;
    set_deadline(slot, PHASE_LOADING, LOAD_MILLISECONDS);
}

/* The worker ended or hung: the row in flight gets the verdict, and the next row a fresh worker. */
static void lose_worker(struct running *running, struct slot *slot, enum verdict verdict, const char *what)
{
    static const char *const phases[] = {"", "while the provider was loaded", "in the provider's open", "between cases",
                                         "before the first launch", "in a launch"};
    struct row_result        result = {.verdict = verdict};
    enum phase               phase = slot->phase;
    char                     cause[256];
    bool                     is_dead = worker_kill(&slot->worker);
    worker_cause(&slot->worker, cause, sizeof cause);
    if (verdict == VERDICT_CRASH && worker_was_out_of_memory(&slot->worker)) {
        result.verdict = VERDICT_ERROR;
        what = "the machine ran out of memory and killed the worker";
    }
    snprintf(result.reason, sizeof result.reason, "%s: %s%s", phases[phase], what ? what : cause,
             is_dead ? "" : "; the worker could not be killed and was abandoned");
    row_result_take_log(&result, &slot->worker);
    free_worker(slot, 0);
    if (phase == PHASE_READY)
        return; /* it broke between two cases: nothing is in flight */
    end_row(running, slot, &result);
}

static void take_message(struct running *running, struct slot *slot, const struct message *message)
{
    const struct target *target = &running->runner->plan->targets[slot->target];
    struct target_state *state = &running->targets[slot->target];
    struct row_result    result = {0};
    switch (message->kind) {
    case MESSAGE_PROVIDER:
        tell_open(running, slot);
        return;
    case MESSAGE_OPENED:
        tell_case(running, slot);
        return;
    case MESSAGE_LAUNCH:
        set_deadline(slot, PHASE_LAUNCHING, plan_launch_milliseconds(running->runner->settings, target));
        return;
    case MESSAGE_FAILED:
        state->open_failed = arena_text(&running->runner->plan->arena, message->text);
        result.verdict = VERDICT_FAIL;
        snprintf(result.reason, sizeof result.reason, "%s", message->text);
        row_result_take_log(&result, &slot->worker);
        free_worker(slot, CLOSE_MILLISECONDS);
        end_row(running, slot, &result);
        return;
    case MESSAGE_UNUSABLE:
        result.verdict = VERDICT_ERROR;
        snprintf(result.reason, sizeof result.reason, "%s", message->text);
        free_worker(slot, CLOSE_MILLISECONDS);
        end_row(running, slot, &result);
        return;
    case MESSAGE_RESULT:
        if (slot->phase != PHASE_PREPARING && slot->phase != PHASE_LAUNCHING)
            return;
        row_result_from_judgement(&result, &message->judgement);
        if (verdict_is_red(result.verdict))
            row_result_take_log(&result, &slot->worker);
        end_row(running, slot, &result);
        return;
    default:
        return;
    }
}

static void listen_to(struct running *running, struct slot *slot)
{
    static struct message message;
    while (slot->phase != PHASE_FREE && !running->err->status) {
        enum worker_news news = worker_listen(&slot->worker, &running->runner->plan->arena, &message);
        if (news == WORKER_NOTHING)
            break;
        if (news == WORKER_GONE) {
            lose_worker(running, slot, VERDICT_CRASH, NULL);
            break;
        }
        take_message(running, slot, &message);
    }
    if (slot->phase != PHASE_FREE && slot->phase != PHASE_READY && now_ms() > slot->deadline) {
        char what[96];
        if (slot->phase == PHASE_LAUNCHING || slot->phase == PHASE_OPENING)
            snprintf(what, sizeof what, "no end after %d s",
                     plan_launch_milliseconds(running->runner->settings, target_of(running, slot->row)) / 1000);
        else
            snprintf(what, sizeof what, "no sign of life in time");
        lose_worker(running, slot, VERDICT_TIMEOUT, what);
    }
}

/* ---- the next row --------------------------------------------------------------------------------------------- */

/* Ends rows that need no worker, up to the first that does. */
static bool has_row(struct running *running, size_t target)
{
    struct runner       *runner = running->runner;
    struct target_state *state = &running->targets[target];
    const struct target *planned = &runner->plan->targets[target];
    char                 why[256];
    for (; state->next < state->end && !running->err->status; state->next++) {
        if (state->gave_up)
            end_unstarted(running, state->next, VERDICT_NOTRUN, state->gave_up);
        else if (state->open_failed)
            end_unstarted(running, state->next, VERDICT_FAIL, state->open_failed);
        else if (planned->load_failure)
            end_unstarted(running, state->next, planned->load_verdict, planned->load_failure);
        else if (lacks_capability(planned, runner->plan->rows[state->next].concrete, why, sizeof why))
            end_unstarted(running, state->next, VERDICT_SKIP, why);
        else
            return true;
    }
    return false;
}

static size_t count_workers(const struct running *running, size_t target)
{
    size_t n = 0;
    for (size_t s = 0; s < running->n_slots; s++)
        n += running->slots[s].phase != PHASE_FREE && running->slots[s].target == target;
    return n;
}

/* Gives a free or ready slot its next row: of its own target if it can, else of one without a worker. */
static void feed(struct running *running, struct slot *slot)
{
    size_t n = running->runner->plan->n_targets, best = n;
    if (running->stop || running->err->status)
        return;
    if (slot->phase == PHASE_READY && has_row(running, slot->target))
        best = slot->target;
    for (size_t t = 0; t < n && best == n; t++)
        if (count_workers(running, t) == 0 && has_row(running, t))
            best = t;
    for (size_t t = 0; t < n && best == n; t++)
        if (has_row(running, t))
            best = t;
    if (best < n)
        begin_row(running, slot, running->targets[best].next++, 1);
    else if (slot->phase == PHASE_READY)
        free_worker(slot, CLOSE_MILLISECONDS);
}

static bool is_busy(const struct slot *slot)
{
    return slot->phase != PHASE_FREE && slot->phase != PHASE_READY;
}

/* One turn: true while there is something to wait for. */
static bool turn(struct running *running)
{
    struct worker_process *workers[MAX_SLOTS];
    size_t                 n = 0, busy = 0;
    for (size_t s = 0; s < running->n_slots; s++) {
        struct slot *slot = &running->slots[s];
        if (slot->phase != PHASE_FREE)
            listen_to(running, slot);
        if (!is_busy(slot))
            feed(running, slot);
        if (slot->phase != PHASE_FREE)
            workers[n++] = &slot->worker;
        busy += is_busy(slot);
    }
    if (interrupts && !running->stop) {
        running->stop = true;
        running->runner->interrupted = true;
        running->stop_reason = "interrupted";
    }
    if (busy && !running->err->status)
        worker_wait(workers, n, 100);
    progress_show(&running->progress, running->runner->n_done);
    return busy > 0 && !running->err->status && interrupts < 2;
}

static void end_rest(struct running *running)
{
    struct runner *runner = running->runner;
    const char    *reason = running->stop_reason ? running->stop_reason : "not reached";
    for (size_t t = 0; t < runner->plan->n_targets; t++)
        for (; running->targets[t].next < running->targets[t].end; running->targets[t].next++)
            end_unstarted(running, running->targets[t].next, VERDICT_NOTRUN, reason);
}

enum status runner_run(struct runner *runner, struct error *err)
{
    struct running  *running = calloc(1, sizeof *running);
    struct sigaction action = {.sa_handler = count_interrupt}, old_int, old_term;
    if (!running)
        return error_no_memory(err);
    running->runner = runner;
    running->err = err;
    running->n_slots = plan_jobs(runner->settings) < MAX_SLOTS ? plan_jobs(runner->settings) : MAX_SLOTS;
    running->targets = arena_alloc(&runner->plan->arena, runner->plan->n_targets * sizeof *running->targets);
    runner->outcomes = arena_alloc(&runner->plan->arena, runner->plan->n_rows * sizeof *runner->outcomes);
    for (size_t row = 0; row < runner->plan->n_rows; row++) {
        struct target_state *state = &running->targets[runner->plan->rows[row].target];
        runner->outcomes[row].verdict = VERDICT_NOTRUN;
        if (state->end == 0)
            state->next = row;
        state->end = row + 1;
    }
    interrupts = 0;
    sigaction(SIGINT, &action, &old_int);
    sigaction(SIGTERM, &action, &old_term);
    signal(SIGPIPE, SIG_IGN);
    progress_begin(&running->progress, runner->plan->n_rows);
    while (turn(running))
        ;
    for (size_t s = 0; s < running->n_slots; s++)
        free_worker(&running->slots[s], is_busy(&running->slots[s]) ? 0 : CLOSE_MILLISECONDS);
    end_rest(running);
    progress_end(&running->progress);
    sigaction(SIGINT, &old_int, NULL);
    sigaction(SIGTERM, &old_term, NULL);
    free(running);
    return err->status;
}
