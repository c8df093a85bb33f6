/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker: the process that touches kernels. Loads one provider, opens it on one device, judges the cases it is
 * told, and may die of any of it. Started by worker_process.c; speaks message.h over two inherited descriptors, while
 * stdout and stderr are left to the provider's own chatter.
 */
#include "harness/command.h"
#include "harness/message.h"
#include "harness/provider_call.h"
#include "harness/provider_gpu.h"
#include "harness/provider_process.h"
#include "harness/provider_watched.h"
#include "harness/trial_memory.h"
#include "harness/worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { GPU_REPEATS = 10 };

struct worker {
    const struct settings *settings;
    struct device          device;
    char                   device_name[64]; /* the device's own, which the order that named it does not outlive */
    struct launch_bench    bench;
    struct loaded_provider loaded;
    void                  *self;
    bool                   is_open;
    struct trial_memory    trials; /* while they are judged */
    struct loaded_provider beside; /* the second provider, when one was asked for */
    void                  *beside_self;
    bool                   has_beside; /* it is open */
    struct problem         timed; /* of the last order to time, for the next one of the same case */
    char                   timed_case[1024];
    bool                   timed_has_answer;
};

static int messages_fd = WORKER_MESSAGES_FD;

/* Moves a descriptor to where a provider's stray writes and closes are least likely to fall, and where no program that
 * it starts inherits it. Stays where it is when there is no such place. */
static int move_away(int fd)
{
    struct rlimit limit;
    rlim_t        top = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1024 ? limit.rlim_cur : 1024;
    int           moved = fcntl(fd, F_DUPFD_CLOEXEC, (int)top - 8);
    if (moved < 0)
        return fd;
    provider_call_watch(fd);
    return moved;
}

static void say_line(const char *line)
{
    size_t left = strlen(line);
    while (left > 0) {
        ssize_t n = write(messages_fd, line, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(STATUS_BOOKS); /* nobody listens any more */
        line += n;
        left -= (size_t)n;
    }
}

static void say(const struct message *message)
{
    char *line = message_write(message);
    if (!line)
        _exit(STATUS_BOOKS);
    say_line("\n");
    say_line(line);
    free(line);
}

static void say_launch(void *payload)
{
    (void)payload;
    say_line("\n.\n");
}

static void say_checking(void *payload)
{
    (void)payload;
    say_line("\n:\n");
}

static void say_text(enum message_kind kind, const char *text)
{
    struct message message = {.kind = kind};
    snprintf(message.text, sizeof message.text, "%s", text);
    say(&message);
}

static void beat_launch(void *payload)
{
    trial_memory_beat(payload, true);
}

static void beat_checking(void *payload)
{
    trial_memory_beat(payload, false);
}

/* The second provider, where one was asked for, beside the one that is judged. */
static enum status open_beside(struct worker *worker, struct error *err)
{
    const char          *text = worker->settings->beside;
    struct provider_name name;
    char                 why[512] = "";
    if (!text)
        return STATUS_OK;
    if (provider_find(text, &name, err))
        return err->status;
    if (provider_load(&name, NULL, &worker->beside, err))
        return error_prefix(err, "--beside");
    if (worker->beside.provider->memory != worker->device.memory)
        return error_set(err, STATUS_USAGE, "--beside %s: its memory is not that of %s", text, worker->device.name);
    if (provider_call_open(worker->beside.provider, worker->device.ordinal, &worker->beside_self, why, sizeof why))
        return error_set(err, STATUS_USAGE, "--beside %s: its open failed: %s", text, why);
    worker->has_beside = true;
    worker->bench.beside = worker->beside.provider;
    worker->bench.beside_self = worker->beside_self;
    return STATUS_OK;
}

/* Answers `opened` or `failed`. */
static void open_provider(struct worker *worker, const char *device, bool for_trials)
{
    struct error err = {0};
    char         why[512] = "";
    /* A process keeps its tensors on the device by itself: what the harness holds stays in host memory. */
    bool on_its_own = worker->loaded.is_process && device_is_gpu(device);
    snprintf(worker->device_name, sizeof worker->device_name, "%s", on_its_own ? "host" : device);
    if (device_open(&worker->device, worker->device_name, &err)) {
        say_text(MESSAGE_UNUSABLE, err.text);
        return;
    }
    if (on_its_own)
        worker->device.default_repeats = GPU_REPEATS;
    process_set_device(device);
    if (worker->loaded.is_gpu_kernel && provider_gpu_prepare(&err)) {
        say_text(err.status == STATUS_FAIL ? MESSAGE_FAILED : MESSAGE_UNUSABLE, err.text);
        return;
    }
    if (worker->loaded.is_watched && !worker->loaded.library && provider_watched_prepare(&err)) {
        say_text(err.status == STATUS_FAIL ? MESSAGE_FAILED : MESSAGE_UNUSABLE, err.text);
        return;
    }
    if (worker->device.backend->restrict_to)
        worker->device.backend->restrict_to(&worker->device, worker->loaded.wave_size, worker->settings->schedule);
    int code = provider_call_open(worker->loaded.provider, worker->device.ordinal, &worker->self, why, sizeof why);
    if (code != 0) {
        char text[600];
        snprintf(text, sizeof text, "open returned %d: %s", code, why);
        if (worker->loaded.is_process && process_is_unavailable())
            say_text(MESSAGE_ABSENT, why);
        else
            say_text(MESSAGE_FAILED, text);
        return;
    }
    worker->is_open = true;
    worker->bench = (struct launch_bench){.device = &worker->device,
                                          .provider = worker->loaded.provider,
                                          .self = worker->self,
                                          .explore_seconds = worker->settings->explore,
                                          .before_launch = for_trials ? beat_launch : say_launch,
                                          .after_launch = for_trials ? beat_checking : say_checking,
                                          .payload = &worker->trials,
                                          .other_origin = worker->loaded.is_gpu_kernel ? provider_gpu_other_origin
                                                                                       : NULL};
    if (open_beside(worker, &err)) {
        say_text(MESSAGE_UNUSABLE, err.text);
        return;
    }
    say_text(MESSAGE_OPENED, "");
}

static void judge_ordered_case(struct worker *worker, const struct message *order)
{
    static struct message answer;
    memset(&answer, 0, sizeof answer);
    answer.kind = MESSAGE_RESULT;
    judge_case(&worker->bench, order->concrete, order->repeats, &answer.judgement);
    say(&answer);
}

/* Judges every trial in the runner's memory that has no judgement yet. Stops behind one that lost the device, or for which
 * there was no memory: what follows is for a fresh process. */
static void judge_trials(struct worker *worker, const char *path)
{
    static struct case_inputs problems[TRIAL_MAX_PROBLEMS];
    struct trial              trial;
    struct error              err = {0};
    if (trial_memory_open(&worker->trials, path, &err)) {
        say_text(MESSAGE_UNUSABLE, err.text);
        return;
    }
    bool is_fit = true;
    for (size_t i = trial_memory_next(&worker->trials); is_fit && i < trial_memory_count(&worker->trials); i++) {
        struct judgement *judgement = trial_memory_judgement(&worker->trials, i);
        trial_memory_trial(&worker->trials, i, &trial, problems);
        judge_trial(&worker->bench, &trial, judgement);
        is_fit = judgement->verdict != VERDICT_CRASH && judgement->verdict != VERDICT_ERROR;
        trial_memory_finish(&worker->trials, i);
    }
    trial_memory_close(&worker->trials);
    say_text(MESSAGE_TRIED, "");
}

/* Makes the case ready for timing; most orders find it as the one before left it. */
static enum status prepare_timing(struct worker *worker, const struct message *order, struct error *err)
{
    const struct concrete_case *concrete = order->concrete;
    if (strcmp(worker->timed_case, concrete->name) == 0 && (worker->timed_has_answer || !order->order.check))
        return STATUS_OK;
    problem_clear(&worker->timed);
    worker->timed_case[0] = '\0';
    worker->timed_has_answer = order->order.check;
    struct case_inputs inputs = {0};
    if (case_generate(&concrete->spec, &inputs, err->text, sizeof err->text))
        return err->status = STATUS_BOOKS;
    /* The answer, by two references, takes longer than the inputs: only where it is looked at. */
    if (!order->order.check)
        worker->timed.inputs = inputs;
    else if (problem_make(&worker->timed, &inputs, &worker->loaded.provider->claims, err))
        return err->status;
    snprintf(worker->timed_case, sizeof worker->timed_case, "%s", concrete->name);
    return STATUS_OK;
}

static void time_ordered_case(struct worker *worker, const struct message *order)
{
    static struct message answer;
    struct error          err = {0};
    memset(&answer, 0, sizeof answer);
    answer.kind = MESSAGE_TIMED;
    if (prepare_timing(worker, order, &err)) {
        answer.times.verdict = VERDICT_ERROR;
        snprintf(answer.times.reason, sizeof answer.times.reason, "%s", err.text);
    } else
        kernel_time_leg(&worker->bench, &worker->timed, &order->order, &answer.times);
    say(&answer);
}

static void obey(struct worker *worker, const char *line)
{
    static struct message order;
    struct arena          arena = {0};
    struct error          err = {0};
    if (message_read(line, &arena, &order, &err)) {
        fprintf(stderr, "topkcts worker: %s\n", err.text);
        _exit(STATUS_BOOKS);
    }
    if (order.kind == MESSAGE_OPEN)
        open_provider(worker, order.text, order.for_trials);
    else if (order.kind == MESSAGE_CASE && worker->is_open)
        judge_ordered_case(worker, &order);
    else if (order.kind == MESSAGE_TRIALS && worker->is_open)
        judge_trials(worker, order.text);
    else if (order.kind == MESSAGE_TIME && worker->is_open)
        time_ordered_case(worker, &order);
    arena_clear(&arena);
}

enum status command_worker(const struct settings *settings, struct error *err)
{
    static struct worker worker;
    struct provider_name name;
    static struct message hello = {.kind = MESSAGE_PROVIDER};
    char                *line = NULL;
    size_t               size = 0;
    FILE                *orders = fdopen(move_away(WORKER_ORDERS_FD), "r");
    if (!orders || settings->providers.n != 1)
        return error_set(err, STATUS_USAGE, "worker is started by 'topkcts run', not by hand");
    messages_fd = move_away(WORKER_MESSAGES_FD);
    worker.settings = settings;
    struct error cause = {0};
    struct provider_place place = {settings->devices.n ? settings->devices.items[0] : NULL, settings->origin, settings->watch};
    if (provider_find(settings->providers.items[0], &name, &cause) ||
        provider_load(&name, place.device ? &place : NULL, &worker.loaded, &cause)) {
        say_text(worker.loaded.unavailable ? MESSAGE_ABSENT : MESSAGE_UNUSABLE, cause.text);
        provider_unload(&worker.loaded);
        return STATUS_OK;
    }
    message_describe(&worker.loaded, &hello.provider);
    say(&hello);
    ssize_t length;
    while ((length = getline(&line, &size, orders)) > 0) {
        line[length - 1] = '\0';
        obey(&worker, line);
    }
    free(line);
    if (worker.is_open) {
        if (worker.has_beside)
            provider_call_close(worker.beside.provider, worker.beside_self);
        provider_call_close(worker.loaded.provider, worker.self);
        say_text(MESSAGE_CLOSED, "");
        launch_bench_clear(&worker.bench);
        device_close(&worker.device);
    }
    problem_clear(&worker.timed);
    provider_unload(&worker.beside);
    provider_unload(&worker.loaded);
    fclose(orders);
    return STATUS_OK;
}
