/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameters and matrices of a family: from YAML to axes and their values. Knows nothing of combinations
 * (pairwise.c). See family_reading.h.
 */
#include "harness/family_reading.h"

#include "harness/digest.h"
#include "harness/name_list.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PAGE_SIZE (1 << 20)
#define RAGGED_TEXT_LIMIT 40

static const char *const fixed_axis_names[N_FIXED_AXES] = {"topk", "length", "page_size", "batch", "outputs"};
const char *const        outputs_names[N_OUTPUTS + 1] = {"page", "page+raw", "raw", NULL};

const char *outputs_text(enum outputs outputs)
{
    return outputs_names[outputs];
}

const char *fixed_axis_text(enum fixed_axis axis)
{
    return fixed_axis_names[axis];
}

/* The text of a ragged length: the rows joined by '+', or a digest of them when that is too long to read. */
static const char *ragged_text(struct arena *arena, const int32_t *lengths, size_t n)
{
    char   text[RAGGED_TEXT_LIMIT + 16];
    size_t used = 0;
    for (size_t i = 0; i < n && used <= RAGGED_TEXT_LIMIT; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d", i ? "+" : "", lengths[i]);
    if (used <= RAGGED_TEXT_LIMIT)
        return arena_text(arena, text);
    struct digest digest;
    char          hex[DIGEST_HEX];
    digest_begin(&digest);
    digest_add(&digest, lengths, n * sizeof *lengths);
    digest_end(&digest, hex);
    return arena_format(arena, "ragged-%.8s", hex);
}

static enum status read_length(struct reading *reading, const struct yaml_node *node, struct axis_value *value)
{
    static const char *const keys[] = {"ragged", NULL};
    const struct yaml_node  *list = node;
    if (node->kind == YAML_MAP) {
        if (yaml_check_keys(node, "length", keys, 1, reading->err) ||
            yaml_check_kind(yaml_get(node, "ragged"), YAML_LIST, "ragged", reading->err))
            return reading->err->status;
        list = yaml_get(node, "ragged");
        if (list->n_items == 0)
            return yaml_error(list, reading->err, "lists no rows; give one length for each row");
    }
    size_t   n = node->kind == YAML_MAP ? list->n_items : 1;
    int32_t *lengths = arena_alloc(reading->arena, n * sizeof *lengths);
    for (size_t i = 0; i < n; i++) {
        int64_t number;
        if (yaml_number(node->kind == YAML_MAP ? &list->items[i] : node, 0, MAX_LENGTH, &number, reading->err))
            return reading->err->status;
        lengths[i] = (int32_t)number;
    }
    value->lengths = lengths;
    value->n_lengths = n;
    value->text = n == 1 && node->kind != YAML_MAP ? node->text : ragged_text(reading->arena, lengths, n);
    return STATUS_OK;
}

/* A whole number in range, in canonical decimal. */
static enum status read_decimal(struct reading *reading, const struct yaml_node *node, int64_t low, int64_t high,
                                const char **text)
{
    int64_t number;
    if (yaml_number(node, low, high, &number, reading->err))
        return reading->err->status;
    *text = arena_format(reading->arena, "%lld", (long long)number);
    return STATUS_OK;
}

static const struct case_param_spec *find_param(const struct family *family, const char *name)
{
    const struct case_param_spec *lists[] = {case_generator_params(family->generator), case_layout_params()};
    for (size_t l = 0; l < 2; l++)
        for (const struct case_param_spec *p = lists[l]; p && p->name; p++)
            if (strcmp(p->name, name) == 0)
                return p;
    return NULL;
}

static enum status unknown_param(struct reading *reading, const struct yaml_node *node, const char *name)
{
    const struct case_param_spec *lists[] = {case_generator_params(reading->family->generator), case_layout_params()};
    struct name_list              names = {0};
    for (int a = 0; a < N_FIXED_AXES; a++)
        name_list_add(&names, "%s", fixed_axis_names[a]);
    for (size_t l = 0; l < 2; l++)
        for (const struct case_param_spec *p = lists[l]; p && p->name; p++)
            name_list_add(&names, "%s", p->name);
    return error_set(reading->err, STATUS_USAGE, "%s:%d: generator '%s' has no parameter '%s'; accepted are %s", node->file,
                     node->line, reading->family->generator, name, names.text);
}

/* A text, or a list of texts: one a line. */
static enum status read_text_param(struct reading *reading, const struct yaml_node *node, const char **text)
{
    const char *const separator = "\n";
    size_t            size = 1;
    if (node->kind != YAML_LIST)
        return yaml_text(node, text, reading->err);
    if (node->n_items == 0)
        return yaml_error(node, reading->err, "lists nothing; give one text for each row");
    for (size_t i = 0; i < node->n_items; i++) {
        const char *line;
        if (yaml_text(&node->items[i], &line, reading->err))
            return reading->err->status;
        if (strchr(line, '\n'))
            return yaml_error(&node->items[i], reading->err, "a text of more than one line; each row is a text of its own");
        size += strlen(line) + 1;
    }
    char *joined = arena_alloc(reading->arena, size);
    for (size_t i = 0, used = 0; i < node->n_items; i++)
        used += (size_t)snprintf(joined + used, size - used, "%s%s", i ? separator : "", node->items[i].text);
    *text = joined;
    return STATUS_OK;
}

enum status family_read_param(struct reading *reading, const struct yaml_node *node, const char *name,
                              const char **text)
{
    const struct case_param_spec *spec = find_param(reading->family, name);
    int64_t                       value;
    char                          cause[512];
    if (!spec)
        return unknown_param(reading, node, name);
    if (spec->is_text)
        return read_text_param(reading, node, text);
    if (yaml_text(node, text, reading->err))
        return reading->err->status;
    if (case_param_parse(spec, *text, &value, cause, sizeof cause))
        return error_set(reading->err, STATUS_USAGE, "%s:%d: %s", node->file, node->line, cause);
    if (!spec->choices && value != INT64_MIN)
        *text = arena_format(reading->arena, "%lld", (long long)value);
    return STATUS_OK;
}

static enum status read_outputs(struct reading *reading, const struct yaml_node *node, const char **text)
{
    int which;
    if (yaml_choice(node, outputs_names, &which, reading->err))
        return reading->err->status;
    *text = outputs_names[which];
    return STATUS_OK;
}

enum status family_read_value(struct reading *reading, const char *axis, const struct yaml_node *node,
                              struct axis_value *value)
{
    if (strcmp(axis, "length") == 0)
        return read_length(reading, node, value);
    if (strcmp(axis, "topk") == 0)
        return read_decimal(reading, node, 1, MAX_TOPK, &value->text);
    if (strcmp(axis, "batch") == 0)
        return read_decimal(reading, node, 1, MAX_BATCH, &value->text);
    if (strcmp(axis, "outputs") == 0)
        return read_outputs(reading, node, &value->text);
    if (strcmp(axis, "page_size") == 0) {
        if (read_decimal(reading, node, 1, MAX_PAGE_SIZE, &value->text))
            return reading->err->status;
        assert(value->text);
        long size = strtol(value->text, NULL, 10);
        if (size & (size - 1))
            return yaml_error(node, reading->err, "page size %ld is not a power of two", size);
        return STATUS_OK;
    }
    return family_read_param(reading, node, axis, &value->text);
}

/* An axis from a list of values, or from a single one. */
enum status family_read_axis(struct reading *reading, const struct yaml_node *node, struct axis *axis)
{
    bool   is_list = node->kind == YAML_LIST;
    size_t n = is_list ? node->n_items : 1;
    if (n == 0)
        return yaml_error(node, reading->err, "an axis needs at least one value");
    axis->name = node->key;
    axis->n_values = n;
    axis->values = arena_alloc(reading->arena, n * sizeof *axis->values);
    for (size_t i = 0; i < n; i++) {
        if (family_read_value(reading, axis->name, is_list ? &node->items[i] : node, &axis->values[i]))
            return reading->err->status;
        for (size_t j = 0; j < i; j++)
            if (strcmp(axis->values[j].text, axis->values[i].text) == 0)
                return yaml_error(node, reading->err, "value %s stands in the list twice", axis->values[i].text);
    }
    return STATUS_OK;
}

static int by_axis_name(const void *a, const void *b)
{
    return strcmp(((const struct axis *)a)->name, ((const struct axis *)b)->name);
}

/* The value of a fixed axis that a matrix leaves out; an empty axis where there is no default. */
static struct axis default_axis(struct arena *arena, enum fixed_axis which)
{
    static const char *const defaults[N_FIXED_AXES] = {NULL, NULL, "64", "1", "page"};
    struct axis              axis = {.name = fixed_axis_names[which]};
    if (defaults[which]) {
        axis.values = arena_alloc(arena, sizeof *axis.values);
        axis.values[0].text = defaults[which];
        axis.n_values = 1;
    }
    return axis;
}

/* The lengths of the rows that a generator is given under these parameters. */
enum status family_given_lengths(struct reading *reading, const struct yaml_node *node, const struct case_param *params,
                                 size_t n_params, const int32_t **lengths, size_t *n)
{
    const struct case_spec spec = {.family = reading->family->id,
                                   .generator = reading->family->generator,
                                   .params = params,
                                   .n_params = n_params,
                                   .captured = reading->family->root->captured};
    char                   cause[512] = "";
    int32_t               *found = NULL;
    if (case_given_lengths(&spec, &found, n, cause, sizeof cause))
        return yaml_error(node, reading->err, "%s", cause);
    int32_t *kept = arena_alloc(reading->arena, *n * sizeof *kept);
    memcpy(kept, found, *n * sizeof *kept);
    free(found);
    *lengths = kept;
    return STATUS_OK;
}

/* A generator whose rows are given has its lengths and its batch from them. */
static enum status take_given_lengths(struct reading *reading, const struct yaml_node *node, struct matrix *matrix)
{
    const struct family *family = reading->family;
    struct axis_value   *value = arena_alloc(reading->arena, sizeof *value);
    if (yaml_get(node, "length") || yaml_get(node, "batch"))
        return yaml_error(yaml_get(node, "length") ? yaml_get(node, "length") : yaml_get(node, "batch"), reading->err,
                          "generator '%s' has rows and lengths of its own; leave it out", family->generator);
    if (family->limits)
        return yaml_error(yaml_get(reading->node, "limits"), reading->err,
                          "generator '%s' has lengths of its own; leave it out", family->generator);
    if (family_given_lengths(reading, yaml_get(reading->node, "generator"), family->params, family->n_params, &value->lengths,
                      &value->n_lengths))
        return reading->err->status;
    value->text = value->n_lengths == 1 ? arena_format(reading->arena, "%d", value->lengths[0])
                                        : ragged_text(reading->arena, value->lengths, value->n_lengths);
    matrix->axes[AXIS_LENGTH].values = value;
    matrix->axes[AXIS_LENGTH].n_values = 1;
    return STATUS_OK;
}

static enum status read_matrix(struct reading *reading, const struct yaml_node *node, struct matrix *matrix)
{
    static const char *const combines[] = {"pairwise", "product", NULL};
    if (yaml_check_kind(node, YAML_MAP, "a matrix", reading->err))
        return reading->err->status;
    for (int a = 0; a < N_FIXED_AXES; a++)
        matrix->axes[a] = default_axis(reading->arena, (enum fixed_axis)a);
    matrix->n_axes = N_FIXED_AXES;
    for (size_t i = 0; i < node->n_items; i++) {
        const struct yaml_node *item = &node->items[i];
        if (strcmp(item->key, "combine") == 0) {
            int which;
            if (yaml_choice(item, combines, &which, reading->err))
                return reading->err->status;
            matrix->product = which == 1;
            continue;
        }
        size_t a = 0;
        while (a < N_FIXED_AXES && strcmp(fixed_axis_names[a], item->key) != 0)
            a++;
        if (a == N_FIXED_AXES) {
            for (size_t p = 0; p < reading->family->n_params; p++)
                if (strcmp(reading->family->params[p].name, item->key) == 0)
                    return yaml_error(item, reading->err, "is an axis here and fixed under 'params'; keep one");
            if (matrix->n_axes == MAX_AXES)
                return yaml_error(node, reading->err, "has more than %d axes", MAX_AXES);
            a = matrix->n_axes++;
            const struct case_param_spec *spec = find_param(reading->family, item->key);
            if (spec && spec->is_text)
                return yaml_error(item, reading->err, "is a text and no axis; it stands under 'params', or in a family of its own");
        }
        if (family_read_axis(reading, item, &matrix->axes[a]))
            return reading->err->status;
    }
    qsort(matrix->axes + N_FIXED_AXES, matrix->n_axes - N_FIXED_AXES, sizeof matrix->axes[0], by_axis_name);
    if (matrix->axes[AXIS_TOPK].n_values == 0)
        return yaml_error(node, reading->err, "lacks the axis 'topk', for example topk: [512]");
    if (case_generator_is_given(reading->family->generator))
        return take_given_lengths(reading, node, matrix);
    if (matrix->axes[AXIS_LENGTH].n_values == 0 && !reading->family->limits)
        return yaml_error(node, reading->err, "lacks the axis 'length', for example length: [4096]");
    if (reading->family->limits && matrix->axes[AXIS_LENGTH].n_values)
        return yaml_error(node, reading->err, "a family with 'limits' takes its lengths from the provider; leave 'length' out");
    return STATUS_OK;
}

enum status family_read_matrices(struct reading *reading)
{
    const struct yaml_node *node = yaml_get(reading->node, "matrix");
    struct family          *family = reading->family;
    bool                    is_list = node->kind == YAML_LIST;
    family->n_matrices = is_list ? node->n_items : 1;
    if (family->n_matrices == 0)
        return yaml_error(node, reading->err, "is an empty list; a family without cases is no family");
    family->matrices = arena_alloc(reading->arena, family->n_matrices * sizeof *family->matrices);
    for (size_t m = 0; m < family->n_matrices; m++)
        if (read_matrix(reading, is_list ? &node->items[m] : node, &family->matrices[m]))
            return reading->err->status;
    return STATUS_OK;
}

static int by_param_name(const void *a, const void *b)
{
    return strcmp(((const struct case_param *)a)->name, ((const struct case_param *)b)->name);
}

enum status family_read_params(struct reading *reading)
{
    const struct yaml_node *node = yaml_get(reading->node, "params");
    if (!node)
        return STATUS_OK;
    if (yaml_check_kind(node, YAML_MAP, "params", reading->err))
        return reading->err->status;
    struct case_param *params = arena_alloc(reading->arena, (node->n_items + 1) * sizeof *params);
    for (size_t i = 0; i < node->n_items; i++) {
        params[i].name = node->items[i].key;
        if (family_read_param(reading, &node->items[i], params[i].name, &params[i].text))
            return reading->err->status;
    }
    qsort(params, node->n_items, sizeof *params, by_param_name);
    reading->family->params = params;
    reading->family->n_params = node->n_items;
    return STATUS_OK;
}
