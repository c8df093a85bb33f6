/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what happened to what counts: expectations, retries, flakiness, giving up; and the one place of the runner that
 * writes verdicts. Start reading at runner_end_row().
 */
#include "harness/clock.h"
#include "harness/runner_state.h"

#include <stdarg.h>
#include <string.h>

/* Writes one attempt's verdict to the store, the listeners and the outcome. */
static void record(struct running *running, size_t row, const struct row_result *result)
{
    struct runner   *runner = running->runner;
    struct plan_row *planned = &runner->plan->rows[row];
    if (running->err->status)
        return;
    if (row_result_store(runner->store, &planned->row_id, result, running->err))
        return;
    row_result_outcome(&runner->plan->arena, result, &runner->outcomes[row]);
    runner->outcomes[row].row_id = planned->row_id;
    if (runner->json_lines)
        row_result_json_line(runner->json_lines, runner_target_of(running, row), planned->concrete, result);
    progress_note(&running->progress, result->verdict);
}

void runner_warn(struct running *running, const char *format, ...)
{
    char    text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "warning: %s\n", text);
    if (!running->err->status)
        store_add_warning(running->runner->store, running->runner->run, text, running->err);
}

/* Failures that an expectation foretold become xfail, passes that it did not foretell xpass. */
static void apply_expectation(const struct running *running, size_t row, struct row_result *result)
{
    const struct target      *target = runner_target_of(running, row);
    const struct expectation *expected = registry_expectation(
        running->runner->registry, running->runner->plan->rows[row].concrete->name, target->record.arch,
        target->record.device_id, target->description.name);
    if (!expected)
        return;
    if (result->verdict == VERDICT_PASS)
        result->verdict = VERDICT_XPASS;
    else if (strcmp(verdict_text(result->verdict), expected->verdict) == 0 &&
             (expected->level < 0 || !result->judgement || (int)result->judgement->level >= expected->level))
        result->verdict = VERDICT_XFAIL;
    else
        return;
    result->expected = expected->issue;
}

void runner_count_strike(struct running *running, size_t target, enum verdict verdict)
{
    struct strikes *strikes = running->targets[target].strikes;
    if (verdict == VERDICT_TIMEOUT && ++strikes->timeouts >= MAX_TIMEOUTS && !strikes->gave_up)
        strikes->gave_up = "gave up after 3 timeouts of this provider";
    if (verdict == VERDICT_CRASH && ++strikes->crashes >= MAX_CRASHES && !strikes->gave_up)
        strikes->gave_up = "gave up after 10 crashes of this provider";
}

/* Where attempts disagree the last one's row says so, with what it came to. */
static void make_flaky(const struct plan_row *planned, struct row_result *result)
{
    char reason[sizeof result->reason];
    snprintf(reason, sizeof reason, "attempts disagree: the first came to %s, number %d to %s%s%s",
             verdict_text(planned->first_verdict), planned->attempt, verdict_text(result->verdict),
             result->reason[0] ? ": " : "", result->reason);
    memcpy(result->reason, reason, sizeof reason);
    result->happened = result->verdict;
    result->verdict = VERDICT_FLAKY;
}

/* Decides the verdict of an attempt. True when another one is due. */
static bool settle(struct running *running, size_t row, struct row_result *result)
{
    struct plan_row     *planned = &running->runner->plan->rows[row];
    struct target_state *state = &running->targets[planned->target];
    result->attempt = planned->attempt;
    apply_expectation(running, row, result);
    runner_count_strike(running, planned->target, result->verdict);
    if (planned->attempt == 1)
        planned->first_verdict = result->verdict;
    else
        planned->disagrees |= result->verdict != planned->first_verdict;
    if (verdict_is_red(result->verdict) && result->verdict != VERDICT_NOTRUN && !running->stop &&
        !state->strikes->gave_up && !state->quarantined && planned->attempt <= running->runner->settings->retry)
        return true;
    if (planned->disagrees && result->verdict != VERDICT_NOTRUN)
        make_flaky(planned, result);
    return false;
}

static bool is_planted(const struct runner *runner, size_t row)
{
    return runner->plan->suite && runner->plan->suite->meta && runner->plan->targets[runner->plan->rows[row].target].fault;
}

static void finish_row(struct running *running, size_t row, enum verdict verdict)
{
    struct runner *runner = running->runner;
    runner->plan->rows[row].is_done = true;
    runner->n_done++;
    if (runner->settings->fail_fast && verdict_is_red(verdict) && verdict != VERDICT_NOTRUN && !is_planted(runner, row) && !running->stop) {
        running->stop = true;
        running->stop_reason = "stopped at the first failure (--fail-fast)";
    }
}

bool runner_end_row(struct running *running, struct slot *slot, struct row_result *result)
{
    struct plan_row *planned = &running->runner->plan->rows[slot->row];
    result->wall_ms = (double)(clock_ms() - slot->row_started);
    bool again = settle(running, slot->row, result);
    record(running, slot->row, result);
    slot->phase = slot->worker.pid ? PHASE_READY : PHASE_FREE;
    if (again)
        planned->attempt++;
    else
        finish_row(running, slot->row, result->verdict);
    return again && !running->err->status;
}

void runner_end_unstarted(struct running *running, size_t row, enum verdict verdict, const char *reason)
{
    struct row_result result = {.verdict = verdict, .attempt = running->runner->plan->rows[row].attempt};
    snprintf(result.reason, sizeof result.reason, "%s", reason);
    if (verdict_is_judged(verdict)) {
        apply_expectation(running, row, &result);
        runner_count_strike(running, running->runner->plan->rows[row].target, result.verdict);
    }
    record(running, row, &result);
    finish_row(running, row, result.verdict);
}

void runner_take_up(struct running *running, size_t row)
{
    struct plan_row  *planned = &running->runner->plan->rows[row];
    struct row_result awaited = {.verdict = VERDICT_NOTRUN, .attempt = planned->attempt, .reason = "not reached"};
    int               starts;
    /* A retry has a row of its own from here on, so that a death in it can be told from one in the attempt before. */
    if (planned->attempt > 1 &&
        row_result_store(running->runner->store, &planned->row_id, &awaited, running->err))
        return;
    store_start(running->runner->store, planned->row_id, &starts, running->err);
}
