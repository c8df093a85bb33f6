/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carrying out a plan; see runner.h. A slot is a place for one worker process. Each turn of the loop listens to every
 * slot, lets time limits expire, and gives free slots the next row. Start reading at runner_run().
 */
#include "harness/clock.h"
#include "harness/interrupts.h"
#include "harness/runner_state.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct target *runner_target_of(const struct running *running, size_t row)
{
    return &running->runner->plan->targets[running->runner->plan->rows[row].target];
}

/* ---- the next row --------------------------------------------------------------------------------------------- */

/* What the machine lacks for the case; false when nothing. */
static bool lacks_capability(const struct target *target, const struct concrete_case *concrete, char *why, size_t size)
{
    const struct needed_capability *needs = &concrete->family->needs;
    if (needs->backend && fnmatch(needs->backend, target->record.backend, 0) != 0)
        snprintf(why, size, "needs backend %s, and this is %s", needs->backend, target->record.backend);
    else if (needs->arch && fnmatch(needs->arch, target->record.arch, 0) != 0)
        snprintf(why, size, "needs arch %s, and this is %s", needs->arch, target->record.arch);
    else if (needs->wave_size && target->record.wave_size && needs->wave_size != target->record.wave_size)
        snprintf(why, size, "needs wave size %d, and this device has %d", needs->wave_size, target->record.wave_size);
    else if (needs->memory_mib && target->record.memory_bytes < needs->memory_mib << 20)
        snprintf(why, size, "needs %lld MiB of memory, and there are %lld", (long long)needs->memory_mib,
                 (long long)(target->record.memory_bytes >> 20));
    else if (needs->lds_kib && target->record.lds_bytes && target->record.lds_bytes < needs->lds_kib << 10)
        snprintf(why, size, "needs %lld KiB of LDS, and there are %lld", (long long)needs->lds_kib,
                 (long long)(target->record.lds_bytes >> 10));
    else
        return false;
    return true;
}

/* Ends rows that need no worker, up to the first that does. */
bool runner_has_row(struct running *running, size_t target)
{
    struct runner       *runner = running->runner;
    struct target_state *state = &running->targets[target];
    const struct target *planned = &runner->plan->targets[target];
    char                 why[256];
    for (; state->next < state->end && !running->err->status && !running->stop; state->next++) {
        const struct plan_row *row = &runner->plan->rows[state->next];
        if (row->is_done || row->left_out)
            continue;
        if (state->quarantined)
            runner_end_unstarted(running, state->next, VERDICT_NOTRUN, state->quarantined);
        else if (state->strikes->gave_up)
            runner_end_unstarted(running, state->next, VERDICT_NOTRUN, state->strikes->gave_up);
        else if (state->open_failed)
            runner_end_unstarted(running, state->next, state->open_verdict, state->open_failed);
        else if (planned->load_failure)
            runner_end_unstarted(running, state->next, planned->load_verdict, planned->load_failure);
        else if (lacks_capability(planned, row->concrete, why, sizeof why))
            runner_end_unstarted(running, state->next, VERDICT_SKIP, why);
        else if (row->starts >= 2)
            runner_end_unstarted(running, state->next, VERDICT_CRASH, "the runner died in this case twice");
        else
            return true;
    }
    return false;
}

static bool is_busy(const struct slot *slot)
{
    return slot->phase != PHASE_FREE && slot->phase != PHASE_READY;
}

static size_t count_workers(const struct running *running, size_t target)
{
    size_t n = 0;
    for (size_t s = 0; s < running->n_slots; s++)
        n += running->slots[s].phase != PHASE_FREE && running->slots[s].target == target;
    return n;
}

/* Whether a slot may serve a target: slots of host and sim any of theirs, a GPU's slot that GPU's. */
static bool serves(const struct running *running, const struct slot *slot, size_t target)
{
    const struct target *planned = &running->runner->plan->targets[target];
    if (!slot->gpu)
        return !plan_is_gpu(planned);
    return plan_is_gpu(planned) && strcmp(slot->gpu, planned->record.device_id) == 0;
}

/* Whether a provider with strikes has as many rows in flight as it may still lose: it must not lose more than the limit
 * says because several were under way. */
static bool is_on_probation(const struct running *running, size_t target)
{
    const struct strikes *strikes = running->targets[target].strikes;
    int                   in_flight = 0;
    if (strikes->timeouts == 0 && strikes->crashes == 0)
        return false;
    for (size_t s = 0; s < running->n_slots; s++)
        in_flight += is_busy(&running->slots[s]) && running->targets[running->slots[s].target].strikes == strikes;
    return in_flight >= MAX_TIMEOUTS - strikes->timeouts || in_flight >= MAX_CRASHES - strikes->crashes;
}

static bool may_take(struct running *running, const struct slot *slot, size_t target)
{
    return serves(running, slot, target) && runner_has_row(running, target) && !is_on_probation(running, target);
}

/* Gives a free or ready slot its next row: of its own target if it can, else of one without a worker. */
static void feed(struct running *running, struct slot *slot)
{
    size_t n = running->runner->plan->n_targets, best = n;
    if (running->stop || running->err->status)
        return;
    if (slot->phase == PHASE_READY && may_take(running, slot, slot->target))
        best = slot->target;
    for (size_t t = 0; t < n && best == n; t++)
        if (count_workers(running, t) == 0 && may_take(running, slot, t))
            best = t;
    for (size_t t = 0; t < n && best == n; t++)
        if (may_take(running, slot, t))
            best = t;
    if (best < n)
        runner_begin_row(running, slot, running->targets[best].next++);
    else if (slot->phase == PHASE_READY)
        runner_free_worker(running, slot, CLOSE_MILLISECONDS);
}

static void look_for_reasons_to_stop(struct running *running, int64_t started)
{
    int64_t limit = running->runner->settings->time_limit;
    if (running->stop)
        return;
    if (interrupts_so_far()) {
        running->stop = true;
        running->runner->interrupted = true;
        running->stop_reason = "interrupted";
        fprintf(stderr, "interrupted: finishing the cases in flight; once more leaves at once\n");
    } else if (limit && clock_ms() - started >= limit * 1000) {
        running->stop = running->runner->out_of_time = true;
        running->stop_reason = arena_format(&running->runner->plan->arena,
                                            "the run's time limit of %lld s was reached", (long long)limit);
    }
}

/* One turn: true while there is something to wait for. */
static bool turn(struct running *running, int64_t started)
{
    struct worker_process *workers[MAX_SLOTS];
    size_t                 n = 0, busy = 0;
    look_for_reasons_to_stop(running, started);
    for (size_t s = 0; s < running->n_slots; s++) {
        struct slot *slot = &running->slots[s];
        if (slot->phase != PHASE_FREE)
            runner_listen(running, slot);
        if (!is_busy(slot))
            feed(running, slot);
        if (slot->phase != PHASE_FREE)
            workers[n++] = &slot->worker;
        busy += is_busy(slot);
    }
    if (busy && !running->err->status)
        worker_wait(workers, n, 100);
    progress_show(&running->progress, running->runner->n_done);
    return busy > 0 && !running->err->status && interrupts_so_far() < 2 && !running->runner->out_of_time;
}

/* ---- begin and end -------------------------------------------------------------------------------------------- */

/* Slots: --jobs of them for host and sim together, and one for each GPU. */
static void make_slots(struct running *running)
{
    const struct plan *plan = running->runner->plan;
    size_t             jobs = plan_jobs(running->runner->settings);
    bool               on_cpu = false;
    for (size_t t = 0; t < plan->n_targets; t++) {
        size_t s = 0;
        on_cpu |= !plan_is_gpu(&plan->targets[t]);
        if (!plan_is_gpu(&plan->targets[t]))
            continue;
        while (s < running->n_slots && strcmp(running->slots[s].gpu, plan->targets[t].record.device_id) != 0)
            s++;
        if (s == running->n_slots && s < MAX_SLOTS / 2)
            running->slots[running->n_slots++].gpu = plan->targets[t].record.device_id;
    }
    for (size_t j = 0; on_cpu && j < jobs && running->n_slots < MAX_SLOTS; j++)
        running->slots[running->n_slots++].gpu = NULL;
}

/* Targets of one provider share their strikes. What a resumed run has already seen counts. */
static void make_targets(struct running *running)
{
    struct runner     *runner = running->runner;
    const struct plan *plan = runner->plan;
    for (size_t t = 0; t < plan->n_targets; t++) {
        const struct provider_description *own = &plan->targets[t].description;
        size_t                             first = 0;
        while (strcmp(plan->targets[first].description.name, own->name) != 0 ||
               strcmp(plan->targets[first].description.digest, own->digest) != 0)
            first++;
        running->targets[t].strikes =
            first < t ? running->targets[first].strikes
                      : arena_alloc(&runner->plan->arena, sizeof *running->targets[t].strikes);
    }
    for (size_t row = 0; row < plan->n_rows; row++) {
        struct target_state *state = &running->targets[plan->rows[row].target];
        if (state->end == 0)
            state->next = row;
        state->end = row + 1;
        runner->outcomes[row].left_out = plan->rows[row].left_out;
        runner->n_done += plan->rows[row].is_done || plan->rows[row].left_out;
        for (int32_t i = 0; i < runner->outcomes[row].n_timeouts; i++)
            runner_count_strike(running, plan->rows[row].target, VERDICT_TIMEOUT);
        for (int32_t i = 0; i < runner->outcomes[row].n_crashes; i++)
            runner_count_strike(running, plan->rows[row].target, VERDICT_CRASH);
    }
}

/* Rows that were in flight when the run stopped for good, and those that were never reached. */
static void end_rest(struct running *running)
{
    const char *reason = running->stop_reason ? running->stop_reason : "not reached";
    for (size_t row = 0; row < running->runner->plan->n_rows && !running->err->status; row++)
        if (!running->runner->plan->rows[row].is_done && !running->runner->plan->rows[row].left_out)
            runner_end_unstarted(running, row, VERDICT_NOTRUN, reason);
}

enum status runner_run(struct runner *runner, struct error *err)
{
    struct running *running = calloc(1, sizeof *running);
    int64_t         started = clock_ms();
    if (!running)
        return error_no_memory(err);
    running->runner = runner;
    running->err = err;
    running->targets = arena_alloc(&runner->plan->arena, runner->plan->n_targets * sizeof *running->targets);
    make_slots(running);
    make_targets(running);
    interrupts_catch();
    progress_begin(&running->progress, runner->plan->n_rows, "red");
    runner_check_devices(running);
    while (turn(running, started))
        ;
    for (size_t s = 0; s < running->n_slots; s++)
        if (running->slots[s].phase != PHASE_FREE)
            runner_free_worker(running, &running->slots[s], is_busy(&running->slots[s]) ? 0 : CLOSE_MILLISECONDS);
    end_rest(running);
    progress_end(&running->progress);
    interrupts_release();
    free(running);
    return err->status;
}
