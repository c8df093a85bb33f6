/* SPDX-License-Identifier: Apache-2.0 */
/* Does a device still answer; see device_check.h. */
#include "harness/device_check.h"

#include "harness/clock.h"
#include "harness/worker_process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The quickest case that selects at all and asks for nothing special. NULL when the registry has none. */
static const struct concrete_case *known_answer(const struct registry *registry)
{
    const struct concrete_case *best = NULL;
    for (size_t i = 0; i < registry->n_cases; i++) {
        const struct concrete_case     *one = &registry->cases[i];
        const struct needed_capability *needs = &one->family->needs;
        if (one->family->n_promises || needs->backend || needs->arch || needs->wave_size || needs->lds_kib ||
            one->family->launches || one->family->n_sequence || one->longest <= one->spec.topk)
            continue;
        if (!best || (int64_t)one->spec.batch * one->longest < (int64_t)best->spec.batch * best->longest)
            best = one;
    }
    return best;
}

/* Waits for a message that is no sign of life. False, with why, when none comes in time. */
static bool hear(struct worker_process *worker, struct arena *arena, struct message *message, int milliseconds,
                 char *why, size_t why_size)
{
    int64_t deadline = clock_ms() + milliseconds;
    for (;;) {
        enum worker_news news = worker_listen(worker, arena, message);
        if (news == WORKER_MESSAGE && message->kind != MESSAGE_LAUNCH &&
            message->kind != MESSAGE_CHECKING)
            return true;
        if (news == WORKER_GONE) {
            worker_cause(worker, why, why_size);
            return false;
        }
        if (clock_ms() > deadline) {
            snprintf(why, why_size, "no answer within %d s", milliseconds / 1000);
            return false;
        }
        if (news == WORKER_NOTHING)
            worker_wait(&worker, 1, 50);
    }
}

static enum device_answer converse(struct worker_process *worker, const char *device,
                                   const struct concrete_case *concrete, int launch_ms, struct arena *arena,
                                   struct message *message, char *why, size_t why_size)
{
    if (!hear(worker, arena, message, plan_load_milliseconds(NULL, "v1", device), why, why_size))
        return DEVICE_FAILED;
    if (message->kind != MESSAGE_PROVIDER) {
        snprintf(why, why_size, "%s", message->text);
        return DEVICE_NOT_ASKED;
    }
    *message = (struct message){.kind = MESSAGE_OPEN};
    snprintf(message->text, sizeof message->text, "%s", device);
    worker_tell(worker, message);
    if (!hear(worker, arena, message, launch_ms, why, why_size))
        return DEVICE_FAILED;
    if (message->kind != MESSAGE_OPENED) {
        snprintf(why, why_size, "%s", message->text);
        return message->kind == MESSAGE_UNUSABLE ? DEVICE_NOT_ASKED : DEVICE_FAILED;
    }
    *message = (struct message){.kind = MESSAGE_CASE, .concrete = concrete};
    worker_tell(worker, message);
    if (!hear(worker, arena, message, launch_ms, why, why_size))
        return DEVICE_FAILED;
    if (message->kind == MESSAGE_RESULT && message->judgement.verdict == VERDICT_PASS)
        return DEVICE_ANSWERED;
    snprintf(why, why_size, "%s", message->judgement.reason);
    return message->kind == MESSAGE_RESULT && message->judgement.verdict == VERDICT_FAIL ? DEVICE_WRONG : DEVICE_FAILED;
}

enum device_answer device_check(const struct settings *settings, const struct registry *registry, struct target *target,
                                char *why, size_t why_size)
{
    const struct concrete_case *concrete = known_answer(registry);
    struct worker_process       worker;
    struct arena                arena = {0};
    struct error                err = {0};
    enum device_answer          answer = DEVICE_NOT_ASKED;
    struct message             *message = calloc(1, sizeof *message);
    if (!concrete || !message)
        snprintf(why, why_size, "there is no case to check it with");
    else if (worker_start(&worker, settings, "v1", target->device, plan_worker_memory(settings), &err))
        snprintf(why, why_size, "%s", err.text);
    else {
        answer = converse(&worker, target->device, concrete, plan_launch_milliseconds(settings, target), &arena, message,
                          why, why_size);
        worker_stop(&worker, answer == DEVICE_ANSWERED ? 1000 : 0, NULL, 0);
    }
    free(message);
    arena_clear(&arena);
    return answer;
}
