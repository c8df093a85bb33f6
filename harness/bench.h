/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `topkcts bench`: how fast providers are on a device, cell by cell of a grid, as ratios to one read of the scores and
 * to each other, all in one process, on the same buffers, turn by turn.
 *
 *     command_bench.c   the grid from the command line, the process that measures, the books
 *     bench_measure.c   that process: launches kept in graphs, timed by events
 *     bench_inputs.c    patterns, and many slices of distinct rows from few generated ones
 *     bench_reader.c    the yardstick: a kernel that reads the scores once
 *     bench_table.c     the lines that people read, and JSON
 *     bench_parts.c     without a provider: the suite's own parts
 *
 * How a launch is timed. Cold: the cache is overwritten, then a graph of launches runs, each on a slice of scores of its
 * own, 256 MiB of them or more where the shape allows (at most 48), and the time is divided by their number: every
 * launch finds its scores outside the cache, while lengths, page table and outputs stay where they are. Warm: a graph of
 * launches on one slice. A sample is one replay; providers take turns in an order that rotates; medians are printed and
 * every sample is stored. On `host` there are no graphs, events or flushes that could be trusted to the microsecond:
 * what is told there is wall time, and is labelled so.
 *
 * The answer of every cell is checked, too, on a few rows: a fast wrong answer is marked.
 */
#ifndef TOPKCTS_BENCH_H
#define TOPKCTS_BENCH_H

#include "cases/case.h"
#include "harness/device.h"
#include "harness/digest.h"
#include "harness/option.h"
#include "harness/problem.h"
#include "harness/verdict.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum {
    BENCH_MAX_AXIS = 16,
    BENCH_MAX_PROVIDERS = 8,
    BENCH_MAX_SAMPLES = 15,
    BENCH_PAGE_SIZE = 64,
    BENCH_MAX_PARAMS = 4
};

/* Rows of a kind, made by a generator of cases/. */
struct bench_pattern {
    const char       *name, *summary, *generator; /* NULL name ends the list */
    struct case_param params[BENCH_MAX_PARAMS];   /* sorted by name */
    size_t            n_params;
    bool              in_default;
    bool              rotates; /* rows stay what they are when they are rotated; otherwise copies are whole */
    const char       *share;   /* a parameter that is nine tenths of the length; or NULL */
};

enum bench_heat { BENCH_COLD, BENCH_WARM, BENCH_N_HEATS };
extern const char *const bench_heat_names[BENCH_N_HEATS]; /* "cold", "warm" */

struct bench_grid {
    const struct bench_pattern *patterns[BENCH_MAX_AXIS];
    int32_t                     batches[BENCH_MAX_AXIS], lengths[BENCH_MAX_AXIS], topks[BENCH_MAX_AXIS];
    size_t                      n_patterns, n_batches, n_lengths, n_topks;
    bool                        heats[BENCH_N_HEATS];
};

struct bench_cell {
    const struct bench_pattern *pattern;
    int32_t                     batch, length, topk;
};

/* The grid that the options name. STATUS_USAGE names what is no number or no pattern, and what would be right. */
enum status bench_grid_read(const struct settings *settings, struct bench_grid *grid, struct error *err);

size_t            bench_grid_cells(const struct bench_grid *grid);
/* The i-th cell; cells of one pattern, length and batch are neighbours. */
struct bench_cell bench_grid_cell(const struct bench_grid *grid, size_t i);

/* ---- inputs ---------------------------------------------------------------------------------------------------- */

/* What launches of one shape read, in device memory. Zero it first; clear it with bench_inputs_clear. */
struct bench_inputs {
    struct device              *device;
    const struct bench_pattern *pattern;
    int32_t                     length, batch, n_slices;
    struct case_inputs          made; /* a few rows of the pattern, in host memory */
    void                       *pool; /* the same, on the device: each row twice where rows are rotated */
    size_t                      pool_bytes;
    float                      *slices; /* [n_slices][batch][length] */
    size_t                      slices_bytes;
    int32_t                    *seq_lens;   /* [batch] */
    int32_t                    *page_table; /* [batch][table_stride], random pages, all different */
    int32_t                    *host_table; /* the same, in host memory */
    int64_t                     table_stride;
    size_t                      lens_bytes, table_bytes;
};

/* Makes the rows of a pattern and length; forgets those before. */
enum status bench_inputs_make(struct bench_inputs *inputs, struct device *device, const struct bench_pattern *pattern,
                              int32_t length, struct error *err);

/* Lays slices of `batch` rows: at least two, so that a launch does not read what the one before has read. */
enum status bench_inputs_lay(struct bench_inputs *inputs, int32_t batch, struct error *err);

const float *bench_inputs_slice(const struct bench_inputs *inputs, int32_t slice);

/* Which input a shape stands for, in any run: its digest, from what determines it. */
void bench_inputs_hash(const struct bench_cell *cell, char hex[DIGEST_HEX]);

/* The problem of some rows of a slice with its answer, for checking. Owned by the caller: problem_clear. */
enum status bench_inputs_problem(const struct bench_inputs *inputs, int32_t slice, const int32_t *rows, int32_t n_rows,
                                 int32_t topk, const struct topk_claims *claims, struct problem *problem,
                                 struct error *err);

void bench_inputs_clear(struct bench_inputs *inputs);

/* ---- the yardstick --------------------------------------------------------------------------------------------- */

/* Reads arrays on a device. */
struct bench_reader {
    const void *driver; /* the driver table of a GPU; NULL on the host */
    void       *module, *function;
    float      *sink;
    bool        usable;
    char        why_not[512];
    char        digest[DIGEST_HEX];
};

/* To be called before the device is opened: has the kernel compiled in a process of its own, which a compiler may take
 * down with it, and leaves it in the cache. */
void bench_reader_prepare(struct bench_reader *reader, const char *device_name);

/* A yardstick that cannot be had is no error: `usable` and `why_not` say so. Prepare it first. */
void bench_reader_open(struct bench_reader *reader, struct device *device);

/* Enqueues (host: does) one read of n floats. */
enum status bench_reader_launch(struct bench_reader *reader, const float *scores, int64_t n, void *stream,
                                struct error *err);

void bench_reader_close(struct bench_reader *reader);

/* ---- measuring ------------------------------------------------------------------------------------------------- */

/* Measures in this process and says each result as a line of JSON to `to`; returns when all is measured. Objects by
 * their "kind":
 *     refused   {status, text}: nothing is measured
 *     provider  {number, name, version, digest, origin, claims}: as loaded, in the order of the command line
 *     ready     {}
 *     at        {cell, provider}: what is in flight; provider -1 is the yardstick
 *     cell      {cell, provider, verdict, reason, path, cold: [us ..], warm: [us ..]}: one for each provider
 *     out_of_time {cell}: this and all later cells are left out
 *     done      {}: everything is closed; a process that ends without it left in the middle
 * `refused` behind `ready` ends the measuring: the device was lost. */
void bench_measure(const struct settings *settings, const struct bench_grid *grid, const char *device_name, FILE *to);

/* ---- what people read ------------------------------------------------------------------------------------------ */

/* What is known of one provider in one cell. */
struct bench_result {
    enum verdict verdict; /* NOTRUN until told */
    char         reason[512], path[96];
    double       samples[BENCH_N_HEATS][BENCH_MAX_SAMPLES];
    int32_t      n_samples[BENCH_N_HEATS];
};

/* The yardstick's results stand behind those of the providers. */
struct bench_answers {
    const struct bench_grid *grid;
    size_t                   n_providers;
    char                     names[BENCH_MAX_PROVIDERS + 1][128];
    struct bench_result     *results; /* [n_cells][n_providers + 1] */
    bool                     is_wall_time;
};

struct bench_result *bench_answer(const struct bench_answers *answers, size_t cell, size_t provider);

/* The median of a result's samples; negative when there are none. */
double bench_median(const struct bench_result *result, enum bench_heat heat);

void bench_table_heading(const struct bench_answers *answers, FILE *file);
/* One line for each heat that was measured. */
void bench_table_cell(const struct bench_answers *answers, size_t cell, FILE *file);
/* Over all cells: in how many the first provider is fastest, and by how much. */
void bench_table_summary(const struct bench_answers *answers, FILE *file);
json_t *bench_table_json(const struct bench_answers *answers);

/* ---- the suite's own parts ------------------------------------------------------------------------------------- */

enum status bench_parts(const struct settings *settings, struct error *err);

#endif
