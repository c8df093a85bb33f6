/* SPDX-License-Identifier: Apache-2.0 */
/* The grid and what its launches read; see bench.h. */
#include "harness/bench.h"

#include "cases/random.h"
#include "harness/name_list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define GPU_SLICES_BYTES ((size_t)256 << 20) /* several times the cache */
#define HOST_SLICES_BYTES ((size_t)32 << 20)
#define TABLE_KEY UINT64_C(0x7061676573)
#define TURN_KEY UINT64_C(0x7475726e73)

enum { MADE_ROWS = 16, MAX_SLICES = 48, MIN_SLICES = 2, PLANNED_TOPK = 512 };

const char *const bench_heat_names[BENCH_N_HEATS] = {"cold", "warm"};

/* Names as in the issues: the first five are the grid, the rest are rows that defeat one shortcut each. */
static const struct bench_pattern patterns[] = {
    {.name = "normal", .generator = "random", .in_default = true, .rotates = true,
     .summary = "independent normal scores"},
    {.name = "plateau", .generator = "ties", .in_default = true, .rotates = true, .share = "tied",
     .params = {{"plateau", "zero"}}, .n_params = 1,
     .summary = "about 256 positive scores, nine in ten are zero, the rest is negative"},
    {.name = "one-bin", .generator = "overflow", .in_default = true, .rotates = true,
     .params = {{"bin", "one"}, {"bits", "12"}}, .n_params = 2,
     .summary = "different scores that share 12 bits of their float16 key"},
    {.name = "huge", .generator = "random", .in_default = true, .rotates = true, .params = {{"scale", "1e8"}},
     .n_params = 1, .summary = "normal scores beyond float16's largest"},
    {.name = "tiny", .generator = "random", .in_default = true, .rotates = true, .params = {{"scale", "1e-9"}},
     .n_params = 1, .summary = "normal scores below float16's smallest"},
    {.name = "ascending", .generator = "sorted", .params = {{"shape", "ascending"}}, .n_params = 1,
     .summary = "every score beats all before it: a running threshold never helps"},
    {.name = "sawtooth", .generator = "sorted", .params = {{"period", "64"}, {"shape", "sawtooth"}}, .n_params = 2,
     .summary = "64 values in turn: a sample with an even stride sees one of them, every buffer of the best overflows"},
    {.name = "one-thread", .generator = "overflow", .params = {{"bin", "integers"}, {"order", "one-thread"}},
     .n_params = 2, .summary = "the best stand 1024 columns apart, where one thread of a block sees them alone"},
    {.name = "block-ends", .generator = "overflow", .params = {{"bin", "integers"}, {"order", "block-ends"}},
     .n_params = 2, .summary = "the best stand at multiples of 1024: a sample there takes the cut for much too high"},
    {.name = "best-last", .generator = "overflow", .params = {{"bin", "one"}, {"bits", "12"}, {"order", "best-last"}},
     .n_params = 3, .summary = "one coarse bin, the best at the end: a buffer that fills on arrival keeps the worst"},
    {.name = "outside", .generator = "overflow", .params = {{"bin", "huge"}, {"order", "outside"}}, .n_params = 2,
     .summary = "the best at both ends of the row: the middle tells nothing of the cut"},
    {.name = NULL},
};

/* ---- the grid -------------------------------------------------------------------------------------------------- */

static enum status read_numbers(const char *option, const char *text, int32_t high, int32_t *numbers, size_t *n,
                                struct error *err)
{
    *n = 0;
    for (const char *at = text;; at++) {
        char *end;
        errno = 0;
        long long number = strtoll(at, &end, 10);
        if (end == at || at[0] == ' ' || errno || number < 1 || number > high || (*end && *end != ','))
            return error_set(err, STATUS_USAGE, "--%s %s: numbers from 1 to %d, separated by commas, are accepted",
                             option, text, high);
        if (*n == BENCH_MAX_AXIS)
            return error_set(err, STATUS_USAGE, "--%s %s: more than %d numbers", option, text, BENCH_MAX_AXIS);
        numbers[(*n)++] = (int32_t)number;
        if (!*end)
            return STATUS_OK;
        at = end;
    }
}

static enum status no_such_pattern(const char *name, size_t length, struct error *err)
{
    struct name_list names = {0};
    for (const struct bench_pattern *p = patterns; p->name; p++)
        name_list_add(&names, "%s", p->name);
    return error_set(err, STATUS_USAGE, "--pattern: no pattern '%.*s'; there are %s, all", (int)length, name, names.text);
}

static enum status read_patterns(const char *text, struct bench_grid *grid, struct error *err)
{
    bool all = text && strcmp(text, "all") == 0;
    if (!text || all) {
        for (const struct bench_pattern *p = patterns; p->name; p++)
            if (all || p->in_default)
                grid->patterns[grid->n_patterns++] = p;
        return STATUS_OK;
    }
    for (const char *at = text;;) {
        size_t                      length = strcspn(at, ",");
        const struct bench_pattern *p = patterns;
        while (p->name && (strlen(p->name) != length || strncmp(p->name, at, length) != 0))
            p++;
        if (!p->name)
            return no_such_pattern(at, length, err);
        if (grid->n_patterns == BENCH_MAX_AXIS)
            return error_set(err, STATUS_USAGE, "--pattern %s: more than %d patterns", text, BENCH_MAX_AXIS);
        grid->patterns[grid->n_patterns++] = p;
        if (!at[length])
            return STATUS_OK;
        at += length + 1;
    }
}

static bool has_twice(const int32_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (numbers[i] == numbers[j])
                return true;
    return false;
}

enum status bench_grid_read(const struct settings *settings, struct bench_grid *grid, struct error *err)
{
    memset(grid, 0, sizeof *grid);
    grid->heats[BENCH_COLD] = settings->cold || !settings->warm;
    grid->heats[BENCH_WARM] = settings->warm || !settings->cold;
    if (read_numbers("batch", settings->batches ? settings->batches : "1,8,64,256,1024", 65535, grid->batches,
                     &grid->n_batches, err) ||
        read_numbers("length", settings->lengths ? settings->lengths : "2048,8192,32768,65536,131072,262144", 1 << 24,
                     grid->lengths, &grid->n_lengths, err) ||
        read_numbers("topk", settings->topks ? settings->topks : "512,1024", 4096, grid->topks, &grid->n_topks, err) ||
        read_patterns(settings->patterns, grid, err))
        return err->status;
    bool twice = has_twice(grid->batches, grid->n_batches) || has_twice(grid->lengths, grid->n_lengths) ||
                 has_twice(grid->topks, grid->n_topks);
    for (size_t i = 0; i < grid->n_patterns; i++)
        for (size_t j = 0; j < i; j++)
            twice |= grid->patterns[i] == grid->patterns[j];
    return twice ? error_set(err, STATUS_USAGE, "bench: a value of --pattern, --batch, --length or --topk is given twice")
                 : STATUS_OK;
}

size_t bench_grid_cells(const struct bench_grid *grid)
{
    return grid->n_patterns * grid->n_lengths * grid->n_batches * grid->n_topks;
}

struct bench_cell bench_grid_cell(const struct bench_grid *grid, size_t i)
{
    size_t shape = i / grid->n_topks, rows = shape / grid->n_batches;
    return (struct bench_cell){
        .pattern = grid->patterns[rows / grid->n_lengths],
        .length = grid->lengths[rows % grid->n_lengths],
        .batch = grid->batches[shape % grid->n_batches],
        .topk = grid->topks[i % grid->n_topks],
    };
}

/* ---- rows ------------------------------------------------------------------------------------------------------ */

/* Device memory of at least `bytes`, grown in place of what was there. */
static enum status grow(struct device *device, void **memory, size_t *capacity, size_t bytes, struct error *err)
{
    bool unused;
    if (*memory && *capacity >= bytes)
        return STATUS_OK;
    if (*memory)
        device->backend->free(device, *memory, *capacity);
    *memory = device->backend->alloc(device, bytes, &unused, err);
    *capacity = *memory ? bytes : 0;
    return err->status;
}

static enum status generate(struct bench_inputs *inputs, struct error *err)
{
    const struct bench_pattern *pattern = inputs->pattern;
    struct case_param           params[BENCH_MAX_PARAMS + 6];
    size_t                      n = 0;
    char                        share[32];
    static const struct case_param plain[] = {{"base_shift", "0"}, {"stride_extra", "0"}, {"table", "identity"},
                                              {"table_stride_extra", "0"}, {"width_slack", "0"}};
    snprintf(share, sizeof share, "%d", inputs->length / 10 * 9 + 1);
    for (size_t i = 0; i < pattern->n_params; i++)
        params[n++] = pattern->params[i];
    if (pattern->share)
        params[n++] = (struct case_param){pattern->share, share};
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        params[n++] = plain[i];
    for (size_t i = 1; i < n; i++) /* sorted by name, as a spec wants them */
        for (size_t j = i; j > 0 && strcmp(params[j - 1].name, params[j].name) > 0; j--) {
            struct case_param before = params[j - 1];
            params[j - 1] = params[j];
            params[j] = before;
        }
    struct case_spec spec = {.family = "bench", .generator = pattern->generator, .seed = 1, .topk = PLANNED_TOPK,
                             .page_size = BENCH_PAGE_SIZE, .batch = MADE_ROWS, .lengths = &inputs->length,
                             .n_lengths = 1, .params = params, .n_params = n};
    case_inputs_clear(&inputs->made);
    if (case_generate(&spec, &inputs->made, err->text, sizeof err->text))
        return err->status = STATUS_BOOKS;
    return STATUS_OK;
}

enum status bench_inputs_make(struct bench_inputs *inputs, struct device *device, const struct bench_pattern *pattern,
                              int32_t length, struct error *err)
{
    size_t row = (size_t)length * sizeof(float);
    int    copies = pattern->rotates ? 2 : 1;
    inputs->device = device;
    inputs->pattern = pattern;
    inputs->length = length;
    if (generate(inputs, err) || grow(device, &inputs->pool, &inputs->pool_bytes, row * MADE_ROWS * (size_t)copies, err))
        return err->status;
    for (int r = 0; r < MADE_ROWS && !err->status; r++)
        for (int c = 0; c < copies && !err->status; c++)
            device->backend->write(device, (char *)inputs->pool + row * (size_t)(r * copies + c),
                                   inputs->made.scores + (int64_t)r * inputs->made.score_stride, row, err);
    return err->status;
}

/* Which of the made rows stands at a place of a slice, and by how much it is rotated. */
static void place_of(const struct bench_inputs *inputs, int32_t slice, int32_t row, int32_t *made, int32_t *turn)
{
    int64_t place = (int64_t)slice * inputs->batch + row;
    *made = (int32_t)(place % MADE_ROWS);
    *turn = inputs->pattern->rotates
                ? (int32_t)random_below(random_bits(TURN_KEY, (uint64_t)place, 0), (uint32_t)inputs->length)
                : 0;
}

static enum status lay_rows(struct bench_inputs *inputs, struct error *err)
{
    struct device *device = inputs->device;
    void          *stream = device->backend->stream ? device->backend->stream(device, STREAM_MAIN) : NULL;
    size_t         row_bytes = (size_t)inputs->length * sizeof(float);
    size_t         room = row_bytes * (inputs->pattern->rotates ? 2 : 1);
    for (int32_t slice = 0; slice < inputs->n_slices; slice++)
        for (int32_t row = 0; row < inputs->batch && !err->status; row++) {
            int32_t made, turn;
            place_of(inputs, slice, row, &made, &turn);
            const char *from = (const char *)inputs->pool + room * (size_t)made + (size_t)turn * sizeof(float);
            float      *to = inputs->slices + ((int64_t)slice * inputs->batch + row) * inputs->length;
            if (device->backend->copy_behind)
                device->backend->copy_behind(device, stream, to, from, row_bytes, err);
            else
                memcpy(to, from, row_bytes);
        }
    return err->status || !device->backend->finish ? err->status : device->backend->finish(device, stream, err);
}

static enum status lay_tables(struct bench_inputs *inputs, struct error *err)
{
    struct device            *device = inputs->device;
    struct random_permutation pages;
    int64_t                   stride = ((int64_t)inputs->length + BENCH_PAGE_SIZE - 1) / BENCH_PAGE_SIZE;
    int64_t                   n = stride * inputs->batch;
    int32_t                  *lengths = malloc((size_t)inputs->batch * sizeof *lengths);
    free(inputs->host_table);
    inputs->host_table = malloc((size_t)n * sizeof *inputs->host_table);
    inputs->table_stride = stride;
    if (!lengths || !inputs->host_table) {
        free(lengths);
        return error_no_memory(err);
    }
    random_permutation_init(&pages, TABLE_KEY, (uint32_t)n);
    for (int64_t i = 0; i < n; i++)
        inputs->host_table[i] = (int32_t)random_permutation_at(&pages, (uint32_t)i);
    for (int32_t i = 0; i < inputs->batch; i++)
        lengths[i] = inputs->length;
    size_t lens_bytes = (size_t)inputs->batch * sizeof *lengths, table_bytes = (size_t)n * sizeof *inputs->host_table;
    if (!grow(device, (void **)&inputs->seq_lens, &inputs->lens_bytes, lens_bytes, err) &&
        !grow(device, (void **)&inputs->page_table, &inputs->table_bytes, table_bytes, err) &&
        !device->backend->write(device, inputs->seq_lens, lengths, lens_bytes, err))
        device->backend->write(device, inputs->page_table, inputs->host_table, table_bytes, err);
    free(lengths);
    return err->status;
}

enum status bench_inputs_lay(struct bench_inputs *inputs, int32_t batch, struct error *err)
{
    size_t slice = (size_t)batch * (size_t)inputs->length * sizeof(float);
    size_t wanted = inputs->device->host_visible ? HOST_SLICES_BYTES : GPU_SLICES_BYTES;
    size_t n = (wanted + slice - 1) / slice;
    inputs->batch = batch;
    if ((int64_t)batch * inputs->length > INT32_MAX)
        return error_set(err, STATUS_USAGE, "%d rows of %d scores: page indices would not fit int32", batch, inputs->length);
    inputs->n_slices = n < MIN_SLICES ? MIN_SLICES : n > MAX_SLICES ? MAX_SLICES : (int32_t)n;
    if (grow(inputs->device, (void **)&inputs->slices, &inputs->slices_bytes, slice * (size_t)inputs->n_slices, err) ||
        lay_tables(inputs, err))
        return err->status;
    return lay_rows(inputs, err);
}

const float *bench_inputs_slice(const struct bench_inputs *inputs, int32_t slice)
{
    return inputs->slices + (int64_t)slice * inputs->batch * inputs->length;
}

void bench_inputs_hash(const struct bench_cell *cell, char hex[DIGEST_HEX])
{
    char          text[256];
    struct digest digest;
    const struct bench_pattern *p = cell->pattern;
    int used = snprintf(text, sizeof text, "bench 1 %s rows=%d batch=%d length=%d topk=%d %s", p->generator, MADE_ROWS,
                        cell->batch, cell->length, cell->topk, p->share ? p->share : "");
    for (size_t i = 0; i < p->n_params && used > 0 && (size_t)used < sizeof text; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %s=%s", p->params[i].name, p->params[i].text);
    digest_begin(&digest);
    digest_add(&digest, text, strlen(text));
    digest_end(&digest, hex);
}

enum status bench_inputs_problem(const struct bench_inputs *inputs, int32_t slice, const int32_t *rows, int32_t n_rows,
                                 int32_t topk, const struct topk_claims *claims, struct problem *problem,
                                 struct error *err)
{
    size_t             length = (size_t)inputs->length, stride = (size_t)inputs->table_stride, n = (size_t)n_rows;
    struct case_inputs some = {
        .scores = malloc(n * length * sizeof *some.scores),
        .seq_lens = malloc(n * sizeof *some.seq_lens),
        .page_table = malloc(n * stride * sizeof *some.page_table),
        .score_stride = inputs->length,
        .page_table_stride = inputs->table_stride,
        .batch = n_rows,
        .topk = topk,
        .page_size = BENCH_PAGE_SIZE,
        .max_seq_len = inputs->length,
    };
    if (!some.scores || !some.seq_lens || !some.page_table) {
        case_inputs_clear(&some);
        return error_no_memory(err);
    }
    for (size_t i = 0; i < n; i++) {
        int32_t made, turn;
        place_of(inputs, slice, rows[i], &made, &turn);
        const uint32_t *from = inputs->made.scores + (int64_t)made * inputs->made.score_stride;
        uint32_t       *to = some.scores + i * length;
        memcpy(to, from + turn, (length - (size_t)turn) * sizeof *to);
        memcpy(to + length - (size_t)turn, from, (size_t)turn * sizeof *to);
        memcpy(some.page_table + i * stride, inputs->host_table + (size_t)rows[i] * stride, stride * sizeof(int32_t));
        some.seq_lens[i] = inputs->length;
    }
    return problem_make(problem, &some, claims, err);
}

void bench_inputs_clear(struct bench_inputs *inputs)
{
    struct device *device = inputs->device;
    void *const    memories[] = {inputs->pool, inputs->slices, inputs->seq_lens, inputs->page_table};
    const size_t   bytes[] = {inputs->pool_bytes, inputs->slices_bytes, inputs->lens_bytes, inputs->table_bytes};
    for (size_t i = 0; i < 4; i++)
        if (memories[i])
            device->backend->free(device, memories[i], bytes[i]);
    case_inputs_clear(&inputs->made);
    free(inputs->host_table);
    memset(inputs, 0, sizeof *inputs);
}
