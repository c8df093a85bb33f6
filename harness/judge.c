/* SPDX-License-Identifier: Apache-2.0 */
/* The judge; see judge.h for the launch plan. Start reading at judge_case(). */
#include "harness/judge.h"

#include "harness/claims.h"
#include "harness/provider_call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_ARRANGEMENTS = 2, MAX_ORDERS = 8192 };

/* One case being judged. */
struct judging {
    struct launch_bench        *bench;
    const struct concrete_case *concrete;
    struct judgement           *judgement;
    struct problem              problem, reversed, shortened;
    struct problem             *steps; /* of the family's sequence */
    size_t                      n_steps;
    struct launch_outputs       first[MAX_ARRANGEMENTS]; /* of the case itself, by arrangement */
    bool                        has_first[MAX_ARRANGEMENTS];
    int32_t                    *rows; /* for forms that place rows */
    uint64_t                   *orders; /* [MAX_ORDERS]: the distinct ones seen; NULL where there are none */
    int32_t                     launches, turn;
    bool                        device_fault; /* the device is lost to this process */
    enum topk_level             missed; /* the lowest level missed so far; CANONICAL + 1: none */
    struct error                error;
};

/* What a launch is compared with beyond the reference. */
enum comparison { COMPARE_NOTHING, COMPARE_REPEAT, COMPARE_ROWS };

static const enum topk_level NOTHING_MISSED = (enum topk_level)(TOPK_LEVEL_CANONICAL + 1);

/* Notes that a level was missed, unless a lower one already is. */
static bool miss(struct judging *judging, enum topk_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool miss(struct judging *judging, enum topk_level level, const char *format, ...)
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

/* A case ends when it is unsafe or wrong although more was promised. Missing a higher level does not end it: the launches
 * that follow may show that a lower one is missed too, and the level reported must be the one that was reached. */
static bool is_decided(const struct judging *judging)
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
    if (miss(judging, TOPK_LEVEL_SAFE, "finding"))
        snprintf(judging->judgement->reason, sizeof judging->judgement->reason, "%s; %s", result->text, launch);
}

/* What every launch must be: safe, valid, and for `canonical` the reference's bytes. */
static void check_launch(struct judging *judging, const struct problem *problem, const struct launch_form *form,
                         const struct launch_result *result)
{
    char launch[192];
    bool noted = false;
    describe_launch(judging, form, result, launch, sizeof launch);
    judging->device_fault |= result->device_fault;
    if (result->not_captured)
        miss(judging, TOPK_LEVEL_INVARIANT, "%s: the launch cannot be captured into a graph: %s", launch, result->text);
    else if (!result->safe && result->is_finding)
        miss_by_finding(judging, launch, result);
    else if (!result->safe)
        noted = miss(judging, TOPK_LEVEL_SAFE, "%s: %s", launch, result->text);
    else if (!result->valid)
        noted = miss(judging, TOPK_LEVEL_VALID, "%s: %s", launch, result->text);
    else if (!result->canonical)
        noted = miss(judging, TOPK_LEVEL_CANONICAL, "%s: %s", launch, result->text);
    if (noted)
        explain(judging, problem, form, result);
}

/* Whether two rows of outputs agree in every promised slot. */
static bool same_bytes(const struct problem *problem, int32_t row, struct row_outputs a, struct row_outputs b)
{
    size_t bytes = (size_t)problem_promised_slots(problem, row) * sizeof(int32_t);
    return (!a.pages || memcmp(a.pages, b.pages, bytes) == 0) && (!a.raw || memcmp(a.raw, b.raw, bytes) == 0);
}

static bool same_set(struct judging *judging, int32_t row, struct row_outputs a, struct row_outputs b)
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
        if (same_bytes(&judging->problem, row, now, before))
            continue;
        if (!is_repeat)
            miss(judging, TOPK_LEVEL_INVARIANT, "%s: row %d gives other bytes than in the case itself", launch, row);
        else if (!same_set(judging, row, now, before))
            miss(judging, TOPK_LEVEL_SET_REPEATABLE, "%s: row %d selects another set than the same launch before",
                 launch, row);
        else
            miss(judging, TOPK_LEVEL_REPEATABLE, "%s: row %d gives the same set in another order than the same launch before",
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
    for (size_t s = 0; s < judging->n_steps && !is_decided(judging); s++) {
        struct launch_form   step = {.what = "another problem of the sequence",
                                     .pattern = form->pattern + 1,
                                     .workspace = WORKSPACE_KEPT,
                                     .turn = form->turn};
        struct launch_result result;
        judging->launches++;
        if (launch_run(judging->bench, &judging->steps[s], &step, &result, &judging->error) || !result.ran)
            continue;
        check_launch(judging, &judging->steps[s], &step, &result);
    }
}

/* One launch of the plan. False when the provider does not support this form. */
static bool launch_and_check(struct judging *judging, const struct problem *problem, struct launch_form form,
                             enum comparison comparison)
{
    struct launch_result result;
    if (judging->n_steps) {
        launch_steps(judging, &form);
        form.workspace = WORKSPACE_KEPT;
    }
    if (is_decided(judging))
        return true;
    judging->launches++;
    form.pattern += judging->launches;
    if (launch_run(judging->bench, problem, &form, &result, &judging->error))
        return true;
    if (!result.ran) {
        snprintf(judging->judgement->reason, sizeof judging->judgement->reason, "not supported: %s", result.text);
        return false;
    }
    note_order(judging);
    check_launch(judging, problem, &form, &result);
    bool is_first = !judging->has_first[0] && !judging->has_first[1];
    if (is_first && result.outputs.pages == NULL && result.outputs.raw == NULL)
        return true;
    if (is_first) {
        judging->judgement->set_exact = result.safe && result.exact_set;
        note_path(judging);
        if (result.safe)
            digest_outputs(judging, &result);
    }
    if (!result.safe || !result.valid || comparison == COMPARE_NOTHING || judging->error.status)
        return true;
    if (comparison == COMPARE_REPEAT && !judging->has_first[result.arrangement])
        keep_first(judging, &result);
    else if (comparison == COMPARE_REPEAT)
        compare_rows(judging, &form, &result, &judging->first[result.arrangement], true);
    if (judging->has_first[0] && (comparison == COMPARE_ROWS || result.arrangement != 0))
        compare_rows(judging, &form, &result, &judging->first[0], false);
    return true;
}

/* Plan 1: the case itself. False when the provider refuses it. */
static bool launch_repeats(struct judging *judging, int32_t repeats)
{
    struct launch_form form = {.what = "the case itself"};
    judging->judgement->repeats = repeats;
    for (int32_t i = 0; i < repeats && !is_decided(judging); i++) {
        form.turn = judging->turn++;
        if (!launch_and_check(judging, &judging->problem, form, COMPARE_REPEAT))
            return false;
    }
    return true;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* The case itself again and again, each time under a schedule that it has not had, for as long as was asked. */
static void explore(struct judging *judging)
{
    struct launch_form form = {.what = "exploring"};
    double             end = seconds_now() + (double)judging->bench->explore_seconds;
    while (judging->bench->explore_seconds && judging->bench->device->backend->order && !is_decided(judging) &&
           seconds_now() < end) {
        form.turn = judging->turn++;
        launch_and_check(judging, &judging->problem, form, COMPARE_REPEAT);
    }
}

/* One problem of a sweep: made, launched once, judged, forgotten. */
static void launch_swept(struct judging *judging, const struct sweep *sweep, int32_t value)
{
    char                 what[64];
    struct case_spec     spec = registry_sweep_spec(judging->concrete, sweep, &value);
    struct case_inputs   inputs = {0};
    struct problem       problem = {0};
    struct launch_result result;
    struct launch_form   form = {.what = what};
    snprintf(what, sizeof what, "the case with %s %d", fixed_axis_text(sweep->axis), value);
    if (case_generate(&spec, &inputs, judging->error.text, sizeof judging->error.text)) {
        judging->error.status = STATUS_BOOKS;
        return;
    }
    if (problem_make(&problem, &inputs, &judging->bench->provider->claims, &judging->error))
        return;
    form.turn = judging->turn++;
    judging->launches++;
    form.pattern = judging->launches;
    if (!launch_run(judging->bench, &problem, &form, &result, &judging->error) && result.ran)
        check_launch(judging, &problem, &form, &result);
    problem_clear(&problem);
}

/* The family's sweeps; values of topk beyond the provider's largest are not promised. */
static void launch_sweeps(struct judging *judging)
{
    const struct family *family = judging->concrete->family;
    int32_t              largest = claims_max_topk(&judging->bench->provider->claims);
    for (size_t s = 0; s < family->n_sweeps; s++) {
        const struct sweep *sweep = &family->sweeps[s];
        int64_t             last = sweep->axis == AXIS_TOPK && largest < sweep->to ? largest : sweep->to;
        for (int64_t value = sweep->from; value <= last && !is_decided(judging); value += sweep->step)
            launch_swept(judging, sweep, (int32_t)value);
    }
}

/* Plan 2 and 3: other contents in the same buffers, then the case again. */
static void launch_other_contents(struct judging *judging)
{
    int32_t            batch = judging->problem.inputs.batch;
    struct launch_form form = {.what = "rows rotated by one", .rows = judging->rows, .n_rows = batch};
    if (batch == 1) {
        form = (struct launch_form){.what = "the row reversed", .turn = judging->turn++};
        if (!problem_reversed(&judging->problem, &judging->reversed, &judging->error))
            launch_and_check(judging, &judging->reversed, form, COMPARE_NOTHING);
    } else {
        for (int32_t place = 0; place < batch; place++)
            judging->rows[place] = (place + 1) % batch;
        form.turn = judging->turn++;
        launch_and_check(judging, &judging->problem, form, COMPARE_ROWS);
    }
    if (is_decided(judging))
        return;
    form = (struct launch_form){.what = "the case itself, after other contents"};
    /* The same turns as before, so that every arrangement meets its own first outputs. */
    form.turn = judging->turn++;
    launch_and_check(judging, &judging->problem, form, COMPARE_REPEAT);
}

static int32_t longest_row(const struct problem *problem)
{
    int32_t longest = 0;
    for (int32_t row = 1; row < problem->inputs.batch; row++)
        if (problem->lengths[row] > problem->lengths[longest])
            longest = row;
    return longest;
}

/* Plan 4, first half: rows in other places and company. */
static void launch_other_company(struct judging *judging)
{
    int32_t            batch = judging->problem.inputs.batch;
    struct launch_form form = {.rows = judging->rows, .n_rows = batch};
    if (batch == 1)
        return;
    form.what = "rows in reverse order";
    for (int32_t place = 0; place < batch; place++)
        judging->rows[place] = batch - 1 - place;
    form.turn = judging->turn++;
    launch_and_check(judging, &judging->problem, form, COMPARE_ROWS);
    form.what = "every second row replaced by the first";
    for (int32_t place = 0; place < batch; place++)
        judging->rows[place] = place % 2 ? 0 : place;
    form.turn = judging->turn++;
    launch_and_check(judging, &judging->problem, form, COMPARE_ROWS);
    form.n_rows = 1;
    const int32_t alone[] = {longest_row(&judging->problem), batch - 1};
    for (int i = 0; i < 2 && !is_decided(judging); i++) {
        form.what = i ? "the last row alone" : "the longest row alone";
        judging->rows[0] = alone[i];
        form.turn = judging->turn++;
        launch_and_check(judging, &judging->problem, form, COMPARE_ROWS);
    }
}

/* Plan 4, second half: other places in memory. */
static void launch_other_memory(struct judging *judging)
{
    const struct case_inputs *inputs = &judging->problem.inputs;
    int32_t                   width = inputs->max_seq_len > 0 ? inputs->max_seq_len : 1;
    int32_t                   pages = (width + inputs->page_size - 1) / inputs->page_size;
    const struct launch_form  forms[] = {
        {.what = "another base and stride", .extra_shift = 1, .extra_stride = 5, .extra_table_stride = 3,
         .workspace = WORKSPACE_ZEROES},
        {.what = "inputs at the end of memory", .at_end = true, .workspace = WORKSPACE_ONES},
        {.what = "a base two elements on, an even stride", .extra_shift = 2, .workspace = WORKSPACE_ONES,
         .extra_stride = inputs->score_stride % 2 ? 1 : 2},
        {.what = "rows without padding", .extra_stride = (int32_t)(width - inputs->score_stride),
         .extra_table_stride = (int32_t)(pages - inputs->page_table_stride)},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0] && !is_decided(judging); i++) {
        struct launch_form form = forms[i];
        form.turn = judging->turn++;
        launch_and_check(judging, &judging->problem, form, COMPARE_ROWS);
    }
}

/* Plan 5, on devices with streams: which stream it is, and what else the device does, must not matter. */
static void launch_other_streams(struct judging *judging)
{
    enum { MAX_LATE_BYTES = 64 << 20 };
    const struct device_backend *backend = judging->bench->device->backend;
    const struct launch_form     forms[] = {
        {.what = "another stream", .stream = STREAM_OTHER},
        {.what = "beside a busy second stream", .busy = true},
        {.what = "scores that arrive on the stream behind other work", .stream = STREAM_OTHER, .late = true},
    };
    if (!backend->stream)
        return;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0] && !is_decided(judging); i++)
        if (!forms[i].late || case_scores_bytes(&judging->problem.inputs) <= MAX_LATE_BYTES)
            launch_and_check(judging, &judging->problem, forms[i], COMPARE_ROWS);
}

/* Plan 6, on devices with graphs: a launch captured with shorter rows, replayed with the case's own. */
static void launch_graph(struct judging *judging)
{
    struct launch_form form = {.what = "a captured launch with shorter rows", .graph = GRAPH_CAPTURE};
    if (!judging->bench->device->backend->capture_begin ||
        judging->bench->provider->claims.capture != TOPK_CAPTURE_OK ||
        problem_shortened(&judging->problem, &judging->shortened, &judging->error))
        return;
    launch_and_check(judging, &judging->shortened, form, COMPARE_NOTHING);
    if (is_decided(judging) || judging->missed <= TOPK_LEVEL_INVARIANT)
        return;
    form = (struct launch_form){.what = "the captured launch, replayed with the case's own rows", .graph = GRAPH_REPLAY};
    launch_and_check(judging, &judging->problem, form, COMPARE_ROWS);
}

/* Plan 7, for families that ask for it: the same kernel by the other road (ahead of time, just in time). False, with the
 * reason, when that road is not there. */
static bool launch_other_origin(struct judging *judging, char *why, size_t why_size)
{
    struct launch_bench        *bench = judging->bench;
    const struct topk_provider *provider = bench->provider;
    struct error                none = {0};
    void                       *self = bench->self, *other_self = NULL;
    if (!judging->concrete->family->both_origins || !bench->other_origin || is_decided(judging))
        return true;
    const struct topk_provider *other = bench->other_origin(&other_self, &none);
    if (!other) {
        snprintf(why, why_size, "needs the kernel both ahead of time and just in time: %s", none.text);
        return false;
    }
    bench->provider = other;
    bench->self = other_self;
    launch_and_check(judging, &judging->problem, (struct launch_form){.what = "the same kernel by its other origin"},
                     COMPARE_ROWS);
    bench->provider = provider;
    bench->self = self;
    return true;
}

/* Makes the problems of the family's sequence; a topk beyond the provider's largest is brought down to it. */
static void make_steps(struct judging *judging)
{
    const struct family      *family = judging->concrete->family;
    const struct topk_claims *claims = &judging->bench->provider->claims;
    judging->steps = calloc(family->n_sequence + 1, sizeof *judging->steps);
    if (!judging->steps) {
        error_no_memory(&judging->error);
        return;
    }
    for (size_t s = 0; s < family->n_sequence && !judging->error.status; s++) {
        struct case_spec   spec = registry_sequence_spec(judging->concrete, &family->sequence[s]);
        struct case_inputs inputs = {0};
        if (spec.topk > claims_max_topk(claims))
            spec.topk = claims_max_topk(claims);
        if (case_generate(&spec, &inputs, judging->error.text, sizeof judging->error.text))
            judging->error.status = STATUS_BOOKS;
        else if (!problem_make(&judging->steps[s], &inputs, claims, &judging->error))
            judging->n_steps++;
    }
}

/* Inputs, their digest, and the answer. */
static void make_problem(struct judging *judging)
{
    struct case_inputs inputs = {0};
    struct judgement  *judgement = judging->judgement;
    const char        *known = judging->concrete->input_hash;
    if (case_generate(&judging->concrete->spec, &inputs, judging->error.text, sizeof judging->error.text)) {
        judging->error.status = STATUS_BOOKS;
        return;
    }
    digest_of_inputs(&inputs, judgement->input_hash);
    if (known && strcmp(known, judgement->input_hash) != 0) {
        error_set(&judging->error, STATUS_BOOKS,
                  "the inputs' digest is %s, hashes.txt says %s: this build makes other inputs than the registry records",
                  judgement->input_hash, known);
        case_inputs_clear(&inputs);
        return;
    }
    if (problem_make(&judging->problem, &inputs, &judging->bench->provider->claims, &judging->error))
        return;
    judging->rows = malloc((size_t)judging->problem.inputs.batch * sizeof *judging->rows);
    if (!judging->rows)
        error_no_memory(&judging->error);
}

/* Memory that is no array's, after all of the case's launches. */
static void look_afar(struct judging *judging)
{
    char where[256];
    if (!judging->error.status && launch_bench_is_damaged_afar(judging->bench, where, sizeof where))
        miss(judging, TOPK_LEVEL_SAFE, "one of %d launches: %s", judging->launches, where);
}

/* The whole plan. False when the provider does not support the case. */
static bool follow_plan(struct judging *judging, int32_t repeats)
{
    if (!launch_repeats(judging, repeats))
        return false;
    char reason[JUDGE_REASON_BYTES];
    snprintf(reason, sizeof reason, "%s", judging->judgement->reason);
    void (*const parts[])(struct judging *) = {launch_sweeps,       launch_other_contents, launch_other_company,
                                               launch_other_memory, launch_other_streams,  launch_graph};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && !is_decided(judging); i++)
        parts[i](judging);
    look_afar(judging);
    explore(judging);
    if (!launch_other_origin(judging, reason, sizeof reason)) {
        snprintf(judging->judgement->reason, sizeof judging->judgement->reason, "%s", reason);
        return judging->missed <= judging->judgement->promised; /* what failed before this road failed */
    }
    if (judging->missed == NOTHING_MISSED)
        judging->judgement->reason[0] = '\0'; /* a form that is not supported is no reason */
    return true;
}

static void clear(struct judging *judging)
{
    for (int a = 0; a < MAX_ARRANGEMENTS; a++) {
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

/* A launch on gigabytes takes seconds to lay out and check: there the device's number is brought down to 3. */
static int32_t default_repeats(const struct device *device, const struct case_spec *spec)
{
    enum { FEW = 3 };
    int64_t longest = 0;
    for (size_t i = 0; i < spec->n_lengths; i++)
        longest = spec->lengths[i] > longest ? spec->lengths[i] : longest;
    bool is_large = longest * spec->batch > INT64_C(1) << 28;
    return is_large && device->default_repeats > FEW ? FEW : device->default_repeats;
}

void judge_case(struct launch_bench *bench, const struct concrete_case *concrete, int32_t repeats,
                struct judgement *judgement)
{
    struct judging judging = {
        .bench = bench, .concrete = concrete, .judgement = judgement, .missed = NOTHING_MISSED};
    bool supported = true;
    memset(judgement, 0, sizeof *judgement);
    judgement->set_exact = -1;
    judgement->promised = registry_case_level(concrete, &bench->provider->claims);
    bench->with_pages = concrete->outputs != OUTPUTS_RAW;
    bench->with_raw = concrete->outputs != OUTPUTS_PAGE;
    if (repeats < default_repeats(bench->device, &concrete->spec))
        repeats = default_repeats(bench->device, &concrete->spec);
    if (repeats < concrete->family->launches)
        repeats = concrete->family->launches;
    make_problem(&judging);
    if (!judging.error.status)
        make_steps(&judging);
    if (!judging.error.status)
        supported = follow_plan(&judging, repeats);
    judgement->level = (enum topk_level)(judging.missed - 1);
    if (judging.error.status) {
        judgement->verdict = VERDICT_ERROR;
        snprintf(judgement->reason, sizeof judgement->reason, "%s", judging.error.text);
    } else if (!supported)
        judgement->verdict = VERDICT_SKIP;
    else
        judgement->verdict = judging.device_fault                    ? VERDICT_CRASH
                             : judging.missed <= judgement->promised ? VERDICT_FAIL
                                                                     : VERDICT_PASS;
    if (judgement->verdict == VERDICT_PASS)
        kernel_time_measure(bench, &judging.problem, &judgement->time);
    if (judgement->verdict == VERDICT_PASS && concrete->family->n_promises && judgement->level > judgement->promised &&
        judgement->promised < bench->provider->claims.level)
        judgement->level = judgement->promised; /* what the claim leaves unranked is not judged beyond */
    if (judgement->verdict == VERDICT_PASS) { /* what it was not asked for is nobody's failure */
        judgement->reason[0] = '\0';
        judgement->n_differences = 0;
    }
    clear(&judging);
}
