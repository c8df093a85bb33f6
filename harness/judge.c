/* SPDX-License-Identifier: Apache-2.0 */
/* The judge's launch plan for a case; see judge.h. Start reading at judge_case(). */
#include "harness/judge.h"

#include "harness/claims.h"
#include "harness/clock.h"
#include "harness/judging.h"
#include "harness/wave_size.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The case itself again and again, each time under a schedule that it has not had, for as long as was asked. */
static void explore(struct judging *judging)
{
    struct launch_form form = {.what = "exploring"};
    double             end = clock_seconds() + (double)judging->bench->explore_seconds;
    while (judging->bench->explore_seconds && judging->bench->device->backend->order && !judging_is_decided(judging) &&
           clock_seconds() < end) {
        form.turn = judging->turn++;
        judging_launch(judging, &judging->problem, form, COMPARE_REPEAT);
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
        judging_check(judging, &problem, &form, &result);
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
        for (int64_t value = sweep->from; value <= last && !judging_is_decided(judging); value += sweep->step)
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
            judging_launch(judging, &judging->reversed, form, COMPARE_NOTHING);
    } else {
        for (int32_t place = 0; place < batch; place++)
            judging->rows[place] = (place + 1) % batch;
        form.turn = judging->turn++;
        judging_launch(judging, &judging->problem, form, COMPARE_ROWS);
    }
    if (judging_is_decided(judging))
        return;
    form = (struct launch_form){.what = "the case itself, after other contents"};
    /* The same turns as before, so that every arrangement meets its own first outputs. */
    form.turn = judging->turn++;
    judging_launch(judging, &judging->problem, form, COMPARE_REPEAT);
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
    judging_launch(judging, &judging->problem, form, COMPARE_ROWS);
    form.what = "every second row replaced by the first";
    for (int32_t place = 0; place < batch; place++)
        judging->rows[place] = place % 2 ? 0 : place;
    form.turn = judging->turn++;
    judging_launch(judging, &judging->problem, form, COMPARE_ROWS);
    form.n_rows = 1;
    const int32_t alone[] = {longest_row(&judging->problem), batch - 1};
    for (int i = 0; i < 2 && !judging_is_decided(judging); i++) {
        form.what = i ? "the last row alone" : "the longest row alone";
        judging->rows[0] = alone[i];
        form.turn = judging->turn++;
        judging_launch(judging, &judging->problem, form, COMPARE_ROWS);
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
    for (size_t i = 0; i < sizeof forms / sizeof forms[0] && !judging_is_decided(judging); i++) {
        struct launch_form form = forms[i];
        form.turn = judging->turn++;
        judging_launch(judging, &judging->problem, form, COMPARE_ROWS);
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
    for (size_t i = 0; i < sizeof forms / sizeof forms[0] && !judging_is_decided(judging); i++)
        if (!forms[i].late || case_scores_bytes(&judging->problem.inputs) <= MAX_LATE_BYTES)
            judging_launch(judging, &judging->problem, forms[i], COMPARE_ROWS);
}

/* Plan 6, on devices with graphs: a launch captured with shorter rows, replayed with the case's own. */
static void launch_graph(struct judging *judging)
{
    struct launch_form form = {.what = "a captured launch with shorter rows", .graph = GRAPH_CAPTURE};
    if (!judging->bench->device->backend->capture_begin ||
        judging->bench->provider->claims.capture != TOPK_CAPTURE_OK ||
        problem_shortened(&judging->problem, &judging->shortened, &judging->error))
        return;
    judging_launch(judging, &judging->shortened, form, COMPARE_NOTHING);
    if (judging_is_decided(judging) || judging->missed <= TOPK_LEVEL_INVARIANT)
        return;
    form = (struct launch_form){.what = "the captured launch, replayed with the case's own rows", .graph = GRAPH_REPLAY};
    judging_launch(judging, &judging->problem, form, COMPARE_ROWS);
}

/* Plan 7, for families that ask for it: the same kernel by the other road (ahead of time, just in time). False, with the
 * reason, when that road is not there. */
static bool launch_other_origin(struct judging *judging, char *why, size_t why_size)
{
    struct launch_bench        *bench = judging->bench;
    const struct topk_provider *provider = bench->provider;
    struct error                none = {0};
    void                       *self = bench->self, *other_self = NULL;
    if (!judging->concrete->family->both_origins || !bench->other_origin || judging_is_decided(judging))
        return true;
    const struct topk_provider *other = bench->other_origin(&other_self, &none);
    if (!other) {
        snprintf(why, why_size, "needs the kernel both ahead of time and just in time: %s", none.text);
        return false;
    }
    bench->provider = other;
    bench->self = other_self;
    judging_launch(judging, &judging->problem, (struct launch_form){.what = "the same kernel by its other origin"},
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
        const struct sequence_step *step = &family->sequence[s];
        struct case_param  *params = calloc(judging->concrete->spec.n_params + step->n_params + 1, sizeof *params);
        struct case_inputs  inputs = {0};
        if (!params) {
            error_no_memory(&judging->error);
            return;
        }
        struct case_spec spec = registry_sequence_spec(judging->concrete, step, params);
        if (spec.topk > claims_max_topk(claims))
            spec.topk = claims_max_topk(claims);
        if (case_generate(&spec, &inputs, judging->error.text, sizeof judging->error.text))
            judging->error.status = STATUS_BOOKS;
        else if (!problem_make(&judging->steps[s], &inputs, claims, &judging->error))
            judging->n_steps++;
        free(params);
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

void judging_follow_plan(struct judging *judging)
{
    void (*const parts[])(struct judging *) = {launch_other_contents, launch_other_company, launch_other_memory,
                                               launch_other_streams, launch_graph};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && !judging_is_decided(judging); i++)
        parts[i](judging);
}

/* The whole plan. False when the provider does not support the case. */
static bool follow_plan(struct judging *judging, int32_t repeats)
{
    if (!judging_repeat(judging, repeats))
        return false;
    char reason[JUDGE_REASON_BYTES];
    snprintf(reason, sizeof reason, "%s", judging->judgement->reason);
    if (!judging_is_decided(judging))
        launch_sweeps(judging);
    judging_follow_plan(judging);
    judging_look_afar(judging);
    explore(judging);
    if (!launch_other_origin(judging, reason, sizeof reason)) {
        snprintf(judging->judgement->reason, sizeof judging->judgement->reason, "%s", reason);
        return judging->missed <= judging->judgement->promised; /* what failed before this road failed */
    }
    if (judging->missed == JUDGING_NOTHING_MISSED)
        judging->judgement->reason[0] = '\0'; /* a form that is not supported is no reason */
    return true;
}

int32_t judge_repeats(const struct device *device, const struct concrete_case *concrete, int32_t asked)
{
    enum { FEW = 3 };
    const struct case_spec *spec = &concrete->spec;
    int32_t                 repeats = device->default_repeats;
    int64_t                 longest = 0;
    for (size_t i = 0; i < spec->n_lengths; i++)
        longest = spec->lengths[i] > longest ? spec->lengths[i] : longest;
    if (repeats > FEW && longest * spec->batch > INT64_C(1) << 28)
        repeats = FEW;
    if (repeats < asked)
        repeats = asked;
    return repeats < concrete->family->launches ? concrete->family->launches : repeats;
}

void judge_case(struct launch_bench *bench, const struct concrete_case *concrete, int32_t repeats,
                struct judgement *judgement)
{
    struct judging judging = {
        .bench = bench, .concrete = concrete, .judgement = judgement, .missed = JUDGING_NOTHING_MISSED};
    bool supported = true;
    memset(judgement, 0, sizeof *judgement);
    judgement->set_exact = -1;
    judgement->promised = registry_case_level(concrete, &bench->provider->claims);
    bench->with_pages = concrete->outputs != OUTPUTS_RAW;
    bench->with_raw = concrete->outputs != OUTPUTS_PAGE;
    repeats = judge_repeats(bench->device, concrete, repeats);
    make_problem(&judging);
    if (!judging.error.status)
        make_steps(&judging);
    if (!judging.error.status)
        supported = follow_plan(&judging, repeats);
    if (!judging.error.status && supported && !judging.device_fault && judging.missed <= judgement->promised)
        wave_size_name(&judging);
    judging_conclude(&judging, supported);
    if (judgement->verdict == VERDICT_PASS)
        kernel_time_measure(bench, &judging.problem, &judgement->time);
    if (judgement->verdict == VERDICT_PASS && concrete->family->n_promises && judgement->level > judgement->promised &&
        judgement->promised < bench->provider->claims.level)
        judgement->level = judgement->promised; /* what the claim leaves unranked is not judged beyond */
    if (judgement->verdict == VERDICT_PASS) { /* what it was not asked for is nobody's failure */
        judgement->reason[0] = '\0';
        judgement->n_differences = 0;
    }
    judging_clear(&judging);
}
