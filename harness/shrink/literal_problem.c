/* SPDX-License-Identifier: Apache-2.0 */
/* Problems in the form in which they are made small; see literal_problem.h. */
#include "harness/shrink/literal_problem.h"

#include "cases/float_bits.h"
#include "cases/literal_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *copy_of(const void *from, size_t bytes)
{
    void *to = malloc(bytes + 1);
    return to && bytes ? memcpy(to, from, bytes) : to;
}

void small_row_clear(struct small_row *row)
{
    free(row->scores);
    free(row->pages);
    memset(row, 0, sizeof *row);
}

void small_problem_clear(struct small_problem *problem)
{
    for (int32_t row = 0; problem->rows && row < problem->n_rows; row++)
        small_row_clear(&problem->rows[row]);
    free(problem->rows);
    memset(problem, 0, sizeof *problem);
}

void small_trial_clear(struct small_trial *trial)
{
    for (int32_t p = 0; trial->problems && p < trial->n_problems; p++)
        small_problem_clear(&trial->problems[p]);
    free(trial->problems);
    memset(trial, 0, sizeof *trial);
}

static bool copy_row(struct small_row *to, const struct small_row *from)
{
    *to = *from;
    to->scores = copy_of(from->scores, (size_t)from->columns * sizeof *from->scores);
    to->pages = from->pages ? copy_of(from->pages, (size_t)from->n_pages * sizeof *from->pages) : NULL;
    return to->scores && (to->pages || !from->pages);
}

static bool copy_problem(struct small_problem *to, const struct small_problem *from)
{
    bool whole = true;
    *to = *from;
    to->rows = calloc((size_t)from->n_rows + 1, sizeof *to->rows);
    for (int32_t row = 0; to->rows && row < from->n_rows; row++)
        whole &= copy_row(&to->rows[row], &from->rows[row]);
    return whole && to->rows;
}

enum status small_trial_copy(struct small_trial *to, const struct small_trial *from, struct error *err)
{
    bool whole = true;
    *to = *from;
    to->problems = calloc((size_t)from->n_problems + 1, sizeof *to->problems);
    for (int32_t p = 0; to->problems && p < from->n_problems; p++)
        whole &= copy_problem(&to->problems[p], &from->problems[p]);
    if (whole && to->problems)
        return STATUS_OK;
    small_trial_clear(to);
    return error_no_memory(err);
}

int64_t small_problem_longest(const struct small_problem *problem)
{
    int64_t longest = 0;
    for (int32_t row = 0; row < problem->n_rows; row++)
        longest = problem->rows[row].length > longest ? problem->rows[row].length : longest;
    return longest;
}

int64_t small_problem_columns(const struct small_problem *problem)
{
    int64_t columns = 0;
    for (int32_t row = 0; row < problem->n_rows; row++)
        columns += problem->rows[row].columns;
    return columns;
}

static bool row_from(struct small_row *row, const struct case_inputs *inputs, int32_t number)
{
    const uint32_t *scores = inputs->scores + (int64_t)number * inputs->score_stride;
    int32_t         told = inputs->seq_lens[number];
    row->told = told;
    row->length = told < 0 ? 0 : told > inputs->max_seq_len ? inputs->max_seq_len : told;
    row->columns = inputs->score_stride;
    while (row->columns > row->length && scores[row->columns - 1] == FLOAT_BITS_PLUS_INFINITY)
        row->columns--;
    row->scores = copy_of(scores, (size_t)row->columns * sizeof *scores);
    row->n_pages = inputs->page_table_stride;
    row->pages = copy_of(inputs->page_table + (int64_t)number * inputs->page_table_stride,
                         (size_t)row->n_pages * sizeof *row->pages);
    return row->scores && row->pages;
}

static bool problem_from(struct small_problem *problem, const struct case_inputs *inputs)
{
    bool whole = true;
    *problem = (struct small_problem){.n_rows = inputs->batch,
                                      .topk = inputs->topk,
                                      .page_size = inputs->page_size,
                                      .base_shift = inputs->base_shift,
                                      .table = TABLE_GIVEN};
    problem->rows = calloc((size_t)inputs->batch, sizeof *problem->rows);
    for (int32_t row = 0; problem->rows && row < inputs->batch; row++)
        whole &= row_from(&problem->rows[row], inputs, row);
    if (!whole || !problem->rows)
        return false;
    int64_t pages = ((int64_t)inputs->max_seq_len + inputs->page_size - 1) / inputs->page_size;
    problem->width_slack = inputs->max_seq_len - small_problem_longest(problem);
    problem->stride_extra = inputs->score_stride - inputs->max_seq_len;
    problem->table_stride_extra = inputs->page_table_stride - pages;
    return true;
}

enum status small_trial_from(struct small_trial *trial, const struct case_inputs *problems, int32_t n_problems,
                             enum outputs outputs, struct error *err)
{
    bool whole = true;
    *trial = (struct small_trial){.n_problems = n_problems, .outputs = outputs};
    trial->problems = calloc((size_t)n_problems + 1, sizeof *trial->problems);
    for (int32_t p = 0; trial->problems && p < n_problems; p++)
        whole &= problem_from(&trial->problems[p], &problems[p]);
    if (whole && trial->problems)
        return STATUS_OK;
    small_trial_clear(trial);
    return error_no_memory(err);
}

/* The texts of all rows, joined by line ends. */
static const char *rows_text(const struct small_problem *problem, struct arena *arena, bool pages)
{
    char  *texts = NULL;
    size_t size = 0;
    FILE  *file = open_memstream(&texts, &size);
    for (int32_t r = 0; file && r < problem->n_rows; r++) {
        const struct small_row *row = &problem->rows[r];
        char                   *text = pages ? literal_write_pages(row->pages, row->n_pages)
                                             : literal_write_scores(row->scores, row->length, row->columns, row->told);
        fprintf(file, "%s%s", r ? "\n" : "", text ? text : "?"); /* which the generator refuses */
        free(text);
    }
    if (file)
        fclose(file);
    const char *kept = arena_text(arena, texts ? texts : "?");
    free(texts);
    return kept;
}

static void add_number(struct case_param *params, size_t *n, struct arena *arena, const char *name, int64_t number)
{
    if (number)
        params[(*n)++] = (struct case_param){name, arena_format(arena, "%lld", (long long)number)};
}

size_t small_problem_params(const struct small_problem *problem, struct arena *arena,
                            struct case_param params[SMALL_MAX_PARAMS])
{
    static const char *const tables[] = {"identity", "reversed", "per-row", NULL};
    size_t                   n = 0;
    /* What rows need is the generator's own choice; a number is written where there is more of it. */
    int64_t longest = small_problem_longest(problem), widest = 0, most_pages = 0, width = longest + problem->width_slack;
    int64_t pages = (width + problem->page_size - 1) / problem->page_size;
    for (int32_t row = 0; row < problem->n_rows; row++) {
        widest = problem->rows[row].columns > widest ? problem->rows[row].columns : widest;
        most_pages = problem->rows[row].n_pages > most_pages ? problem->rows[row].n_pages : most_pages;
    }
    add_number(params, &n, arena, "base_shift", problem->base_shift);
    if (problem->table == TABLE_GIVEN)
        params[n++] = (struct case_param){"pages", rows_text(problem, arena, true)};
    params[n++] = (struct case_param){"rows", rows_text(problem, arena, false)};
    if (width + problem->stride_extra != (widest > width ? widest : width))
        params[n++] = (struct case_param){"stride_extra", arena_format(arena, "%lld", (long long)problem->stride_extra)};
    if (problem->table != TABLE_GIVEN)
        params[n++] = (struct case_param){"table", tables[problem->table]};
    else
        most_pages = most_pages > pages ? most_pages : pages;
    if (pages + problem->table_stride_extra != (problem->table == TABLE_GIVEN ? most_pages : pages))
        params[n++] = (struct case_param){"table_stride_extra",
                                          arena_format(arena, "%lld", (long long)problem->table_stride_extra)};
    add_number(params, &n, arena, "width_slack", problem->width_slack);
    return n;
}

enum status small_problem_inputs(const struct small_problem *problem, const char *id, struct case_inputs *inputs,
                                 struct error *err)
{
    struct arena      arena = {0};
    struct case_param params[SMALL_MAX_PARAMS];
    int32_t          *lengths = calloc((size_t)problem->n_rows + 1, sizeof *lengths);
    struct case_spec  spec = {.family = id,
                              .generator = "literal",
                              .seed = 1,
                              .topk = problem->topk,
                              .page_size = problem->page_size,
                              .batch = problem->n_rows,
                              .lengths = lengths,
                              .n_lengths = (size_t)problem->n_rows,
                              .params = params};
    memset(inputs, 0, sizeof *inputs);
    if (!lengths)
        return error_no_memory(err);
    for (int32_t row = 0; row < problem->n_rows; row++)
        lengths[row] = (int32_t)problem->rows[row].length;
    spec.n_params = small_problem_params(problem, &arena, params);
    if (case_generate(&spec, inputs, err->text, sizeof err->text))
        err->status = STATUS_USAGE;
    free(lengths);
    arena_clear(&arena);
    return err->status;
}
