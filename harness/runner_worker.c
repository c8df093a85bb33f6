/* SPDX-License-Identifier: Apache-2.0 */
/* The runner and its workers: orders, messages, time limits, losses; see runner_state.h. */
#include "harness/clock.h"
#include "harness/device_check.h"
#include "harness/runner_state.h"

#include <stdlib.h>
#include <string.h>

enum {
    CASE_SECONDS = 1800,
    PREPARE_SECONDS = 300, /* inputs and references of the largest cases, before the first launch */
    MESSAGES_A_TURN = 1000 /* of one worker, so that a babbling one starves no other */
};

void runner_free_worker(struct running *running, struct slot *slot, int milliseconds)
{
    char        cause[256];
    const char *name = running->runner->plan->targets[slot->target].description.name;
    if (!worker_stop(&slot->worker, milliseconds, cause, sizeof cause))
        runner_warn(running, "provider '%s' on %s did not close: %s", name,
                    running->runner->plan->targets[slot->target].device, cause);
    slot->phase = PHASE_FREE;
}

static void set_deadline(struct slot *slot, enum phase phase, int64_t milliseconds)
{
    slot->phase = phase;
    slot->deadline = clock_ms() + milliseconds;
}

static int64_t limit_ms(int64_t seconds, int64_t fallback_seconds)
{
    return (seconds ? seconds : fallback_seconds) * 1000;
}

static void tell_case(struct running *running, struct slot *slot)
{
    const struct settings *settings = running->runner->settings;
    struct message        *order = calloc(1, sizeof *order);
    if (!order) {
        error_no_memory(running->err);
        return;
    }
    runner_take_up(running, slot->row);
    order->kind = MESSAGE_CASE;
    order->repeats = (int32_t)settings->repeat;
    order->concrete = running->runner->plan->rows[slot->row].concrete;
    worker_tell(&slot->worker, order);
    free(order);
    slot->case_deadline = clock_ms() + limit_ms(settings->case_timeout, CASE_SECONDS);
    set_deadline(slot, PHASE_PREPARING, limit_ms(settings->inactivity, PREPARE_SECONDS));
}

static void tell_open(struct running *running, struct slot *slot)
{
    static struct message order = {.kind = MESSAGE_OPEN};
    const struct target  *target = &running->runner->plan->targets[slot->target];
    snprintf(order.text, sizeof order.text, "%s", target->device);
    worker_tell(&slot->worker, &order);
    set_deadline(slot, PHASE_OPENING, plan_open_milliseconds(running->runner->settings, target));
}

void runner_begin_row(struct running *running, struct slot *slot, size_t row)
{
    size_t target = running->runner->plan->rows[row].target;
    if (slot->phase != PHASE_FREE && slot->target != target)
        runner_free_worker(running, slot, CLOSE_MILLISECONDS);
    slot->row = row;
    slot->row_started = clock_ms();
    slot->case_deadline = 0;
    slot->target = target;
    if (slot->worker.pid) {
        tell_case(running, slot);
        return;
    }
    if (worker_start(&slot->worker, running->runner->settings, running->runner->plan->targets[target].provider,
                     running->runner->plan->targets[target].device,
                     plan_worker_memory(running->runner->settings), running->err))
        return;
    set_deadline(slot, PHASE_LOADING, plan_load_milliseconds(running->runner->settings,
                                                             running->runner->plan->targets[target].provider,
                                                             running->runner->plan->targets[target].device));
}

static void end_row(struct running *running, struct slot *slot, struct row_result *result)
{
    if (runner_end_row(running, slot, result))
        runner_begin_row(running, slot, slot->row);
}

static void quarantine(struct running *running, size_t target, const char *why)
{
    const struct plan *plan = running->runner->plan;
    const char        *device_id = plan->targets[target].record.device_id;
    const char *reason = arena_format(&running->runner->plan->arena, "device %s is quarantined: %s", device_id, why);
    for (size_t t = 0; t < plan->n_targets; t++)
        if (strcmp(plan->targets[t].record.device_id, device_id) == 0)
            running->targets[t].quarantined = reason;
    runner_warn(running, "%s", reason);
}

/* After a crash, a hang or a fault a GPU must give a known answer before it gets another row. */
static void check_device(struct running *running, size_t target, bool abandoned)
{
    struct target *planned = &running->runner->plan->targets[target];
    char           why[512];
    if (!plan_is_gpu(planned) || running->targets[target].quarantined)
        return;
    if (abandoned)
        quarantine(running, target, "a worker that used it cannot be killed");
    else if (device_check(running->runner->settings, running->runner->registry, planned, why, sizeof why) !=
             DEVICE_ANSWERED)
        quarantine(running, target, why);
}

void runner_check_devices(struct running *running)
{
    struct plan *plan = running->runner->plan;
    char         why[512];
    for (size_t t = 0; t < plan->n_targets; t++) {
        size_t before = 0;
        while (strcmp(plan->targets[before].record.device_id, plan->targets[t].record.device_id) != 0)
            before++;
        /* At the start, nothing to ask with is no fault of the device, and a wrong answer is for the cases to show. */
        if (before == t && plan_is_gpu(&plan->targets[t]) &&
            device_check(running->runner->settings, running->runner->registry, &plan->targets[t], why, sizeof why) ==
                DEVICE_FAILED)
            quarantine(running, t, why);
    }
}

/* The worker ended or hung: the row in flight gets the verdict, and the next row a fresh worker. */
static void lose_worker(struct running *running, struct slot *slot, enum verdict verdict, const char *what)
{
    static const char *const phases[] = {"", "while the provider was loaded", "in the provider's open", "between cases",
                                         "outside of launches", "in a launch", "in the provider's close"};
    struct row_result        result = {.verdict = verdict};
    enum phase               phase = slot->phase;
    char                     cause[256];
    if (verdict == VERDICT_CRASH)
        worker_await_exit(&slot->worker);
    worker_cause(&slot->worker, cause, sizeof cause); /* before we become the cause */
    bool is_dead = worker_kill(&slot->worker);
    if (verdict == VERDICT_CRASH && worker_was_out_of_memory(&slot->worker)) {
        result.verdict = VERDICT_ERROR;
        what = "the machine ran out of memory and killed the worker";
        runner_warn(running, "the machine ran out of memory and killed the worker of provider '%s'",
                    running->runner->plan->targets[slot->target].description.name);
    }
    snprintf(result.reason, sizeof result.reason, "%s: %s%s", phases[phase], what ? what : cause,
             is_dead ? "" : "; the worker could not be killed and was abandoned");
    row_result_take_log(&result, &slot->worker);
    runner_free_worker(running, slot, 0);
    check_device(running, slot->target, !is_dead);
    if (phase == PHASE_READY) /* it broke between two cases: no row is to blame, but nobody should have to guess */
        runner_warn(running, "provider '%s': %s", running->runner->plan->targets[slot->target].description.name,
                    result.reason);
    else
        end_row(running, slot, &result);
}

/* A worker with nothing left to do closes its provider before its last pass counts. */
static void begin_closing(struct running *running, struct slot *slot, const struct row_result *result)
{
    slot->held = *result;
    slot->held_judgement = *result->judgement;
    slot->held.judgement = &slot->held_judgement;
    slot->said_closed = false;
    slot->case_deadline = 0;
    worker_end_orders(&slot->worker);
    set_deadline(slot, PHASE_CLOSING,
                 plan_launch_milliseconds(running->runner->settings, &running->runner->plan->targets[slot->target]));
}

static void finish_closing(struct running *running, struct slot *slot)
{
    if (!worker_ended_well(&slot->worker) || !slot->said_closed) {
        lose_worker(running, slot, VERDICT_CRASH, NULL);
        return;
    }
    struct row_result result = slot->held;
    runner_free_worker(running, slot, CLOSE_MILLISECONDS);
    end_row(running, slot, &result);
}

static void take_result(struct running *running, struct slot *slot, const struct message *message)
{
    struct row_result result = {0};
    if (slot->phase != PHASE_PREPARING && slot->phase != PHASE_LAUNCHING)
        return;
    row_result_from_judgement(&result, &message->judgement);
    if (verdict_is_red(result.verdict))
        row_result_take_log(&result, &slot->worker);
    if (result.verdict == VERDICT_CRASH) { /* a device fault, which a process does not get over */
        runner_free_worker(running, slot, 0);
        check_device(running, slot->target, false);
    } else if (result.verdict == VERDICT_ERROR) /* out of memory, most likely: that is not for the next case to suffer */
        runner_free_worker(running, slot, 0);
    if (result.verdict == VERDICT_PASS && (running->stop || !runner_has_row(running, slot->target)))
        begin_closing(running, slot, &result);
    else
        end_row(running, slot, &result);
}

static void take_message(struct running *running, struct slot *slot, const struct message *message)
{
    const struct target *target = &running->runner->plan->targets[slot->target];
    struct row_result    result = {0};
    switch (message->kind) {
    case MESSAGE_PROVIDER:
        if (slot->phase == PHASE_LOADING)
            tell_open(running, slot);
        return;
    case MESSAGE_OPENED:
        if (slot->phase == PHASE_OPENING)
            tell_case(running, slot);
        return;
    case MESSAGE_LAUNCH:
        if (slot->phase == PHASE_PREPARING || slot->phase == PHASE_LAUNCHING)
            set_deadline(slot, PHASE_LAUNCHING, plan_launch_milliseconds(running->runner->settings, target));
        return;
    case MESSAGE_CHECKING: /* the clock of a launch stops: what follows is our own work */
        if (slot->phase == PHASE_LAUNCHING)
            set_deadline(slot, PHASE_PREPARING, limit_ms(running->runner->settings->inactivity, PREPARE_SECONDS));
        return;
    case MESSAGE_FAILED:
    case MESSAGE_UNUSABLE:
    case MESSAGE_ABSENT:
        if (slot->phase != PHASE_LOADING && slot->phase != PHASE_OPENING)
            return;
        result.verdict = message->kind == MESSAGE_FAILED   ? VERDICT_FAIL
                         : message->kind == MESSAGE_ABSENT ? VERDICT_SKIP
                                                           : VERDICT_ERROR;
        snprintf(result.reason, sizeof result.reason, "%s", message->text);
        if (message->kind != MESSAGE_UNUSABLE) {
            running->targets[slot->target].open_verdict = result.verdict;
            running->targets[slot->target].open_failed = arena_text(&running->runner->plan->arena, message->text);
            row_result_take_log(&result, &slot->worker);
        }
        runner_free_worker(running, slot, 0);
        end_row(running, slot, &result);
        return;
    case MESSAGE_RESULT:
        take_result(running, slot, message);
        return;
    case MESSAGE_CLOSED:
        slot->said_closed = true;
        return;
    default:
        return;
    }
}

/* A phase that took too long, or a case that did. */
static void look_at_the_clock(struct running *running, struct slot *slot)
{
    const struct settings *settings = running->runner->settings;
    const struct target   *target = &running->runner->plan->targets[slot->target];
    int64_t                now = clock_ms();
    bool                   case_is_over = slot->case_deadline && now > slot->case_deadline;
    char                   what[96];
    if (slot->phase == PHASE_FREE || slot->phase == PHASE_READY || (now <= slot->deadline && !case_is_over))
        return;
    if (case_is_over && slot->phase >= PHASE_PREPARING)
        snprintf(what, sizeof what, "the case took more than %lld s in all",
                 (long long)limit_ms(settings->case_timeout, CASE_SECONDS) / 1000);
    else if (slot->phase == PHASE_LAUNCHING || slot->phase == PHASE_CLOSING)
        snprintf(what, sizeof what, "no end after %d s", plan_launch_milliseconds(settings, target) / 1000);
    else if (slot->phase == PHASE_OPENING)
        snprintf(what, sizeof what, "no end after %d s", plan_open_milliseconds(settings, target) / 1000);
    else if (slot->phase == PHASE_LOADING)
        snprintf(what, sizeof what, "no end after %d s",
                 plan_load_milliseconds(settings, target->provider, target->device) / 1000);
    else
        snprintf(what, sizeof what, "no sign of life for %lld s",
                 (long long)limit_ms(settings->inactivity, PREPARE_SECONDS) / 1000);
    lose_worker(running, slot, VERDICT_TIMEOUT, what);
}

void runner_listen(struct running *running, struct slot *slot)
{
    static struct message message;
    for (int heard = 0; heard < MESSAGES_A_TURN && slot->phase != PHASE_FREE && !running->err->status; heard++) {
        enum worker_news news = worker_listen(&slot->worker, &running->runner->plan->arena, &message);
        if (news == WORKER_NOTHING)
            break;
        if (news == WORKER_GONE && slot->phase == PHASE_CLOSING) {
            finish_closing(running, slot);
            break;
        }
        if (news == WORKER_GONE) {
            lose_worker(running, slot, VERDICT_CRASH, NULL);
            break;
        }
        take_message(running, slot, &message);
    }
    if (!running->err->status)
        look_at_the_clock(running, slot);
}
