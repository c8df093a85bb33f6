/* SPDX-License-Identifier: Apache-2.0 */
/* One launch of a provider; see launch.h. */
#include "harness/launch.h"

#include "harness/provider_call.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PLUS_INFINITY 0x7f800000u
#define TABLE_POISON ((int32_t)0xd3c2a197)
/* No device has so much; leaves room to add guard bands without an overflow. */
#define LARGEST_WORKSPACE ((size_t)1 << 48)

/* The inputs of one launch as they lie in device memory. */
struct laid_out {
    const struct problem *problem;
    int32_t               n_rows;
    int64_t               score_stride, table_stride;
    const void           *scores, *lengths, *table; /* host images to compare with afterwards */
    struct topk_problem   launch;
};

int32_t launch_row_at(const struct launch_form *form, int32_t place)
{
    return form->rows ? form->rows[place] : place;
}

struct row_outputs launch_row(const struct launch_outputs *outputs, int32_t topk, int32_t place)
{
    return (struct row_outputs){
        .pages = outputs->pages ? outputs->pages + (int64_t)place * topk : NULL,
        .raw = outputs->raw ? outputs->raw + (int64_t)place * topk : NULL,
    };
}

static enum status grow(void **memory, size_t *capacity, size_t bytes, struct error *err)
{
    if (*capacity >= bytes)
        return STATUS_OK;
    free(*memory);
    *memory = malloc(bytes + bytes / 4);
    *capacity = *memory ? bytes + bytes / 4 : 0;
    return *memory ? STATUS_OK : error_no_memory(err);
}

/* Rows that stand as in the case need no image of their own. */
static bool is_plain(const struct launch_form *form)
{
    return !form->rows && form->extra_stride == 0 && form->extra_table_stride == 0;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void lay_row(struct launch_bench *bench, const struct laid_out *laid, int32_t place, int32_t row)
{
    const struct case_inputs *inputs = &laid->problem->inputs;
    uint32_t                 *scores = bench->score_image + (int64_t)place * laid->score_stride;
    int32_t                  *table = bench->table_image + (int64_t)place * laid->table_stride;
    memcpy(scores, inputs->scores + (int64_t)row * inputs->score_stride,
           (size_t)least(inputs->score_stride, laid->score_stride) * sizeof *scores);
    for (int64_t i = inputs->score_stride; i < laid->score_stride; i++)
        scores[i] = PLUS_INFINITY;
    memcpy(table, inputs->page_table + (int64_t)row * inputs->page_table_stride,
           (size_t)least(inputs->page_table_stride, laid->table_stride) * sizeof *table);
    for (int64_t i = inputs->page_table_stride; i < laid->table_stride; i++)
        table[i] = TABLE_POISON;
    bench->length_image[place] = inputs->seq_lens[row];
}

static enum status make_images(struct launch_bench *bench, struct laid_out *laid, const struct launch_form *form,
                               struct error *err)
{
    const struct case_inputs *inputs = &laid->problem->inputs;
    if (is_plain(form)) {
        laid->scores = inputs->scores;
        laid->lengths = inputs->seq_lens;
        laid->table = inputs->page_table;
        return STATUS_OK;
    }
    size_t rows = (size_t)laid->n_rows;
    if (grow((void **)&bench->score_image, &bench->score_bytes, rows * (size_t)laid->score_stride * 4, err) ||
        grow((void **)&bench->length_image, &bench->length_bytes, rows * 4, err) ||
        grow((void **)&bench->table_image, &bench->table_bytes, rows * (size_t)laid->table_stride * 4, err))
        return err->status;
    for (int32_t place = 0; place < laid->n_rows; place++)
        lay_row(bench, laid, place, launch_row_at(form, place));
    laid->scores = bench->score_image;
    laid->lengths = bench->length_image;
    laid->table = bench->table_image;
    return STATUS_OK;
}

static enum status place_inputs(struct launch_bench *bench, struct laid_out *laid, const struct launch_form *form,
                                struct error *err)
{
    const struct case_inputs *inputs = &laid->problem->inputs;
    uint32_t                  pattern = guard_patterns[form->pattern % N_PATTERNS];
    size_t                    shift = (size_t)((inputs->base_shift + form->extra_shift) % 64) * sizeof(float);
    struct topk_problem      *launch = &laid->launch;
    if (guarded_place(&bench->scores, bench->device, (size_t)laid->n_rows * (size_t)laid->score_stride * 4, shift,
                      pattern, laid->scores, form->at_end, err) ||
        guarded_place(&bench->seq_lens, bench->device, (size_t)laid->n_rows * 4, 0, pattern, laid->lengths, false,
                      err) ||
        guarded_place(&bench->page_table, bench->device, (size_t)laid->n_rows * (size_t)laid->table_stride * 4, 0,
                      pattern, laid->table, form->at_end, err))
        return err->status;
    launch->scores = guarded_pointer(&bench->scores);
    launch->seq_lens = guarded_pointer(&bench->seq_lens);
    launch->page_table = guarded_pointer(&bench->page_table);
    launch->score_stride = laid->score_stride;
    launch->page_table_stride = laid->table_stride;
    launch->batch = laid->n_rows;
    launch->topk = inputs->topk;
    launch->page_size = inputs->page_size;
    launch->max_seq_len = inputs->max_seq_len;
    return STATUS_OK;
}

static enum status place_outputs(struct launch_bench *bench, struct laid_out *laid, const struct launch_form *form,
                                 struct error *err)
{
    uint32_t pattern = guard_patterns[form->pattern % N_PATTERNS];
    size_t   bytes = (size_t)laid->n_rows * (size_t)laid->launch.topk * sizeof(int32_t);
    if (bench->with_pages) {
        if (guarded_place(&bench->pages, bench->device, bytes, 0, pattern, NULL, false, err))
            return err->status;
        laid->launch.page_indices = guarded_pointer(&bench->pages);
    }
    if (bench->with_raw) {
        if (guarded_place(&bench->raw, bench->device, bytes, 0, pattern, NULL, false, err))
            return err->status;
        laid->launch.raw_indices = guarded_pointer(&bench->raw);
    }
    return STATUS_OK;
}

static bool unsafe(struct launch_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool unsafe(struct launch_result *result, const char *format, ...)
{
    va_list arguments;
    result->safe = false;
    va_start(arguments, format);
    vsnprintf(result->text, sizeof result->text, format, arguments);
    va_end(arguments);
    return false;
}

static enum status place_workspace(struct launch_bench *bench, struct laid_out *laid, const struct launch_form *form,
                                   struct launch_result *result, struct error *err)
{
    size_t   bytes = provider_call_workspace_bytes(bench->provider, bench->self, &laid->launch);
    uint32_t pattern = guard_patterns[0]; /* the same in every repeat; other contents are a form of their own */
    void    *contents = NULL;
    if (bytes == 0)
        return STATUS_OK;
    if (bytes > LARGEST_WORKSPACE ||
        (bench->device->memory_bytes > 0 && bytes > (uint64_t)bench->device->memory_bytes)) {
        unsafe(result, "workspace_bytes returned %zu, more than there is memory%s", bytes,
               bytes == SIZE_MAX ? " (-1; no workspace is 0)" : "");
        return STATUS_OK;
    }
    if (form->workspace == WORKSPACE_ZEROES || form->workspace == WORKSPACE_ONES) {
        contents = malloc(bytes);
        if (!contents)
            return error_no_memory(err);
        memset(contents, form->workspace == WORKSPACE_ZEROES ? 0 : 0xff, bytes);
    }
    if (form->workspace != WORKSPACE_KEPT || bench->workspace.bytes < bytes)
        guarded_place(&bench->workspace, bench->device, bytes, 0, pattern, contents, false, err);
    free(contents);
    if (err->status)
        return err->status;
    laid->launch.workspace = guarded_pointer(&bench->workspace);
    return STATUS_OK;
}

/* One buffer after the launch: guard bands whole, and contents as they were unless it is an output. */
static bool buffer_is_whole(struct guarded *buffer, const char *name, const void *image, struct launch_result *result,
                            struct error *err)
{
    int64_t     distance;
    const char *view = guarded_view(buffer, err);
    if (!view)
        return unsafe(result, "%s", err->text);
    if (guarded_is_damaged(buffer, &distance))
        return distance < 0
                   ? unsafe(result, "wrote %" PRId64 " bytes before the start of %s", -distance, name)
                   : unsafe(result, "wrote behind the end of %s (%" PRId64 " bytes past it)", name, distance);
    if (image && memcmp(view, image, buffer->bytes) != 0) {
        size_t at = 0;
        while (view[at] == ((const char *)image)[at])
            at++;
        return unsafe(result, "changed its input %s at element %zu", name, at / 4);
    }
    return true;
}

static bool buffers_are_whole(struct launch_bench *bench, const struct laid_out *laid, struct launch_result *result,
                              struct error *err)
{
    return buffer_is_whole(&bench->scores, "scores", laid->scores, result, err) &&
           buffer_is_whole(&bench->seq_lens, "seq_lens", laid->lengths, result, err) &&
           buffer_is_whole(&bench->page_table, "page_table", laid->table, result, err) &&
           (!bench->with_pages || buffer_is_whole(&bench->pages, "page_indices", NULL, result, err)) &&
           (!bench->with_raw || buffer_is_whole(&bench->raw, "raw_indices", NULL, result, err)) &&
           (!laid->launch.workspace || buffer_is_whole(&bench->workspace, "workspace", NULL, result, err));
}

/* Checks every row; the text is that of the first row at the lowest level that any row misses. */
static void check_rows(struct launch_bench *bench, const struct laid_out *laid, const struct launch_form *form,
                       struct launch_result *result)
{
    uint32_t poison = guard_patterns[form->pattern % N_PATTERNS];
    int      lowest = 4;
    for (int32_t place = 0; place < laid->n_rows; place++) {
        int32_t          row = launch_row_at(form, place);
        struct row_check check = row_check(laid->problem, row, launch_row(&result->outputs, laid->launch.topk, place),
                                           poison, bench->scratch);
        int              missed = !check.written ? 1 : !check.valid ? 2 : !check.canonical ? 3 : 4;
        result->safe &= check.written;
        result->valid &= check.valid;
        result->exact_set &= check.exact_set;
        result->canonical &= check.canonical;
        if (missed < lowest) {
            lowest = missed;
            result->bad_place = place;
            snprintf(result->text, sizeof result->text, "row %d: %s", row, check.text);
        }
    }
}

static bool is_supported(struct launch_bench *bench, const struct laid_out *laid, struct launch_result *result)
{
    char why[256] = "";
    if (provider_call_supports(bench->provider, bench->self, &laid->launch, why, sizeof why))
        return true;
    snprintf(result->text, sizeof result->text, "%s", why);
    return false;
}

/* The scores' place holds zeroes until the stream, busy with other work, gets to copying them there. */
static enum status delay_scores(struct launch_bench *bench, const struct laid_out *laid, struct error *err)
{
    const struct device_backend *backend = bench->device->backend;
    size_t                       bytes = bench->scores.bytes;
    void                        *zeroes = calloc(1, bytes + 1);
    if (!zeroes)
        return error_no_memory(err);
    if (!guarded_place(&bench->late_scores, bench->device, bytes, 0, bench->scores.pattern, laid->scores, false, err) &&
        !backend->write(bench->device, guarded_pointer(&bench->scores), zeroes, bytes, err) &&
        !backend->keep_busy(bench->device, laid->launch.stream, err))
        backend->copy_behind(bench->device, laid->launch.stream, guarded_pointer(&bench->scores),
                             guarded_pointer(&bench->late_scores), bytes, err);
    free(zeroes);
    return err->status;
}

/* Tells a device that watches what belongs to this launch. */
static void declare_buffers(struct launch_bench *bench, const struct laid_out *laid)
{
    const struct topk_problem *launch = &laid->launch;
    const struct device_buffer buffers[] = {
        {"scores", launch->scores, bench->scores.bytes, false, false},
        {"seq_lens", launch->seq_lens, bench->seq_lens.bytes, false, false},
        {"page_table", launch->page_table, bench->page_table.bytes, false, false},
        {"page_indices", launch->page_indices, bench->pages.bytes, true, false},
        {"raw_indices", launch->raw_indices, bench->raw.bytes, true, false},
        {"workspace", launch->workspace, bench->workspace.bytes, false, true},
    };
    if (bench->device->backend->declare)
        bench->device->backend->declare(bench->device, buffers, sizeof buffers / sizeof buffers[0]);
}

/* What a device that watches has seen, whatever the provider says itself. */
static bool has_finding(struct launch_bench *bench, struct launch_result *result)
{
    const char *text = NULL;
    if (!bench->device->backend->finding || !bench->device->backend->finding(bench->device, &text))
        return false;
    unsafe(result, "%s", text);
    result->is_finding = true;
    return true;
}

static bool call_launch(struct launch_bench *bench, const struct laid_out *laid, struct launch_result *result)
{
    char cause[384] = "";
    declare_buffers(bench, laid);
    int code = provider_call_launch(bench->provider, bench->self, &laid->launch, cause, sizeof cause);
    if (has_finding(bench, result))
        return false;
    if (code != 0)
        return unsafe(result, "launch returned %d: %s", code, cause);
    int closed = provider_call_closed_descriptor();
    if (closed >= 0)
        return unsafe(result, "closed file descriptor %d, which is not its own", closed);
    return true;
}

/* Keeps the launch in a graph. */
static bool capture(struct launch_bench *bench, const struct laid_out *laid, struct launch_result *result,
                    struct error *err)
{
    const struct device_backend *backend = bench->device->backend;
    if (bench->graph)
        backend->graph_free(bench->device, bench->graph);
    bench->graph = NULL;
    if (backend->capture_begin(bench->device, laid->launch.stream, err))
        return unsafe(result, "%s", err->text);
    bool launched = call_launch(bench, laid, result);
    if (backend->capture_end(bench->device, laid->launch.stream, &bench->graph, err) || !launched) {
        char text[LAUNCH_TEXT_BYTES];
        snprintf(text, sizeof text, "%s", launched ? err->text : result->text);
        *result = (struct launch_result){.ran = true, .not_captured = true, .bad_place = -1};
        snprintf(result->text, sizeof result->text, "%s", text);
        *err = (struct error){0};
        return false;
    }
    bench->captured = laid->launch;
    return true;
}

static bool replay(struct launch_bench *bench, const struct laid_out *laid, struct launch_result *result,
                   struct error *err)
{
    if (!bench->graph || memcmp(&bench->captured, &laid->launch, sizeof laid->launch) != 0)
        return unsafe(result, "the buffers moved between capture and replay: a defect of this suite");
    if (bench->device->backend->graph_launch(bench->device, bench->graph, laid->launch.stream, err))
        return unsafe(result, "%s", err->text);
    return true;
}

/* The launch itself, up to the end of the work. */
static bool execute(struct launch_bench *bench, struct laid_out *laid, const struct launch_form *form,
                    struct launch_result *result, struct error *err)
{
    const struct device_backend *backend = bench->device->backend;
    if (form->late && delay_scores(bench, laid, err))
        return unsafe(result, "%s", err->text);
    if (form->busy && backend->keep_busy(bench->device, backend->stream(bench->device, STREAM_OTHER), err))
        return unsafe(result, "%s", err->text);
    if (bench->before_launch)
        bench->before_launch(bench->payload);
    bench->n_launches++;
    if (form->graph == GRAPH_CAPTURE && !capture(bench, laid, result, err))
        return false;
    if (form->graph != GRAPH_NONE ? !replay(bench, laid, result, err) : !call_launch(bench, laid, result))
        return false;
    if (backend->finish && backend->finish(bench->device, laid->launch.stream, err))
        return unsafe(result, "%s", err->text);
    return true;
}

static enum status lay_out(struct launch_bench *bench, const struct problem *problem, const struct launch_form *form,
                           struct laid_out *laid, struct error *err)
{
    const struct device_backend *backend = bench->device->backend;
    *laid = (struct laid_out){
        .problem = problem,
        .n_rows = form->rows ? form->n_rows : problem->inputs.batch,
        .score_stride = problem->inputs.score_stride + form->extra_stride,
        .table_stride = problem->inputs.page_table_stride + form->extra_table_stride,
    };
    if (backend->stream)
        laid->launch.stream = backend->stream(bench->device, form->stream);
    if (make_images(bench, laid, form, err) || place_inputs(bench, laid, form, err) ||
        place_outputs(bench, laid, form, err))
        return err->status;
    return STATUS_OK;
}

enum status launch_lay_out(struct launch_bench *bench, const struct problem *problem, const struct launch_form *form,
                           struct topk_problem *launch, struct error *err)
{
    struct laid_out      laid;
    struct launch_result result = {.safe = true};
    if (lay_out(bench, problem, form, &laid, err) || place_workspace(bench, &laid, form, &result, err))
        return err->status;
    if (!result.safe)
        return error_set(err, STATUS_FAIL, "%s", result.text);
    declare_buffers(bench, &laid);
    *launch = laid.launch;
    return STATUS_OK;
}

/* Where the launch is this process's own work, other processes are left out. */
static double microseconds_now(const struct device *device)
{
    struct timespec time;
    clock_gettime(device->host_visible ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

enum status launch_run(struct launch_bench *bench, const struct problem *problem, const struct launch_form *form,
                       struct launch_result *result, struct error *err)
{
    struct laid_out laid;
    *result = (struct launch_result){.safe = true, .bad_place = -1};
    if (lay_out(bench, problem, form, &laid, err) ||
        grow((void **)&bench->scratch, &bench->scratch_bytes, 4 * (size_t)laid.launch.topk * sizeof(int32_t), err))
        return err->status;
    if (!is_supported(bench, &laid, result))
        return STATUS_OK;
    result->ran = true;
    if (place_workspace(bench, &laid, form, result, err))
        return err->status;
    if (!result->safe)
        return STATUS_OK;
    if (bench->device->backend->arrange)
        result->arrangement = bench->device->backend->arrange(bench->device, form->turn, result->arrangement_text,
                                                              sizeof result->arrangement_text);
    struct error device_error = {0};
    enum { LARGE_BYTES = 256 << 20 };
    double began = microseconds_now(bench->device);
    bool   ended = execute(bench, &laid, form, result, &device_error);
    result->us = microseconds_now(bench->device) - began;
    if (bench->after_launch && bench->scores.bytes > LARGE_BYTES)
        bench->after_launch(bench->payload);
    if (!ended ||
        !buffers_are_whole(bench, &laid, result, &device_error)) {
        result->device_fault = device_error.status == STATUS_FAIL;
        return STATUS_OK;
    }
    /* The views are the buffers' own memory: reading is all that is done with them. */
    result->outputs.pages = bench->with_pages ? (int32_t *)(uintptr_t)guarded_view(&bench->pages, &device_error) : NULL;
    result->outputs.raw = bench->with_raw ? (int32_t *)(uintptr_t)guarded_view(&bench->raw, &device_error) : NULL;
    result->valid = result->exact_set = result->canonical = true;
    check_rows(bench, &laid, form, result);
    return STATUS_OK;
}

bool launch_bench_is_damaged_afar(struct launch_bench *bench, char *text, size_t size)
{
    struct {
        struct guarded *buffer;
        const char     *name;
    } places[] = {{&bench->pages, "page_indices"},    {&bench->raw, "raw_indices"},     {&bench->workspace, "workspace"},
                  {&bench->seq_lens, "seq_lens"},     {&bench->page_table, "page_table"}, {&bench->scores, "scores"}};
    bool damaged = false;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int64_t distance;
        if (!guarded_is_damaged_afar(places[i].buffer, &distance) || damaged)
            continue;
        damaged = true;
        snprintf(text, size, "wrote far outside its arrays: %" PRId64 " bytes %s %s as it last lay",
                 distance < 0 ? -distance : distance, distance < 0 ? "before the start of" : "past the end of",
                 places[i].name);
    }
    return damaged;
}

void launch_bench_clear(struct launch_bench *bench)
{
    struct guarded *buffers[] = {&bench->scores, &bench->seq_lens, &bench->page_table,
                                 &bench->pages,  &bench->raw,      &bench->workspace, &bench->late_scores};
    if (bench->graph)
        bench->device->backend->graph_free(bench->device, bench->graph);
    for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
        guarded_free(buffers[i]);
    free(bench->score_image);
    free(bench->length_image);
    free(bench->table_image);
    free(bench->scratch);
    memset(bench, 0, sizeof *bench);
}
