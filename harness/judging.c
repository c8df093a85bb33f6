/* SPDX-License-Identifier: Apache-2.0 */
/* One problem being judged; see judging.h. */
#include "harness/judging.h"

#include "harness/claims.h"
#include "harness/provider_call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ORDERS = 8192 };

bool judging_miss(struct judging *judging, enum topk_level level, const char *format, ...)
{
    va_list arguments;
    if (level >= judging->missed)
        return false;
    judging->missed = level;
    judging->judgement->n_differences = 0;
    char  *reason = judging->judgement->reason;
    size_t size = sizeof judging->judgement->reason;
    int    used = snprintf(reason, size, "not %s: ", level_text(level));
    va_start(arguments, format);
    vsnprintf(reason + used, size - (size_t)used, format, arguments);
    va_end(arguments);
    return true;
}

bool judging_is_decided(const struct judging *judging)
{
    return judging->error.status || judging->device_fault ||
           (judging->missed <= TOPK_LEVEL_VALID && judging->missed <= judging->judgement->promised);
}

/* Records how the rows of a launch differ from the reference: the worst place first, then others that are wrong. */
static void explain(struct judging *judging, const struct problem *problem, const struct launch_form *form,
                    const struct launch_result *result)
{
    struct judgement *judgement = judging->judgement;
    int32_t           n = form->rows ? form->n_rows : problem->inputs.batch, topk = problem->inputs.topk;
    uint32_t          poison = guard_patterns[form->pattern % N_PATTERNS];
    if (result->bad_place < 0)
        return;
    for (int32_t i = 0; i < n && judgement->n_differences < JUDGE_MAX_DIFFERENCES; i++) {
        int32_t            place = (result->bad_place + i) % n, row = launch_row_at(form, place);
        struct row_outputs outputs = launch_row(&result->outputs, topk, place);
        struct row_check   check = row_check(problem, row, outputs, poison, judging->bench->scratch);
        bool               wrong = !check.written || !check.valid || (result->valid && !check.canonical);
        if (wrong)
            row_explain(problem, row, outputs, check.text, judging->bench->scratch,
                        &judgement->differences[judgement->n_differences++]);
    }
}

static void describe_launch(const struct judging *judging, const struct launch_form *form,
                            const struct launch_result *result, char *text, size_t size)
{
    snprintf(text, size, "launch %d (%s%s%s)", judging->launches, form->what, result->arrangement_text[0] ? "; " : "",
             result->arrangement_text);
}

/* A finding speaks for itself: its word comes first. */
static void miss_by_finding(struct judging *judging, const char *launch, const struct launch_result *result)
{
    if (judging_miss(judging, TOPK_LEVEL_SAFE, "finding"))
        snprintf(judging->judgement->reason, sizeof judging->judgement->reason, "%s; %s", result->text, launch);
}

void judging_check(struct judging *judging, const struct problem *problem, const struct launch_form *form,
                   const struct launch_result *result)
{
    char launch[192];
    bool noted = false;
    describe_launch(judging, form, result, launch, sizeof launch);
    judging->device_fault |= result->device_fault;
    if (result->not_captured)
        judging_miss(judging, TOPK_LEVEL_INVARIANT, "%s: the launch cannot be captured into a graph: %s", launch, result->text);
    else if (!result->safe && result->is_finding)
        miss_by_finding(judging, launch, result);
    else if (!result->safe)
        noted = judging_miss(judging, TOPK_LEVEL_SAFE, "%s: %s", launch, result->text);
    else if (!result->valid)
        noted = judging_miss(judging, TOPK_LEVEL_VALID, "%s: %s", launch, result->text);
    else if (!result->canonical)
        noted = judging_miss(judging, TOPK_LEVEL_CANONICAL, "%s: %s", launch, result->text);
    if (noted)
        explain(judging, problem, form, result);
}

bool judging_same_bytes(const struct problem *problem, int32_t row, struct row_outputs a, struct row_outputs b)
{
    size_t bytes = (size_t)problem_promised_slots(problem, row) * sizeof(int32_t);
    return (!a.pages || memcmp(a.pages, b.pages, bytes) == 0) && (!a.raw || memcmp(a.raw, b.raw, bytes) == 0);
}

bool judging_same_set(struct judging *judging, int32_t row, struct row_outputs a, struct row_outputs b)
{
    int32_t *left = judging->bench->scratch, *right = left + judging->problem.inputs.topk;
    row_sorted_set(&judging->problem, row, a, left);
    row_sorted_set(&judging->problem, row, b, right);
    return memcmp(left, right, (size_t)judging->problem.counts[row] * sizeof *left) == 0;
}

/* Compares each place with the case's own first outputs for its row. */
static void compare_rows(struct judging *judging, const struct launch_form *form, const struct launch_result *result,
                         const struct launch_outputs *with, bool is_repeat)
{
    int32_t n = form->rows ? form->n_rows : judging->problem.inputs.batch, topk = judging->problem.inputs.topk;
    char    launch[192];
    describe_launch(judging, form, result, launch, sizeof launch);
    for (int32_t place = 0; place < n; place++) {
        int32_t            row = launch_row_at(form, place);
        struct row_outputs now = launch_row(&result->outputs, topk, place), before = launch_row(with, topk, row);
        if (judging_same_bytes(&judging->problem, row, now, before))
            continue;
        if (!is_repeat)
            judging_miss(judging, TOPK_LEVEL_INVARIANT, "%s: row %d gives other bytes than in the case itself", launch, row);
        else if (!judging_same_set(judging, row, now, before))
            judging_miss(judging, TOPK_LEVEL_SET_REPEATABLE, "%s: row %d selects another set than the same launch before",
                 launch, row);
        else
            judging_miss(judging, TOPK_LEVEL_REPEATABLE, "%s: row %d gives the same set in another order than the same launch before",
                 launch, row);
    }
}

static void keep_first(struct judging *judging, const struct launch_result *result)
{
    struct launch_outputs *first = &judging->first[result->arrangement];
    size_t slots = (size_t)judging->problem.inputs.batch * (size_t)judging->problem.inputs.topk * sizeof(int32_t);
    if (result->outputs.pages) {
        first->pages = malloc(slots);
        if (first->pages)
            memcpy(first->pages, result->outputs.pages, slots);
    }
    if (result->outputs.raw) {
        first->raw = malloc(slots);
        if (first->raw)
            memcpy(first->raw, result->outputs.raw, slots);
    }
    if ((result->outputs.pages && !first->pages) || (result->outputs.raw && !first->raw))
        error_no_memory(&judging->error);
    judging->has_first[result->arrangement] = true;
}

/* The digests of the first launch: promised slots of page then raw outputs; and each row's sorted set. */
static void digest_outputs(struct judging *judging, const struct launch_result *result)
{
    struct digest     output, set;
    int32_t           topk = judging->problem.inputs.topk;
    struct judgement *judgement = judging->judgement;
    const int32_t    *lists[] = {result->outputs.pages, result->outputs.raw};
    digest_begin(&output);
    digest_begin(&set);
    for (int l = 0; l < 2; l++)
        for (int32_t row = 0; lists[l] && row < judging->problem.inputs.batch; row++)
            digest_add(&output, lists[l] + (int64_t)row * topk,
                       (size_t)problem_promised_slots(&judging->problem, row) * sizeof(int32_t));
    for (int32_t row = 0; row < judging->problem.inputs.batch; row++) {
        row_sorted_set(&judging->problem, row, launch_row(&result->outputs, topk, row), judging->bench->scratch);
        digest_add(&set, judging->bench->scratch, (size_t)judging->problem.counts[row] * sizeof(int32_t));
    }
    digest_end(&output, judgement->output_digest);
    digest_end(&set, judgement->set_digest);
}

static void note_path(struct judging *judging)
{
    provider_call_path(judging->bench->provider, judging->bench->self, judging->judgement->path,
                       sizeof judging->judgement->path);
}

/* Counts the launch's order of threads at atomics if it is a new one. */
static void note_order(struct judging *judging)
{
    const struct device *device = judging->bench->device;
    struct judgement    *judgement = judging->judgement;
    uint64_t order = device->backend->order ? device->backend->order(judging->bench->device) : 0;
    if (order == 0)
        return;
    judgement->n_schedules++;
    if (!judging->orders)
        judging->orders = calloc(MAX_ORDERS, sizeof *judging->orders);
    if (!judging->orders || judgement->n_orders == MAX_ORDERS)
        return;
    for (int32_t i = 0; i < judgement->n_orders; i++)
        if (judging->orders[i] == order)
            return;
    judging->orders[judgement->n_orders++] = order;
}

/* The problems that a family wants launched first. They are judged like any launch; their outputs are not kept. */
static void launch_steps(struct judging *judging, const struct launch_form *form)
{
    for (size_t s = 0; s < judging->n_steps && !judging_is_decided(judging); s++) {
        struct launch_form   step = {.what = "another problem of the sequence",
                                     .pattern = form->pattern + 1,
                                     .workspace = WORKSPACE_KEPT,
                                     .turn = form->turn};
        struct launch_result result;
        judging->launches++;
        if (launch_run(judging->bench, &judging->steps[s], &step, &result, &judging->error) || !result.ran)
            continue;
        judging_check(judging, &judging->steps[s], &step, &result);
    }
}

bool judging_launch(struct judging *judging, const struct problem *problem, struct launch_form form,
                    enum judging_comparison comparison)
{
    struct launch_result *result = &judging->last;
    if (judging->n_steps) {
        launch_steps(judging, &form);
        form.workspace = WORKSPACE_KEPT;
    }
    if (judging_is_decided(judging))
        return true;
    judging->launches++;
    form.pattern += judging->launches;
    if (launch_run(judging->bench, problem, &form, result, &judging->error))
        return true;
    if (!result->ran) {
        snprintf(judging->judgement->reason, sizeof judging->judgement->reason, "not supported: %s", result->text);
        return false;
    }
    note_order(judging);
    judging_check(judging, problem, &form, result);
    bool is_first = !judging->has_first[0] && !judging->has_first[1];
    if (is_first && result->outputs.pages == NULL && result->outputs.raw == NULL)
        return true;
    if (is_first) {
        judging->judgement->set_exact = result->safe && result->exact_set;
        note_path(judging);
        if (result->safe)
            digest_outputs(judging, result);
    }
    if (!result->safe || !result->valid || comparison == COMPARE_NOTHING || judging->error.status)
        return true;
    if (comparison == COMPARE_REPEAT && !judging->has_first[result->arrangement])
        keep_first(judging, result);
    else if (comparison == COMPARE_REPEAT)
        compare_rows(judging, &form, result, &judging->first[result->arrangement], true);
    if (judging->has_first[0] && (comparison == COMPARE_ROWS || result->arrangement != 0))
        compare_rows(judging, &form, result, &judging->first[0], false);
    return true;
}

bool judging_repeat(struct judging *judging, int32_t repeats)
{
    struct launch_form form = {.what = "the case itself"};
    judging->judgement->repeats = repeats;
    for (int32_t i = 0; i < repeats && !judging_is_decided(judging); i++) {
        form.turn = judging->turn++;
        if (!judging_launch(judging, &judging->problem, form, COMPARE_REPEAT))
            return false;
    }
    return true;
}

void judging_look_afar(struct judging *judging)
{
    char where[256];
    if (!judging->error.status && launch_bench_is_damaged_afar(judging->bench, where, sizeof where))
        judging_miss(judging, TOPK_LEVEL_SAFE, "one of %d launches: %s", judging->launches, where);
}

void judging_conclude(struct judging *judging, bool supported)
{
    struct judgement *judgement = judging->judgement;
    judgement->level = (enum topk_level)(judging->missed - 1);
    if (judging->error.status) {
        judgement->verdict = VERDICT_ERROR;
        snprintf(judgement->reason, sizeof judgement->reason, "%s", judging->error.text);
    } else if (!supported)
        judgement->verdict = VERDICT_SKIP;
    else
        judgement->verdict = judging->device_fault                    ? VERDICT_CRASH
                             : judging->missed <= judgement->promised ? VERDICT_FAIL
                                                                      : VERDICT_PASS;
}

void judging_clear(struct judging *judging)
{
    for (int a = 0; a < JUDGING_MAX_ARRANGEMENTS; a++) {
        free(judging->first[a].pages);
        free(judging->first[a].raw);
    }
    for (size_t s = 0; s < judging->n_steps; s++)
        problem_clear(&judging->steps[s]);
    free(judging->steps);
    free(judging->rows);
    free(judging->orders);
    problem_clear(&judging->problem);
    problem_clear(&judging->reversed);
    problem_clear(&judging->shortened);
}
