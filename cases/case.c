/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a case's specification to its input arrays: resolves the parameters, makes the random key, lays out the rows and
 * asks the generator for each. What a row holds is the generator's, where it stands is layout.c's.
 *
 * Start reading at case_generate().
 */
#include "cases/case.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases/float_bits.h"
#include "cases/generator.h"
#include "cases/layout.h"
#include "cases/random.h"

/* A specification with its parameters resolved and its layout known. */
struct resolved_case {
    const struct case_spec      *spec;
    const struct case_generator *generator;
    int64_t                      values[GENERATOR_MAX_PARAMS];
    uint64_t                     key; /* of everything but the row's length */
    struct layout                layout;
    struct given_inputs          given; /* of a generator whose rows are given; freed by release() */
};

static void release(struct resolved_case *resolved)
{
    given_clear(&resolved->given);
}

const struct case_param_spec *case_generator_params(const char *generator)
{
    const struct case_generator *found = case_generator_find(generator);
    return found != NULL ? found->params : NULL;
}

const char *case_generator_name(size_t i)
{
    /* The list is short; walking it keeps `i` past the end harmless. */
    for (size_t k = 0; case_generators[k] != NULL; k++) {
        if (k == i) {
            return case_generators[k]->name;
        }
    }
    return NULL;
}

int32_t case_row_length(const struct case_spec *spec, int32_t row)
{
    return spec->lengths[(size_t)row % spec->n_lengths];
}

int case_param_parse(const struct case_param_spec *spec, const char *text, int64_t *value, char *err, size_t err_size)
{
    int64_t unused = 0;
    value = value != NULL ? value : &unused;
    if (spec->is_text) {
        *value = GENERATOR_AUTO;
        return 0;
    }
    if (spec->choices != NULL) {
        for (int64_t i = 0; spec->choices[i] != NULL; i++) {
            if (strcmp(spec->choices[i], text) == 0) {
                *value = i;
                return 0;
            }
        }
        int used = snprintf(err, err_size, "parameter %s: '%s' is not accepted; accepted are", spec->name, text);
        for (size_t i = 0; spec->choices[i] != NULL && used >= 0 && (size_t)used < err_size; i++) {
            used += snprintf(err + used, err_size - (size_t)used, "%s %s", i ? "," : "", spec->choices[i]);
        }
        return 1;
    }
    char *end = NULL;
    errno     = 0;

    const long long number = strtoll(text, &end, 10);
    if (errno == 0 && end != text && *end == '\0' && number >= spec->low && number <= spec->high) {
        *value = number;
        return 0;
    }
    if (strcmp(text, spec->fallback) == 0) {
        *value = GENERATOR_AUTO;
        return 0;
    }
    snprintf(err, err_size, "parameter %s: '%s' is not a number from %lld to %lld, nor the default '%s'", spec->name,
             text, (long long)spec->low, (long long)spec->high, spec->fallback);
    return 1;
}

static bool has_param(const struct case_param_spec *list, const char *name)
{
    for (; list->name != NULL; list++) {
        if (strcmp(list->name, name) == 0) {
            return true;
        }
    }
    return false;
}

static int check_param_names(const struct case_spec *spec, const struct case_param_spec *own, char *err,
                             size_t err_size)
{
    for (size_t i = 0; i < spec->n_params; i++) {
        const char *name = spec->params[i].name;
        for (size_t k = 0; k < i; k++) {
            if (strcmp(spec->params[k].name, name) == 0) {
                snprintf(err, err_size, "parameter %s is given twice", name);
                return 1;
            }
        }
        if (!has_param(own, name) && !has_param(case_layout_params(), name)) {
            int used = snprintf(err, err_size, "generator %s has no parameter '%s'; it has", spec->generator, name);
            for (const struct case_param_spec *p = own; p->name != NULL && used >= 0 && (size_t)used < err_size; p++) {
                used += snprintf(err + used, err_size - (size_t)used, " %s", p->name);
            }
            return 1;
        }
    }
    return 0;
}

static int parse_all(int64_t *values, const struct case_spec *spec, const struct case_param_spec *list, char *err,
                     size_t err_size)
{
    for (size_t i = 0; list[i].name != NULL; i++) {
        if (case_param_parse(&list[i], given_param(spec, &list[i]), &values[i], err, err_size) != 0) {
            return 1;
        }
    }
    return 0;
}

static int check_axes(const struct case_spec *spec, char *err, size_t err_size)
{
    if (spec->topk < 1 || spec->batch < 1) {
        snprintf(err, err_size, "topk %d, batch %d: both must be at least 1", (int)spec->topk, (int)spec->batch);
        return 1;
    }
    if (spec->page_size < 1 || (spec->page_size & (spec->page_size - 1)) != 0) {
        snprintf(err, err_size, "page_size %d: must be a power of two", (int)spec->page_size);
        return 1;
    }
    if (spec->n_lengths < 1) {
        snprintf(err, err_size, "no length given: at least one is needed");
        return 1;
    }
    for (size_t i = 0; i < spec->n_lengths; i++) {
        if (spec->lengths[i] < 0) {
            snprintf(err, err_size, "length %d: must be at least 0 (negative lengths: generator negative-lengths)",
                     (int)spec->lengths[i]);
            return 1;
        }
    }
    return 0;
}

/* The key without topk: of the seed, the family and the parameters that differ from their fallback. */
static uint64_t family_key(const struct case_spec *spec, const struct case_generator *generator)
{
    uint64_t key = random_key_text(random_key_word(0, spec->seed), spec->family);
    for (const struct case_param_spec *p = generator->params; p->name != NULL; p++) {
        const char *text = given_param(spec, p);
        if (strcmp(text, p->fallback) != 0) {
            key = random_key_text(random_key_text(key, p->name), text);
        }
    }
    return key;
}

/* What the rows dictate where the layout parameters leave it open; and their number. */
static int resolve_given(struct resolved_case *resolved, bool with_contents, int64_t *layout_values, int32_t *longest,
                         char *err, size_t err_size)
{
    const struct case_spec *spec  = resolved->spec;
    struct given_inputs    *given = &resolved->given;
    if (resolved->generator->give(spec, with_contents, given, err, err_size) != 0) {
        return 1;
    }
    if (given->n_rows != spec->batch) {
        snprintf(err, err_size, "batch %d: the generator gives %d rows; leave batch and length out", (int)spec->batch,
                 (int)given->n_rows);
        return 1;
    }
    *longest = 0;
    for (int32_t row = 0; row < given->n_rows; row++) {
        *longest = given->rows[row].length > *longest ? given->rows[row].length : *longest;
    }
    int64_t *slack = &layout_values[LAYOUT_WIDTH_SLACK];
    *slack         = *slack == GENERATOR_AUTO ? given->max_seq_len - *longest : *slack;

    const int64_t width  = *longest + *slack;
    const int64_t pages  = (width + spec->page_size - 1) / spec->page_size;
    const int64_t beyond = given->score_stride > width ? given->score_stride - width : 0;
    const int64_t spare  = given->page_table_stride > pages ? given->page_table_stride - pages : 0;
    if (layout_values[LAYOUT_STRIDE_EXTRA] == GENERATOR_AUTO) {
        layout_values[LAYOUT_STRIDE_EXTRA] = beyond;
    }
    if (layout_values[LAYOUT_TABLE_STRIDE_EXTRA] == GENERATOR_AUTO) {
        layout_values[LAYOUT_TABLE_STRIDE_EXTRA] = spare;
    }
    if (layout_values[LAYOUT_BASE_SHIFT] == GENERATOR_AUTO) {
        layout_values[LAYOUT_BASE_SHIFT] = 0;
    }
    return 0;
}

/* The caller calls release() in either case. */
static int resolve(struct resolved_case *resolved, const struct case_spec *spec, bool with_contents, char *err,
                   size_t err_size)
{
    memset(&resolved->given, 0, sizeof resolved->given);
    const struct case_generator *generator = case_generator_find(spec->generator);
    if (generator == NULL) {
        int used = snprintf(err, err_size, "no generator '%s'; there are", spec->generator);
        for (size_t i = 0; case_generators[i] != NULL && used >= 0 && (size_t)used < err_size; i++) {
            used += snprintf(err + used, err_size - (size_t)used, " %s", case_generators[i]->name);
        }
        return 1;
    }
    int64_t layout_values[LAYOUT_PARAMS] = {0};
    resolved->spec      = spec;
    resolved->generator = generator;
    if (check_axes(spec, err, err_size) != 0 || check_param_names(spec, generator->params, err, err_size) != 0 ||
        parse_all(resolved->values, spec, generator->params, err, err_size) != 0 ||
        parse_all(layout_values, spec, case_layout_params(), err, err_size) != 0) {
        return 1;
    }
    const uint64_t key        = family_key(spec, generator);
    uint64_t       layout_key = random_key_text(key, "layout");
    int32_t        longest    = 0;
    for (size_t i = 0; i < spec->n_lengths; i++) {
        layout_key = random_key_word(layout_key, (uint64_t)spec->lengths[i]);
        longest    = spec->lengths[i] > longest ? spec->lengths[i] : longest;
    }
    if (generator->give != NULL &&
        resolve_given(resolved, with_contents, layout_values, &longest, err, err_size) != 0) {
        return 1;
    }
    resolved->key = generator->uses_topk ? random_key_word(key, (uint64_t)spec->topk) : key;
    return layout_init(&resolved->layout, longest, spec->page_size, layout_values, layout_key, err, err_size);
}

int64_t case_input_bytes(const struct case_spec *spec)
{
    char                 err[256];
    struct resolved_case resolved;
    const int            rc = resolve(&resolved, spec, false, err, sizeof err);
    release(&resolved);
    if (rc != 0) {
        return -1;
    }
    int64_t       bytes        = 0;
    const int64_t row_elements = resolved.layout.score_stride + 1 + resolved.layout.page_table_stride;
    const int64_t row_bytes    = row_elements * (int64_t)sizeof(int32_t);
    return __builtin_mul_overflow(row_bytes, (int64_t)spec->batch, &bytes) ? INT64_MAX : bytes;
}

static void generate_row(const struct resolved_case *resolved, int32_t row, struct case_inputs *out)
{
    const struct case_generator *generator = resolved->generator;
    const struct layout         *layout    = &resolved->layout;
    struct generator_row         request   = {.key    = resolved->key,
                                              .row    = row,
                                              .length = case_row_length(resolved->spec, row),
                                              .topk   = generator->uses_topk ? resolved->spec->topk : 0,
                                              .values = resolved->values};

    const int32_t told =
        generator->told_length != NULL ? generator->told_length(&request, layout->max_seq_len) : request.length;

    request.length = told < 0 ? 0 : told;
    request.length = request.length > layout->max_seq_len ? layout->max_seq_len : request.length;
    request.key    = random_key_word(resolved->key, (uint64_t)request.length);

    uint32_t *scores = out->scores + (int64_t)row * layout->score_stride;
    if (request.length > 0) {
        generator->fill(&request, scores);
    }
    for (int64_t column = request.length; column < layout->score_stride; column++) {
        scores[column] = FLOAT_BITS_PLUS_INFINITY;
    }
    out->seq_lens[row] = told;
    layout_fill_table_row(layout, row, resolved->spec->batch, request.length, resolved->spec->page_size,
                          out->page_table + (int64_t)row * layout->page_table_stride);
}

static int compare_entries(const void *a, const void *b)
{
    const int32_t left  = *(const int32_t *)a;
    const int32_t right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

/* The contract's conditions on the entries that a row needs. */
static int check_entries(const int32_t *entries, int64_t needed, int32_t page_size, char *err, size_t err_size)
{
    int      rc     = 1;
    int32_t *sorted = malloc(((size_t)needed + 1) * sizeof *sorted);
    if (sorted == NULL) {
        snprintf(err, err_size, "no memory for %lld entries", (long long)needed);
        return 1;
    }
    memcpy(sorted, entries, (size_t)needed * sizeof *sorted);
    qsort(sorted, (size_t)needed, sizeof *sorted, compare_entries);
    for (int64_t i = 0; i < needed; i++) {
        if (sorted[i] < 0 || sorted[i] > INT32_MAX / page_size) {
            snprintf(err, err_size, "page %d: must be at least 0, and at most %d with page_size %d", (int)sorted[i],
                     (int)(INT32_MAX / page_size), (int)page_size);
            goto done;
        }
        if (i > 0 && sorted[i] == sorted[i - 1]) {
            snprintf(err, err_size, "page %d stands there twice; the pages of a row are distinct", (int)sorted[i]);
            goto done;
        }
    }
    rc = 0;
done:
    free(sorted);
    return rc;
}

/* A row that is given: placed as it is, with the rest of its columns and entries filled. */
static int place_row(const struct resolved_case *resolved, int32_t row, struct case_inputs *out, char *err,
                     size_t err_size)
{
    const struct layout    *layout = &resolved->layout;
    const struct given_row *given  = &resolved->given.rows[row];
    const int32_t           told   = given->told;
    char                    cause[160];
    if (told > given->length && told <= layout->max_seq_len) {
        snprintf(err, err_size, "row %d: a told length of %d for %d scores: beyond the row width of %d, or left out (the "
                 "width is the longest row and width_slack)", (int)row, (int)told, (int)given->length,
                 (int)layout->max_seq_len);
        return 1;
    }
    if (given->columns > layout->score_stride) {
        snprintf(err, err_size, "row %d: %lld columns are given, the stride is %lld; stride_extra and width_slack make it "
                 "wider", (int)row, (long long)given->columns, (long long)layout->score_stride);
        return 1;
    }
    const int32_t length = told < 0 ? 0 : told > layout->max_seq_len ? layout->max_seq_len : told;
    const int64_t needed = ((int64_t)length + out->page_size - 1) / out->page_size;
    uint32_t     *scores = out->scores + (int64_t)row * layout->score_stride;
    int32_t      *table  = out->page_table + (int64_t)row * layout->page_table_stride;
    if (given->columns > 0) {
        memcpy(scores, resolved->given.scores + given->first, (size_t)given->columns * sizeof *scores);
    }
    for (int64_t column = given->columns; column < layout->score_stride; column++) {
        scores[column] = FLOAT_BITS_PLUS_INFINITY;
    }
    out->seq_lens[row] = told;
    layout_fill_table_row(layout, row, out->batch, length, out->page_size, table);
    if (given->pages == 0) {
        return 0;
    }
    if (given->pages < needed || given->pages > layout->page_table_stride) {
        snprintf(err, err_size, "row %d: %lld pages are given; with page_size %d it needs %lld, and the stride is %lld", (int)row,
                 (long long)given->pages, (int)out->page_size, (long long)needed, (long long)layout->page_table_stride);
        return 1;
    }
    memcpy(table, resolved->given.page_table + given->first_page, (size_t)given->pages * sizeof *table);
    if (check_entries(table, needed, out->page_size, cause, sizeof cause) != 0) {
        snprintf(err, err_size, "page table, row %d: %s", (int)row, cause);
        return 1;
    }
    return 0;
}

bool case_generator_is_given(const char *generator)
{
    const struct case_generator *found = case_generator_find(generator);
    return found != NULL && found->give != NULL;
}

int case_given_lengths(const struct case_spec *spec, int32_t **lengths, size_t *n, char *err, size_t err_size)
{
    const struct case_generator *generator = case_generator_find(spec->generator);
    struct given_inputs          given     = {0};
    int                          rc        = 1;
    *lengths                               = NULL;
    *n                                     = 0;
    if (check_param_names(spec, generator->params, err, err_size) != 0 ||
        generator->give(spec, false, &given, err, err_size) != 0) {
        goto done;
    }
    *lengths = calloc((size_t)given.n_rows, sizeof **lengths);
    if (*lengths == NULL) {
        snprintf(err, err_size, "no memory for %d lengths", (int)given.n_rows);
        goto done;
    }
    for (int32_t row = 0; row < given.n_rows; row++) {
        (*lengths)[row] = given.rows[row].length;
    }
    *n = (size_t)given.n_rows;
    rc = 0;
done:
    given_clear(&given);
    return rc;
}

int case_generate(const struct case_spec *spec, struct case_inputs *out, char *err, size_t err_size)
{
    int                  rc = 1;
    struct resolved_case resolved;
    memset(out, 0, sizeof *out);
    if (resolve(&resolved, spec, true, err, err_size) != 0) {
        goto done;
    }
    out->score_stride      = resolved.layout.score_stride;
    out->page_table_stride = resolved.layout.page_table_stride;
    out->batch             = spec->batch;
    out->topk              = spec->topk;
    out->page_size         = spec->page_size;
    out->max_seq_len       = resolved.layout.max_seq_len;
    out->base_shift        = resolved.layout.base_shift;

    /* calloc rather than malloc: it refuses a product that does not fit. */
    out->scores     = calloc((size_t)spec->batch, (size_t)out->score_stride * sizeof *out->scores);
    out->seq_lens   = calloc((size_t)spec->batch, sizeof *out->seq_lens);
    out->page_table = calloc((size_t)spec->batch, (size_t)out->page_table_stride * sizeof *out->page_table);
    if (out->scores == NULL || out->seq_lens == NULL || out->page_table == NULL) {
        snprintf(err, err_size, "no memory for the %lld bytes of the inputs", (long long)case_input_bytes(spec));
        goto done;
    }
    for (int32_t row = 0; row < spec->batch; row++) {
        if (resolved.generator->give == NULL) {
            generate_row(&resolved, row, out);
        } else if (place_row(&resolved, row, out, err, err_size) != 0) {
            goto done;
        }
    }
    rc = 0;
done:
    release(&resolved);
    if (rc != 0) {
        case_inputs_clear(out);
    }
    return rc;
}

void case_inputs_clear(struct case_inputs *inputs)
{
    free(inputs->scores);
    free(inputs->seq_lens);
    free(inputs->page_table);
    memset(inputs, 0, sizeof *inputs);
}

size_t case_scores_bytes(const struct case_inputs *inputs)
{
    return (size_t)inputs->batch * (size_t)inputs->score_stride * sizeof *inputs->scores;
}

size_t case_seq_lens_bytes(const struct case_inputs *inputs)
{
    return (size_t)inputs->batch * sizeof *inputs->seq_lens;
}

size_t case_page_table_bytes(const struct case_inputs *inputs)
{
    return (size_t)inputs->batch * (size_t)inputs->page_table_stride * sizeof *inputs->page_table;
}
