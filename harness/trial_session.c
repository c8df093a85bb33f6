/* SPDX-License-Identifier: Apache-2.0 */
/* A provider open in a worker, to be given trials; see trial_session.h. */
#include "harness/trial_session.h"

#include "harness/clock.h"
#include "harness/plan.h"
#include "harness/trial_memory.h"
#include "harness/worker_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CLOSE_MILLISECONDS = 2000, CHECK_MILLISECONDS = 120000, POLL_MILLISECONDS = 50 };

struct trial_session {
    const struct settings *settings;
    struct plan            plan; /* of one target and no cases */
    struct worker_process  worker;
    struct trial_memory    memory;
    size_t                 n;            /* trials of the batch in flight; 0: none */
    size_t                 told_from;    /* the first of them that the worker was told to judge */
    bool                   is_over;      /* the worker is through with them */
    uint64_t               beats;        /* as last seen */
    int64_t                beats_seen;   /* when they last changed, in milliseconds */
    double                 cpu_seconds;  /* of workers that are gone */
};

static struct target *target_of(const struct trial_session *session)
{
    return &session->plan.targets[0];
}

const struct provider_description *trial_session_provider(const struct trial_session *session)
{
    return &target_of(session)->description;
}

const char *trial_session_device(const struct trial_session *session)
{
    return target_of(session)->device;
}

/* Of the worker that runs now. */
static double worker_cpu_seconds(const struct trial_session *session)
{
    struct timespec time;
    clockid_t       clock;
    if (!session->worker.pid || session->worker.has_exited || clock_getcpuclockid(session->worker.pid, &clock) != 0 ||
        clock_gettime(clock, &time) != 0)
        return 0;
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

double trial_session_cpu_seconds(const struct trial_session *session)
{
    return session->cpu_seconds + worker_cpu_seconds(session);
}

/* Waits for an answer that is no sign of life. */
static enum status hear(struct trial_session *session, struct message *message, int milliseconds, const char *during,
                        struct error *err)
{
    struct worker_process *worker = &session->worker;
    int64_t                deadline = clock_ms() + milliseconds;
    for (;;) {
        char              cause[256];
        enum worker_news  news = worker_listen(worker, &session->plan.arena, message);
        if (news == WORKER_MESSAGE && message->kind != MESSAGE_LAUNCH && message->kind != MESSAGE_CHECKING)
            break;
        if (news == WORKER_GONE) {
            worker_await_exit(worker);
            worker_cause(worker, cause, sizeof cause);
            return error_set(err, STATUS_FAIL, "provider '%s' broke %s: %s", target_of(session)->provider, during, cause);
        }
        if (clock_ms() > deadline)
            return error_set(err, STATUS_FAIL, "provider '%s' hangs %s: no end after %d s", target_of(session)->provider,
                             during, milliseconds / 1000);
        if (news == WORKER_NOTHING)
            worker_wait(&worker, 1, POLL_MILLISECONDS);
    }
    if (message->kind == MESSAGE_FAILED)
        return error_set(err, STATUS_FAIL, "provider '%s': %s", target_of(session)->provider, message->text);
    if (message->kind == MESSAGE_UNUSABLE || message->kind == MESSAGE_ABSENT)
        return error_set(err, STATUS_BOOKS, "provider '%s': %s", target_of(session)->provider, message->text);
    return STATUS_OK;
}

static enum status start(struct trial_session *session, struct error *err)
{
    const struct target *target = target_of(session);
    struct message      *message = calloc(1, sizeof *message);
    if (!message)
        return error_no_memory(err);
    if (!worker_start(&session->worker, session->settings, target->provider, target->device,
                      plan_worker_memory(session->settings), err) &&
        !hear(session, message, plan_load_milliseconds(session->settings, target->provider, target->device),
              "while it was loaded", err)) {
        *message = (struct message){.kind = MESSAGE_OPEN, .for_trials = true};
        snprintf(message->text, sizeof message->text, "%s", target->device);
        worker_tell(&session->worker, message);
        hear(session, message, plan_open_milliseconds(session->settings, target), "in its open", err);
    }
    free(message);
    return err->status;
}

static void stop(struct trial_session *session, int milliseconds, char *cause, size_t cause_size)
{
    if (cause_size)
        cause[0] = '\0';
    session->cpu_seconds += worker_cpu_seconds(session);
    worker_stop(&session->worker, milliseconds, cause, cause_size);
}

enum status trial_session_open(struct trial_session **out, const struct settings *settings, const char *provider,
                               const char *device, struct error *err)
{
    struct trial_session *session = calloc(1, sizeof *session);
    *out = NULL;
    if (!session)
        return error_no_memory(err);
    session->settings = settings;
    session->memory.fd = -1;
    if (plan_add_provider(&session->plan, settings, provider, device, err))
        goto failed;
    const struct target *target = target_of(session);
    if (target->load_failure) {
        error_set(err, target->load_verdict == VERDICT_CRASH || target->load_verdict == VERDICT_TIMEOUT ? STATUS_FAIL
                                                                                                      : STATUS_BOOKS,
                  "provider '%s': %s", provider, target->load_failure);
        goto failed;
    }
    if (start(session, err))
        goto failed;
    *out = session;
    return STATUS_OK;
failed:
    trial_session_close(session, NULL, 0);
    return err->status;
}

static void tell_trials(struct trial_session *session)
{
    static struct message order;
    order = (struct message){.kind = MESSAGE_TRIALS};
    trial_memory_path(&session->memory, order.text, sizeof order.text);
    session->told_from = trial_memory_next(&session->memory);
    session->beats = trial_memory_beats(&session->memory);
    session->beats_seen = clock_ms();
    worker_tell(&session->worker, &order);
    session->is_over = false;
}

enum status trial_session_begin(struct trial_session *session, const struct trial *trials, size_t n, struct error *err)
{
    if (trial_memory_pack(&session->memory, trials, n, err))
        return err->status;
    session->n = n;
    tell_trials(session);
    return STATUS_OK;
}

/* The trial in flight gets the verdict; a fresh worker goes on behind it. */
static enum status lose_worker(struct trial_session *session, enum verdict verdict, const char *what, struct error *err)
{
    size_t i = trial_memory_next(&session->memory);
    char   cause[256] = "";
    if (verdict == VERDICT_CRASH)
        worker_await_exit(&session->worker);
    worker_cause(&session->worker, cause, sizeof cause); /* before we become the cause */
    const char *phase = trial_memory_in_launch(&session->memory) ? "in a launch" : "outside of launches";
    if (verdict == VERDICT_CRASH && worker_was_out_of_memory(&session->worker)) {
        verdict = VERDICT_ERROR;
        what = "the machine ran out of memory and killed the worker";
    }
    stop(session, 0, NULL, 0);
    if (i < session->n && !session->is_over) { /* beyond: it broke after the last trial, which no trial is to blame for */
        struct judgement *judgement = trial_memory_judgement(&session->memory, i);
        *judgement = (struct judgement){.verdict = verdict,
                                        .promised = target_of(session)->description.claims.level,
                                        .set_exact = -1};
        snprintf(judgement->reason, sizeof judgement->reason, "%s: %s", phase, what ? what : cause);
        trial_memory_skip(&session->memory, i);
    }
    if (start(session, err))
        return err->status;
    if (i + 1 < session->n)
        tell_trials(session);
    else
        session->is_over = true;
    return STATUS_OK;
}

/* The worker is through, or it stopped behind a trial that cost it the device or its memory: then a fresh one goes on. */
static enum status take_tried(struct trial_session *session, struct error *err)
{
    size_t           next = trial_memory_next(&session->memory);
    struct judgement last = {.verdict = VERDICT_PASS};
    if (next > 0 && next <= session->n)
        trial_memory_read(&session->memory, next - 1, &last);
    if (next <= session->told_from) /* as if it had come to an end; what it shares with us was written over */
        return error_set(err, STATUS_FAIL, "provider '%s': its worker says that trials are judged, and none is",
                         target_of(session)->provider);
    bool is_spent = next < session->n || last.verdict == VERDICT_CRASH || last.verdict == VERDICT_ERROR;
    if (is_spent) {
        stop(session, 0, NULL, 0);
        if (start(session, err))
            return err->status;
    }
    if (next < session->n)
        tell_trials(session);
    else
        session->is_over = true;
    return STATUS_OK;
}

static int launch_milliseconds(const struct trial_session *session)
{
    return plan_launch_milliseconds(session->settings, target_of(session));
}

/* A launch, or our own work between two, that takes too long. */
static enum status look_at_the_clock(struct trial_session *session, struct error *err)
{
    uint64_t beats = trial_memory_beats(&session->memory);
    int64_t  now = clock_ms(), limit = trial_memory_in_launch(&session->memory) ? launch_milliseconds(session)
                                                                              : CHECK_MILLISECONDS;
    char     what[96];
    if (beats != session->beats) {
        session->beats = beats;
        session->beats_seen = now;
    }
    if (now - session->beats_seen <= limit)
        return STATUS_OK;
    snprintf(what, sizeof what, "no end after %lld s", (long long)limit / 1000);
    return lose_worker(session, VERDICT_TIMEOUT, what, err);
}

static void take_judgements(struct trial_session *session, struct judgement *judgements)
{
    for (size_t i = 0; i < session->n; i++)
        trial_memory_read(&session->memory, i, &judgements[i]);
    session->n = 0;
}

enum status trial_session_poll(struct trial_session *session, int milliseconds, struct judgement *judgements,
                               bool *is_done, struct error *err)
{
    static struct message  message;
    struct worker_process *worker = &session->worker;
    int64_t                deadline = clock_ms() + milliseconds;
    *is_done = false;
    while (!*is_done && !err->status) {
        enum worker_news news = worker_listen(worker, &session->plan.arena, &message);
        if (news == WORKER_GONE)
            lose_worker(session, VERDICT_CRASH, NULL, err);
        else if (news == WORKER_MESSAGE && message.kind == MESSAGE_UNUSABLE)
            error_set(err, STATUS_BOOKS, "%s", message.text);
        else if (news == WORKER_NOTHING)
            look_at_the_clock(session, err);
        else if (message.kind == MESSAGE_TRIED)
            take_tried(session, err);
        *is_done = session->is_over;
        if (*is_done || clock_ms() >= deadline)
            break;
        int64_t left = deadline - clock_ms();
        if (news == WORKER_NOTHING)
            worker_wait(&worker, 1, left < POLL_MILLISECONDS ? (int)left : POLL_MILLISECONDS);
    }
    if (*is_done && !err->status)
        take_judgements(session, judgements);
    return err->status;
}

enum status trial_session_run(struct trial_session *session, const struct trial *trials, size_t n,
                              struct judgement *judgements, struct error *err)
{
    bool is_done = false;
    if (trial_session_begin(session, trials, n, err))
        return err->status;
    while (!is_done && !trial_session_poll(session, 1000, judgements, &is_done, err))
        ;
    return err->status;
}

void trial_session_wait(struct trial_session *const *sessions, size_t n, int milliseconds)
{
    struct worker_process *workers[64];
    size_t                 count = 0;
    for (size_t i = 0; i < n && count < sizeof workers / sizeof workers[0]; i++)
        workers[count++] = &sessions[i]->worker;
    worker_wait(workers, count, milliseconds);
}

enum status trial_session_restart(struct trial_session *session, struct error *err)
{
    stop(session, CLOSE_MILLISECONDS, NULL, 0);
    return start(session, err);
}

void trial_session_close(struct trial_session *session, char *cause, size_t cause_size)
{
    if (cause_size)
        cause[0] = '\0';
    if (!session)
        return;
    stop(session, CLOSE_MILLISECONDS, cause, cause_size);
    trial_memory_close(&session->memory);
    plan_clear(&session->plan);
    free(session);
}
