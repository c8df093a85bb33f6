/* SPDX-License-Identifier: Apache-2.0 */
/* The process that measures; see bench.h. Start reading at bench_measure(). */
#include "harness/bench.h"

#include "harness/claims.h"
#include "harness/clock.h"
#include "harness/guarded.h"
#include "harness/provider_call.h"
#include "harness/provider_gpu.h"
#include "harness/provider_load.h"
#include "harness/row_check.h"

#include <stdlib.h>
#include <string.h>

#define LONG_REPLAY_US 6000.0
#define WARM_BYTES ((size_t)1 << 30) /* a graph of warm launches reads no more than this */
#define EVICTION_BYTES ((size_t)64 << 20)
#define POISON UINT32_C(0xa5a5a5a5)

enum { MAX_WARM_LAUNCHES = 50, MIN_WARM_LAUNCHES = 2, TURNS = 11, LONG_TURNS = 5, FEWEST_TURNS = 3, CHECKED_ROWS = 3 };

/* Who takes turns: the providers, and behind them the yardstick. */
struct contestant {
    struct loaded_provider loaded;
    void                  *self;
    bool                   is_loaded, is_open;
    /* of the cell in work */
    struct bench_result result;
    void               *graphs[BENCH_N_HEATS];
    bool                is_out; /* cannot or may not run this cell any further */
};

struct bench {
    const struct settings   *settings;
    const struct bench_grid *grid;
    FILE                    *to;
    struct device            device;
    bool                     device_is_open;
    struct bench_reader      reader;
    struct bench_inputs      inputs;
    struct contestant        contestants[BENCH_MAX_PROVIDERS + 1];
    size_t                   n_providers;
    int32_t                 *pages, *raw; /* of the device, [batch][topk] each */
    void                    *workspace;
    size_t                   pages_bytes, raw_bytes, workspace_bytes;
    void                    *eviction; /* of the host */
    size_t                   cell;
    struct bench_cell        at;
    int64_t                  started_ns;
    int                      turns;
};

/* ---- saying ---------------------------------------------------------------------------------------------------- */

static void say(struct bench *bench, json_t *object)
{
    if (!object || json_dumpf(object, bench->to, JSON_COMPACT) != 0 || fputc('\n', bench->to) == EOF || fflush(bench->to))
        _Exit(STATUS_BOOKS); /* nobody listens any more */
    json_decref(object);
}

static void say_refused(struct bench *bench, const struct error *err)
{
    say(bench, json_pack("{s:s, s:i, s:s}", "kind", "refused", "status", (int)err->status, "text", err->text));
}

static bool is_yardstick(const struct bench *bench, const struct contestant *c)
{
    return c == &bench->contestants[bench->n_providers];
}

static void say_at(struct bench *bench, const struct contestant *c)
{
    int number = is_yardstick(bench, c) ? -1 : (int)(c - bench->contestants);
    say(bench, json_pack("{s:s, s:I, s:i}", "kind", "at", "cell", (json_int_t)bench->cell, "provider", number));
}

static void say_result(struct bench *bench, const struct contestant *c)
{
    json_t *object = json_pack("{s:s, s:I, s:i, s:s, s:s, s:s}", "kind", "cell", "cell", (json_int_t)bench->cell,
                               "provider", (int)(c - bench->contestants), "verdict", verdict_text(c->result.verdict),
                               "reason", c->result.reason, "path", c->result.path);
    for (int heat = 0; object && heat < BENCH_N_HEATS; heat++) {
        json_t *samples = json_array();
        for (int32_t i = 0; i < c->result.n_samples[heat]; i++)
            json_array_append_new(samples, json_real(c->result.samples[heat][i]));
        json_object_set_new(object, bench_heat_names[heat], samples);
    }
    say(bench, object);
}

/* ---- opening --------------------------------------------------------------------------------------------------- */

static enum status load(struct bench *bench, size_t i, const char *device_name, struct error *err)
{
    struct contestant    *c = &bench->contestants[i];
    const char           *text = bench->settings->providers.items[i];
    struct provider_name  name;
    struct provider_place place = {device_name, bench->settings->origin, false};
    char                  claims[256];
    if (provider_find(text, &name, err))
        return err->status;
    if (name.kind == PROVIDER_PROCESS)
        return error_set(err, STATUS_USAGE, "%s: a process keeps its tensors to itself and cannot be timed from outside; "
                         "a plugin can", text);
    for (size_t j = 0; j < i; j++)
        if (bench->contestants[j].loaded.is_gpu_kernel && (name.kind == PROVIDER_BUILTIN || name.kind == PROVIDER_SOURCE))
            return error_set(err, STATUS_USAGE, "%s and %s: of v1 and kernel sources, one fits a process; others come as "
                             "plugins", bench->settings->providers.items[j], text);
    if (provider_load(&name, &place, &c->loaded, err))
        return err->status;
    c->is_loaded = true;
    if (!provider_fits(&name, c->loaded.provider->memory, bench->device.backend->name))
        return error_set(err, STATUS_USAGE, "%s does not run on %s", text, device_name);
    if (c->loaded.is_gpu_kernel && provider_gpu_prepare(err))
        return err->status;
    claims_format(&c->loaded.provider->claims, claims, sizeof claims);
    say(bench, json_pack("{s:s, s:i, s:s, s:s, s:s, s:s, s:s}", "kind", "provider", "number", (int)i, "name",
                         c->loaded.provider->name, "version", c->loaded.provider->version, "digest", c->loaded.digest,
                         "origin", c->loaded.origin, "claims", claims));
    return STATUS_OK;
}

static enum status open_all(struct bench *bench, const char *device_name, struct error *err)
{
    char why[512];
    bench_reader_prepare(&bench->reader, device_name);
    if (device_open(&bench->device, device_name, err))
        return err->status;
    bench->device_is_open = true;
    bench->n_providers = bench->settings->providers.n;
    for (size_t i = 0; i < bench->n_providers; i++)
        if (load(bench, i, device_name, err))
            return err->status;
    for (size_t i = 0; i < bench->n_providers; i++) {
        struct contestant *c = &bench->contestants[i];
        if (provider_call_open(c->loaded.provider, bench->device.ordinal, &c->self, why, sizeof why) != 0)
            return error_set(err, STATUS_FAIL, "%s: open: %s", c->loaded.provider->name, why);
        c->is_open = true;
    }
    bench_reader_open(&bench->reader, &bench->device);
    return STATUS_OK;
}

static void close_all(struct bench *bench)
{
    struct device *device = &bench->device;
    for (size_t i = 0; i < bench->n_providers; i++)
        if (bench->contestants[i].is_open)
            provider_call_close(bench->contestants[i].loaded.provider, bench->contestants[i].self);
    bench_reader_close(&bench->reader);
    if (bench->device_is_open) {
        if (bench->inputs.device)
            bench_inputs_clear(&bench->inputs);
        if (bench->pages)
            device->backend->free(device, bench->pages, bench->pages_bytes);
        if (bench->raw)
            device->backend->free(device, bench->raw, bench->raw_bytes);
        if (bench->workspace)
            device->backend->free(device, bench->workspace, bench->workspace_bytes);
        device_close(device);
    }
    for (size_t i = 0; i < bench->n_providers; i++)
        if (bench->contestants[i].is_loaded)
            provider_unload(&bench->contestants[i].loaded);
    free(bench->eviction);
}

/* ---- one launch ------------------------------------------------------------------------------------------------ */

static void *stream_of(struct bench *bench)
{
    const struct device_backend *backend = bench->device.backend;
    return backend->stream ? backend->stream(&bench->device, STREAM_MAIN) : NULL;
}

static struct topk_problem problem_on(struct bench *bench, int32_t slice)
{
    const struct bench_inputs *inputs = &bench->inputs;
    return (struct topk_problem){.scores = bench_inputs_slice(inputs, slice),
                                 .seq_lens = inputs->seq_lens,
                                 .page_table = inputs->page_table,
                                 .page_indices = bench->pages,
                                 .raw_indices = bench->raw,
                                 .score_stride = inputs->length,
                                 .page_table_stride = inputs->table_stride,
                                 .batch = inputs->batch,
                                 .topk = bench->at.topk,
                                 .page_size = BENCH_PAGE_SIZE,
                                 .max_seq_len = inputs->length,
                                 .workspace = bench->workspace,
                                 .stream = stream_of(bench)};
}

/* Takes a contestant out of the cell. A crash is a fault of the device, which is then of no more use to anybody. */
static void put_out(struct contestant *c, enum verdict verdict, const char *what, const char *cause)
{
    c->is_out = true;
    c->result.verdict = verdict;
    snprintf(c->result.reason, sizeof c->result.reason, "%s%s%s", what, cause[0] ? ": " : "", cause);
}

static bool launch(struct bench *bench, struct contestant *c, int32_t slice)
{
    char                err[512];
    struct error        cause = {0};
    struct topk_problem problem = problem_on(bench, slice);
    if (is_yardstick(bench, c)) {
        if (bench_reader_launch(&bench->reader, problem.scores, (int64_t)problem.batch * problem.max_seq_len,
                                problem.stream, &cause))
            put_out(c, VERDICT_ERROR, "reading the scores", cause.text);
    } else if (provider_call_launch(c->loaded.provider, c->self, &problem, err, sizeof err) != 0)
        put_out(c, VERDICT_FAIL, "launch", err);
    return !c->is_out;
}

static int32_t launches_of(const struct bench *bench, enum bench_heat heat)
{
    if (heat == BENCH_COLD)
        return bench->inputs.n_slices;
    size_t n = WARM_BYTES / ((size_t)bench->inputs.batch * (size_t)bench->inputs.length * sizeof(float));
    if (bench->device.host_visible)
        n = MIN_WARM_LAUNCHES;
    return n > MAX_WARM_LAUNCHES ? MAX_WARM_LAUNCHES : n < MIN_WARM_LAUNCHES ? MIN_WARM_LAUNCHES : (int32_t)n;
}

/* All launches of a sample, one behind the other. */
static bool launch_all(struct bench *bench, struct contestant *c, enum bench_heat heat)
{
    int32_t n = launches_of(bench, heat);
    for (int32_t i = 0; i < n; i++)
        if (!launch(bench, c, heat == BENCH_COLD ? i : 0))
            return false;
    return true;
}

static bool may_capture(const struct bench *bench, const struct contestant *c)
{
    return bench->device.backend->capture_begin &&
           (is_yardstick(bench, c) || c->loaded.provider->claims.capture == TOPK_CAPTURE_OK);
}

/* A first launch as it is, so that nothing is made ready inside a capture; then the graph. */
static void make_graph(struct bench *bench, struct contestant *c, enum bench_heat heat)
{
    const struct device_backend *backend = bench->device.backend;
    struct error                 err = {0};
    void                        *stream = stream_of(bench);
    if (!launch(bench, c, 0))
        return;
    if (backend->finish && backend->finish(&bench->device, stream, &err)) {
        put_out(c, err.status == STATUS_FAIL ? VERDICT_CRASH : VERDICT_FAIL, "the first launch", err.text);
        return;
    }
    if (!may_capture(bench, c))
        return;
    if (backend->capture_begin(&bench->device, stream, &err)) {
        put_out(c, VERDICT_ERROR, "keeping the launches", err.text);
        return;
    }
    bool launched = launch_all(bench, c, heat);
    if (backend->capture_end(&bench->device, stream, &c->graphs[heat], &err) && launched)
        put_out(c, VERDICT_FAIL, "keeping the launches", err.text);
}

/* The microseconds of one launch, or a negative number. */
static double take_sample(struct bench *bench, struct contestant *c, enum bench_heat heat)
{
    struct device               *device = &bench->device;
    const struct device_backend *backend = device->backend;
    struct error                 err = {0};
    void                        *stream = stream_of(bench);
    double                       us = 0;
    if (!backend->time_begin) { /* the host */
        if (heat == BENCH_COLD && bench->eviction)
            memset(bench->eviction, (int)bench->cell & 0xff, EVICTION_BYTES);
        int64_t started = clock_ns();
        if (!launch_all(bench, c, heat))
            return -1;
        return (double)(clock_ns() - started) / 1000.0 / launches_of(bench, heat);
    }
    if ((heat == BENCH_COLD && backend->flush_cache(device, stream, &err)) || backend->time_begin(device, stream, &err) ||
        (c->graphs[heat] && backend->graph_launch(device, c->graphs[heat], stream, &err)) ||
        (!c->graphs[heat] && !launch_all(bench, c, heat)) || backend->time_end(device, stream, &us, &err)) {
        if (err.status)
            put_out(c, err.status == STATUS_FAIL ? VERDICT_CRASH : VERDICT_ERROR, "a measurement", err.text);
        return -1;
    }
    return us / launches_of(bench, heat);
}

/* ---- one cell -------------------------------------------------------------------------------------------------- */

static enum status grow(struct bench *bench, void **memory, size_t *capacity, size_t bytes, struct error *err)
{
    bool unused;
    if (*memory && *capacity >= bytes)
        return STATUS_OK;
    if (*memory)
        bench->device.backend->free(&bench->device, *memory, *capacity);
    *memory = bench->device.backend->alloc(&bench->device, bytes, &unused, err);
    *capacity = *memory ? bytes : 0;
    return err->status;
}

/* Outputs, and the largest workspace that anyone wants. */
static enum status make_room(struct bench *bench, struct error *err)
{
    size_t outputs = (size_t)bench->at.batch * (size_t)bench->at.topk * sizeof(int32_t), workspace = 256;
    if (grow(bench, (void **)&bench->pages, &bench->pages_bytes, outputs, err) ||
        grow(bench, (void **)&bench->raw, &bench->raw_bytes, outputs, err))
        return err->status;
    for (size_t i = 0; i < bench->n_providers; i++) {
        struct topk_problem problem = problem_on(bench, 0);
        size_t wanted = provider_call_workspace_bytes(bench->contestants[i].loaded.provider, bench->contestants[i].self,
                                                      &problem);
        workspace = wanted > workspace ? wanted : workspace;
    }
    return grow(bench, &bench->workspace, &bench->workspace_bytes, workspace, err);
}

/* Who can run the cell at all. */
static void invite(struct bench *bench)
{
    char why[512] = "";
    for (size_t i = 0; i <= bench->n_providers; i++) {
        struct contestant  *c = &bench->contestants[i];
        struct topk_problem problem = problem_on(bench, 0);
        memset(&c->result, 0, sizeof c->result);
        memset(c->graphs, 0, sizeof c->graphs);
        c->is_out = false;
        if (is_yardstick(bench, c)) {
            c->result.verdict = VERDICT_SKIP;
            snprintf(c->result.reason, sizeof c->result.reason, "a yardstick: it reads the scores and selects nothing");
            if (!bench->reader.usable)
                put_out(c, VERDICT_ERROR, "not measured", bench->reader.why_not);
        } else if (c->loaded.provider->claims.outputs != TOPK_OUTPUTS_ALL)
            put_out(c, VERDICT_SKIP, "it does not put out pages and raw indices", "");
        else if (bench->at.topk > claims_max_topk(&c->loaded.provider->claims))
            put_out(c, VERDICT_SKIP, "topk is beyond what it promises", "");
        else if (!provider_call_supports(c->loaded.provider, c->self, &problem, why, sizeof why))
            put_out(c, VERDICT_SKIP, why, "");
    }
}

/* Compares some rows of the launch that came last with the reference. */
static void check_answer(struct bench *bench, struct contestant *c, int32_t slice)
{
    const struct topk_claims *claims = &c->loaded.provider->claims;
    int32_t  topk = bench->at.topk, batch = bench->at.batch;
    int32_t  rows[CHECKED_ROWS] = {0, batch / 2, batch - 1};
    int32_t  n = batch < CHECKED_ROWS ? batch : CHECKED_ROWS;
    int32_t *memory = malloc((size_t)topk * 6 * sizeof *memory);
    struct problem problem = {0};
    struct error   err = {0};
    if (!memory)
        error_no_memory(&err);
    else
        bench_inputs_problem(&bench->inputs, slice, rows, n, topk, claims, &problem, &err);
    for (int32_t i = 0; i < n && !err.status && c->result.verdict == VERDICT_PASS; i++) {
        size_t bytes = (size_t)topk * sizeof *memory;
        if (bench->device.backend->read(&bench->device, memory, bench->pages + (int64_t)rows[i] * topk, bytes, &err) ||
            bench->device.backend->read(&bench->device, memory + topk, bench->raw + (int64_t)rows[i] * topk, bytes, &err))
            break;
        struct row_outputs outputs = {memory, memory + topk};
        struct row_check   check = row_check(&problem, i, outputs, POISON, memory + (size_t)2 * (size_t)topk);
        bool right = check.written && check.valid && (claims->level < TOPK_LEVEL_CANONICAL || check.canonical);
        if (claims->level < TOPK_LEVEL_VALID)
            right = check.written;
        if (!right) {
            char where[64];
            snprintf(where, sizeof where, "wrong answer: row %d", rows[i]);
            c->result.verdict = VERDICT_FAIL; /* its times are told all the same, and marked */
            snprintf(c->result.reason, sizeof c->result.reason, "%s: %s", where, check.text);
        }
    }
    if (err.status)
        put_out(c, err.status == STATUS_FAIL ? VERDICT_CRASH : VERDICT_ERROR, "checking the answer", err.text);
    if (problem.lengths)
        problem_clear(&problem);
    free(memory);
}

static void poison_outputs(struct bench *bench, struct contestant *c)
{
    size_t       bytes = (size_t)bench->at.batch * (size_t)bench->at.topk * sizeof(int32_t);
    struct error err = {0};
    void        *poison = malloc(bytes);
    if (poison) {
        memset(poison, POISON & 0xff, bytes);
        if (bench->device.backend->write(&bench->device, bench->pages, poison, bytes, &err) ||
            bench->device.backend->write(&bench->device, bench->raw, poison, bytes, &err))
            put_out(c, VERDICT_ERROR, "clearing the outputs", err.text);
    }
    free(poison);
}

/* Graphs, one untimed replay, the answer. */
static void make_ready(struct bench *bench, struct contestant *c, double *longest_us)
{
    for (int heat = 0; heat < BENCH_N_HEATS && !c->is_out; heat++) {
        if (!bench->grid->heats[heat])
            continue;
        say_at(bench, c);
        make_graph(bench, c, (enum bench_heat)heat);
        if (c->is_out)
            return;
        bool is_first = heat == BENCH_COLD || !bench->grid->heats[BENCH_COLD];
        if (is_first && !is_yardstick(bench, c))
            poison_outputs(bench, c);
        double us = c->is_out ? -1 : take_sample(bench, c, (enum bench_heat)heat);
        if (us > 0 && us * launches_of(bench, (enum bench_heat)heat) > *longest_us)
            *longest_us = us * launches_of(bench, (enum bench_heat)heat);
        if (!is_first || c->is_out || is_yardstick(bench, c))
            continue;
        c->result.verdict = VERDICT_PASS;
        check_answer(bench, c, heat == BENCH_COLD ? bench->inputs.n_slices - 1 : 0);
        provider_call_path(c->loaded.provider, c->self, c->result.path, sizeof c->result.path);
    }
}

static void say_lost(struct bench *bench, const struct contestant *c)
{
    struct error err = {0};
    error_set(&err, STATUS_FAIL, "%s: %s", c->loaded.provider ? c->loaded.provider->name : "one read", c->result.reason);
    say_refused(bench, &err);
    _Exit(STATUS_FAIL); /* closing would wait for a device that does not answer */
}

static void take_turns(struct bench *bench, double longest_us)
{
    size_t n = bench->n_providers + 1;
    int    turns = longest_us > LONG_REPLAY_US && bench->turns > LONG_TURNS ? LONG_TURNS : bench->turns;
    for (int heat = 0; heat < BENCH_N_HEATS; heat++)
        for (int turn = 0; bench->grid->heats[heat] && turn < turns; turn++)
            for (size_t i = 0; i < n; i++) {
                struct contestant *c = &bench->contestants[(i + (size_t)turn) % n];
                if (c->is_out)
                    continue;
                say_at(bench, c);
                double us = take_sample(bench, c, (enum bench_heat)heat);
                if (c->result.verdict == VERDICT_CRASH)
                    return;
                if (us >= 0)
                    c->result.samples[heat][c->result.n_samples[heat]++] = us;
            }
}

/* Who has made the device unusable; NULL: nobody. */
static const struct contestant *who_lost_it(const struct bench *bench)
{
    for (size_t i = 0; i <= bench->n_providers; i++)
        if (bench->contestants[i].result.verdict == VERDICT_CRASH)
            return &bench->contestants[i];
    return NULL;
}

static void measure_cell(struct bench *bench)
{
    double       longest_us = 0;
    struct error err = {0};
    if (make_room(bench, &err)) {
        for (size_t i = 0; i <= bench->n_providers; i++) {
            memset(&bench->contestants[i].result, 0, sizeof bench->contestants[i].result);
            put_out(&bench->contestants[i], VERDICT_ERROR, "making room", err.text);
            say_result(bench, &bench->contestants[i]);
        }
        return;
    }
    invite(bench);
    for (size_t i = 0; i <= bench->n_providers; i++)
        if (!who_lost_it(bench))
            make_ready(bench, &bench->contestants[i], &longest_us);
    if (!who_lost_it(bench))
        take_turns(bench, longest_us);
    const struct contestant *guilty = who_lost_it(bench);
    for (size_t i = 0; guilty && i <= bench->n_providers; i++)
        if (&bench->contestants[i] != guilty)
            put_out(&bench->contestants[i], VERDICT_ERROR, "the device was lost to another", "");
    for (size_t i = 0; i <= bench->n_providers; i++) {
        struct contestant *c = &bench->contestants[i];
        for (int heat = 0; heat < BENCH_N_HEATS; heat++)
            if (c->graphs[heat] && !guilty)
                bench->device.backend->graph_free(&bench->device, c->graphs[heat]);
        say_result(bench, c);
    }
    if (guilty)
        say_lost(bench, guilty);
}

/* Rows of the cell's pattern and length, slices of its batch; what stands from the cell before is kept. */
static enum status lay_cell(struct bench *bench, struct error *err)
{
    struct bench_inputs *inputs = &bench->inputs;
    bool same_rows = inputs->pattern == bench->at.pattern && inputs->length == bench->at.length;
    if (!same_rows && bench_inputs_make(inputs, &bench->device, bench->at.pattern, bench->at.length, err))
        return err->status;
    if (same_rows && inputs->batch == bench->at.batch)
        return STATUS_OK;
    return bench_inputs_lay(inputs, bench->at.batch, err);
}

/* With --seconds: fewer turns when cells take longer than their share, none when the time is over. */
static bool has_time(struct bench *bench, size_t n_cells)
{
    double total = (double)bench->settings->seconds, spent = (double)(clock_ns() - bench->started_ns) / 1e9;
    bench->turns = TURNS;
    if (bench->settings->seconds == 0 || bench->cell == 0)
        return true;
    double a_cell = spent / (double)bench->cell, share = (total - spent) / (double)(n_cells - bench->cell);
    if (share < a_cell)
        bench->turns = share < a_cell / 2 ? FEWEST_TURNS : LONG_TURNS;
    return spent < total;
}

void bench_measure(const struct settings *settings, const struct bench_grid *grid, const char *device_name, FILE *to)
{
    struct bench *bench = calloc(1, sizeof *bench);
    struct error  err = {0};
    size_t        n_cells = bench_grid_cells(grid);
    if (!bench)
        _Exit(STATUS_BOOKS);
    *bench = (struct bench){.settings = settings, .grid = grid, .to = to};
    if (open_all(bench, device_name, &err)) {
        say_refused(bench, &err);
        n_cells = 0;
    } else
        say(bench, json_pack("{s:s}", "kind", "ready"));
    bench->started_ns = clock_ns();
    if (bench->device.host_visible)
        bench->eviction = malloc(EVICTION_BYTES);
    for (bench->cell = 0; bench->cell < n_cells; bench->cell++) {
        bench->at = bench_grid_cell(grid, bench->cell);
        if (!has_time(bench, n_cells)) {
            say(bench, json_pack("{s:s, s:I}", "kind", "out_of_time", "cell", (json_int_t)bench->cell));
            break;
        }
        say_at(bench, &bench->contestants[bench->n_providers]);
        if (lay_cell(bench, &err)) {
            say_refused(bench, &err);
            break;
        }
        measure_cell(bench);
    }
    close_all(bench);
    say(bench, json_pack("{s:s}", "kind", "done"));
    free(bench);
}
