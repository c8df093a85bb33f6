/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One family of the registry: from its YAML map to axes, selections and needs. Knows which keys and values are legal;
 * knows nothing of combinations (pairwise.c) or names (concrete_case.c).
 */
#include "harness/claims.h"
#include "harness/digest.h"
#include "harness/registry.h"
#include "harness/yaml_tree.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TOPK 4096
#define MAX_PAGE_SIZE (1 << 20)
#define MAX_BATCH (1 << 22)
#define MAX_LENGTH (1 << 28)
#define RAGGED_TEXT_LIMIT 40

static const char *const fixed_axis_names[N_FIXED_AXES] = {"topk", "length", "page_size", "batch", "outputs"};
static const char *const outputs_names[N_OUTPUTS + 1] = {"page", "page+raw", "raw", NULL};

struct reading {
    struct registry        *registry;
    struct arena           *arena;
    struct family          *family;
    const struct yaml_node *node;
    struct error           *err;
};

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

static enum status read_choice(const struct yaml_node *node, const char *const *choices, const char **text,
                               struct error *err)
{
    char   names[512] = "";
    size_t used = 0;
    if (yaml_text(node, text, err))
        return err->status;
    for (size_t i = 0; choices[i]; i++) {
        if (strcmp(choices[i], *text) == 0)
            return STATUS_OK;
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", choices[i]);
    }
    return yaml_error(node, err, "'%s' is not among the accepted values: %s", *text, names);
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
    char                          names[512] = "";
    size_t                        used = 0;
    for (size_t l = 0; l < 2; l++)
        for (const struct case_param_spec *p = lists[l]; p && p->name && used < sizeof names; p++)
            used += (size_t)snprintf(names + used, sizeof names - used, ", %s", p->name);
    return error_set(reading->err, STATUS_USAGE,
                     "%s:%d: generator '%s' has no parameter '%s'; accepted are topk, length, page_size, batch, outputs%s",
                     node->file, node->line, reading->family->generator, name, names);
}

static enum status read_param(struct reading *reading, const struct yaml_node *node, const char *name,
                              const char **text)
{
    const struct case_param_spec *spec = find_param(reading->family, name);
    int64_t                       value;
    char                          cause[512];
    if (!spec)
        return unknown_param(reading, node, name);
    if (yaml_text(node, text, reading->err))
        return reading->err->status;
    if (case_param_parse(spec, *text, &value, cause, sizeof cause))
        return error_set(reading->err, STATUS_USAGE, "%s:%d: %s", node->file, node->line, cause);
    if (!spec->choices && value != INT64_MIN)
        *text = arena_format(reading->arena, "%lld", (long long)value);
    return STATUS_OK;
}

static enum status read_value(struct reading *reading, const char *axis, const struct yaml_node *node,
                              struct axis_value *value)
{
    if (strcmp(axis, "length") == 0)
        return read_length(reading, node, value);
    if (strcmp(axis, "topk") == 0)
        return read_decimal(reading, node, 1, MAX_TOPK, &value->text);
    if (strcmp(axis, "batch") == 0)
        return read_decimal(reading, node, 1, MAX_BATCH, &value->text);
    if (strcmp(axis, "outputs") == 0)
        return read_choice(node, outputs_names, &value->text, reading->err);
    if (strcmp(axis, "page_size") == 0) {
        if (read_decimal(reading, node, 1, MAX_PAGE_SIZE, &value->text))
            return reading->err->status;
        assert(value->text);
        long size = strtol(value->text, NULL, 10);
        if (size & (size - 1))
            return yaml_error(node, reading->err, "page size %ld is not a power of two", size);
        return STATUS_OK;
    }
    return read_param(reading, node, axis, &value->text);
}

/* An axis from a list of values, or from a single one. */
static enum status read_axis(struct reading *reading, const struct yaml_node *node, struct axis *axis)
{
    bool   is_list = node->kind == YAML_LIST;
    size_t n = is_list ? node->n_items : 1;
    if (n == 0)
        return yaml_error(node, reading->err, "an axis needs at least one value");
    axis->name = node->key;
    axis->n_values = n;
    axis->values = arena_alloc(reading->arena, n * sizeof *axis->values);
    for (size_t i = 0; i < n; i++) {
        if (read_value(reading, axis->name, is_list ? &node->items[i] : node, &axis->values[i]))
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
            const char *combine;
            if (read_choice(item, combines, &combine, reading->err))
                return reading->err->status;
            matrix->product = strcmp(combine, "product") == 0;
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
        }
        if (read_axis(reading, item, &matrix->axes[a]))
            return reading->err->status;
    }
    if (matrix->axes[AXIS_TOPK].n_values == 0)
        return yaml_error(node, reading->err, "lacks the axis 'topk', for example topk: [512]");
    if (matrix->axes[AXIS_LENGTH].n_values == 0 && !reading->family->limits)
        return yaml_error(node, reading->err, "lacks the axis 'length', for example length: [4096]");
    if (reading->family->limits && matrix->axes[AXIS_LENGTH].n_values)
        return yaml_error(node, reading->err, "a family with 'limits' takes its lengths from the provider; leave 'length' out");
    qsort(matrix->axes + N_FIXED_AXES, matrix->n_axes - N_FIXED_AXES, sizeof matrix->axes[0], by_axis_name);
    return STATUS_OK;
}

static enum status read_matrices(struct reading *reading)
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

static enum status read_params(struct reading *reading)
{
    const struct yaml_node *node = yaml_get(reading->node, "params");
    if (!node)
        return STATUS_OK;
    if (yaml_check_kind(node, YAML_MAP, "params", reading->err))
        return reading->err->status;
    struct case_param *params = arena_alloc(reading->arena, (node->n_items + 1) * sizeof *params);
    for (size_t i = 0; i < node->n_items; i++) {
        params[i].name = node->items[i].key;
        if (read_param(reading, &node->items[i], params[i].name, &params[i].text))
            return reading->err->status;
    }
    qsort(params, node->n_items, sizeof *params, by_param_name);
    reading->family->params = params;
    reading->family->n_params = node->n_items;
    return STATUS_OK;
}

/* A restriction must name values that some matrix has, or it silently selects nothing. */
static enum status check_restriction(struct reading *reading, const struct yaml_node *node, const struct axis *axis)
{
    for (size_t v = 0; v < axis->n_values; v++) {
        bool found = false;
        for (size_t m = 0; m < reading->family->n_matrices; m++)
            for (size_t a = 0; a < reading->family->matrices[m].n_axes; a++) {
                const struct axis *have = &reading->family->matrices[m].axes[a];
                for (size_t w = 0; strcmp(have->name, axis->name) == 0 && w < have->n_values; w++)
                    found |= strcmp(have->values[w].text, axis->values[v].text) == 0;
            }
        if (!found)
            return yaml_error(node, reading->err, "%s is no value of the axis '%s' in this family's matrix",
                              axis->values[v].text, axis->name);
    }
    return STATUS_OK;
}

static enum status read_selections(struct reading *reading)
{
    const struct yaml_node *node = yaml_get(reading->node, "suites");
    struct family          *family = reading->family;
    if (!node)
        return STATUS_OK;
    if (yaml_check_kind(node, YAML_MAP, "suites", reading->err))
        return reading->err->status;
    family->selections = arena_alloc(reading->arena, (node->n_items + 1) * sizeof *family->selections);
    for (size_t i = 0; i < node->n_items; i++) {
        const struct yaml_node *item = &node->items[i];
        struct selection       *selection = &family->selections[family->n_selections++];
        struct error            unknown = {0};
        if (registry_suite(reading->registry, item->key, &selection->suite, &unknown))
            return error_set(reading->err, STATUS_USAGE, "%s:%d: suites: %s", item->file, item->line, unknown.text);
        if (item->kind == YAML_SCALAR && strcmp(item->text, "all") == 0)
            continue;
        if (item->kind != YAML_MAP)
            return yaml_error(item, reading->err, "is neither 'all' nor a map of axes to lists");
        struct axis *axes = arena_alloc(reading->arena, (item->n_items + 1) * sizeof *axes);
        for (size_t a = 0; a < item->n_items; a++)
            if (read_axis(reading, &item->items[a], &axes[a]) ||
                check_restriction(reading, &item->items[a], &axes[a]))
                return reading->err->status;
        selection->restrictions = axes;
        selection->n_restrictions = item->n_items;
    }
    return STATUS_OK;
}

static enum status read_promise(struct reading *reading, const struct yaml_node *node)
{
    struct family         *family = reading->family;
    struct needed_promise *promise = &family->promises[family->n_promises++];
    bool                   is_list = node->kind == YAML_LIST;
    size_t                 n = is_list ? node->n_items : 1;
    const char           **values = arena_alloc(reading->arena, (n + 1) * sizeof *values);
    if (n == 0)
        return yaml_error(node, reading->err, "lists no value that would do");
    for (size_t i = 0; i < n; i++) {
        const struct yaml_node *value = is_list ? &node->items[i] : node;
        struct error            unknown = {0};
        if (yaml_text(value, &values[i], reading->err))
            return reading->err->status;
        if (claims_check(node->key, values[i], &unknown))
            return error_set(reading->err, STATUS_USAGE,
                             "%s:%d: requires: %s; or a capability: memory_mib, lds_kib, wave_size, backend, arch",
                             node->file, node->line, unknown.text);
    }
    promise->claim = node->key;
    promise->values = values;
    return STATUS_OK;
}

static enum status read_requires(struct reading *reading)
{
    const struct yaml_node   *node = yaml_get(reading->node, "requires");
    struct needed_capability *needs = &reading->family->needs;
    if (!node)
        return STATUS_OK;
    if (yaml_check_kind(node, YAML_MAP, "requires", reading->err))
        return reading->err->status;
    reading->family->promises = arena_alloc(reading->arena, (node->n_items + 1) * sizeof *reading->family->promises);
    for (size_t i = 0; i < node->n_items && !reading->err->status; i++) {
        const struct yaml_node *item = &node->items[i];
        int64_t                 number;
        if (strcmp(item->key, "memory_mib") == 0)
            yaml_number(item, 1, INT32_MAX, &needs->memory_mib, reading->err);
        else if (strcmp(item->key, "lds_kib") == 0)
            yaml_number(item, 1, 1024, &needs->lds_kib, reading->err);
        else if (strcmp(item->key, "backend") == 0)
            yaml_text(item, &needs->backend, reading->err);
        else if (strcmp(item->key, "arch") == 0)
            yaml_text(item, &needs->arch, reading->err);
        else if (strcmp(item->key, "wave_size") == 0) {
            if (!yaml_number(item, 32, 64, &number, reading->err))
                needs->wave_size = (int32_t)number;
        } else
            read_promise(reading, item);
    }
    return reading->err->status;
}

static enum status read_step(struct reading *reading, const struct yaml_node *node, struct sequence_step *step)
{
    static const char *const keys[] = {"topk", "length", "page_size", "batch", NULL};
    if (yaml_check_keys(node, "sequence step", keys, 0, reading->err))
        return reading->err->status;
    if (node->n_items == 0)
        return yaml_error(node, reading->err, "a step must replace something: topk, length, page_size or batch");
    for (size_t i = 0; i < node->n_items; i++) {
        struct axis_value value = {0};
        const char       *key = node->items[i].key;
        if (read_value(reading, key, &node->items[i], &value))
            return reading->err->status;
        if (strcmp(key, "length") == 0) {
            step->lengths = value.lengths;
            step->n_lengths = value.n_lengths;
        } else {
            assert(value.text);
            int32_t number = (int32_t)strtol(value.text, NULL, 10);
            *(strcmp(key, "topk") == 0 ? &step->topk : strcmp(key, "batch") == 0 ? &step->batch : &step->page_size) =
                number;
        }
    }
    return STATUS_OK;
}

static enum status read_sequence(struct reading *reading)
{
    const struct yaml_node *node = yaml_get(reading->node, "sequence");
    struct family          *family = reading->family;
    if (!node)
        return STATUS_OK;
    if (yaml_check_kind(node, YAML_LIST, "sequence", reading->err))
        return reading->err->status;
    family->n_sequence = node->n_items;
    family->sequence = arena_alloc(reading->arena, (node->n_items + 1) * sizeof *family->sequence);
    for (size_t i = 0; i < node->n_items; i++)
        if (read_step(reading, &node->items[i], &family->sequence[i]))
            return reading->err->status;
    return STATUS_OK;
}

/* One range: {axis: topk, from: 1, to: 1024, step: 1}. */
static enum status read_sweep(struct reading *reading, const struct yaml_node *node, struct sweep *sweep)
{
    static const char *const keys[] = {"axis", "from", "to", "step", NULL};
    static const char *const axes[] = {"topk", "length", "batch", NULL};
    const char              *axis;
    int64_t                  low, high, from, to, step = 1;
    if (yaml_check_keys(node, "sweep", keys, 3, reading->err) ||
        read_choice(yaml_get(node, "axis"), axes, &axis, reading->err))
        return reading->err->status;
    bool is_length = strcmp(axis, "length") == 0;
    sweep->axis = is_length ? AXIS_LENGTH : strcmp(axis, "topk") == 0 ? AXIS_TOPK : AXIS_BATCH;
    low = is_length ? 0 : 1;
    high = is_length ? MAX_LENGTH : sweep->axis == AXIS_TOPK ? MAX_TOPK : MAX_BATCH;
    if (yaml_number(yaml_get(node, "from"), low, high, &from, reading->err) ||
        yaml_number(yaml_get(node, "to"), from, high, &to, reading->err) ||
        (yaml_get(node, "step") && yaml_number(yaml_get(node, "step"), 1, high, &step, reading->err)))
        return reading->err->status;
    sweep->from = (int32_t)from;
    sweep->to = (int32_t)to;
    sweep->step = (int32_t)step;
    return STATUS_OK;
}

static enum status read_sweeps(struct reading *reading)
{
    const struct yaml_node *node = yaml_get(reading->node, "sweep");
    struct family          *family = reading->family;
    if (!node)
        return STATUS_OK;
    if (yaml_check_kind(node, YAML_LIST, "sweep", reading->err))
        return reading->err->status;
    family->n_sweeps = node->n_items;
    family->sweeps = arena_alloc(reading->arena, (node->n_items + 1) * sizeof *family->sweeps);
    for (size_t i = 0; i < node->n_items; i++)
        if (read_sweep(reading, &node->items[i], &family->sweeps[i]))
            return reading->err->status;
    return STATUS_OK;
}

static enum status read_limits(struct reading *reading)
{
    const struct yaml_node *node = yaml_get(reading->node, "limits");
    if (!node)
        return STATUS_OK;
    if (yaml_check_kind(node, YAML_LIST, "limits", reading->err))
        return reading->err->status;
    if (node->n_items == 0)
        return yaml_error(node, reading->err, "names no limit, for example [candidates]");
    const char **names = arena_alloc(reading->arena, (node->n_items + 1) * sizeof *names);
    for (size_t i = 0; i < node->n_items; i++)
        if (yaml_text(&node->items[i], &names[i], reading->err))
            return reading->err->status;
    reading->family->limits = names;
    return STATUS_OK;
}

static enum status check_id(const struct yaml_node *node, const char *id, struct error *err)
{
    if (strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(id) || strlen(id) > 64)
        return yaml_error(node, err, "'%s' is no slug: lower case letters, digits and '-' (at most 64) are accepted", id);
    return STATUS_OK;
}

/* The plain keys: texts and numbers. */
static enum status read_plain_keys(struct reading *reading)
{
    struct family          *family = reading->family;
    const struct yaml_node *node = reading->node, *item;
    struct error           *err = reading->err;
    int64_t                 number;
    if (yaml_text(yaml_get(node, "id"), &family->id, err) || check_id(yaml_get(node, "id"), family->id, err) ||
        yaml_text(yaml_get(node, "summary"), &family->summary, err) ||
        yaml_text(yaml_get(node, "fault"), &family->fault, err) ||
        yaml_text(yaml_get(node, "generator"), &family->generator, err))
        return err->status;
    if ((item = yaml_get(node, "source")) && yaml_text(item, &family->source, err))
        return err->status;
    if ((item = yaml_get(node, "seed"))) {
        if (yaml_number(item, 0, INT64_MAX, &number, err))
            return err->status;
        family->seed = (uint64_t)number;
    }
    if ((item = yaml_get(node, "launches"))) {
        if (yaml_number(item, 1, 100000, &number, err))
            return err->status;
        family->launches = (int32_t)number;
    }
    if ((item = yaml_get(node, "origins"))) {
        static const char *const choices[] = {"any", "both", NULL};
        const char              *origins;
        if (read_choice(item, choices, &origins, err))
            return err->status;
        family->both_origins = strcmp(origins, "both") == 0;
    }
    return STATUS_OK;
}

/* Names that must be declared elsewhere: the fault kind, the generator; and an id that is not taken. */
static enum status check_names(struct reading *reading)
{
    const struct registry *registry = reading->registry;
    const struct family   *family = reading->family;
    char                   names[700] = "";
    size_t                 used = 0, f = 0;
    while (f < registry->n_faults && strcmp(registry->faults[f].id, family->fault) != 0) {
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", f ? ", " : "", registry->faults[f].id);
        f++;
    }
    if (f == registry->n_faults)
        return yaml_error(yaml_get(reading->node, "fault"), reading->err,
                          "'%s' is not declared in faults.yaml; declared are %s", family->fault, names);
    used = 0;
    for (size_t g = 0; case_generator_name(g) && used < sizeof names; g++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", g ? ", " : "", case_generator_name(g));
    if (!case_generator_params(family->generator))
        return yaml_error(yaml_get(reading->node, "generator"), reading->err, "no generator '%s'; there are %s",
                          family->generator, names);
    for (size_t i = 0; i < registry->n_families; i++)
        if (strcmp(registry->families[i].id, family->id) == 0)
            return yaml_error(yaml_get(reading->node, "id"), reading->err,
                              "'%s' is taken: %s:%d has a family of that id", family->id, registry->families[i].file,
                              registry->families[i].line);
    return STATUS_OK;
}

enum status family_read(struct registry *registry, const struct registry_root *root, const struct yaml_node *node,
                        struct error *err)
{
    static const char *const keys[] = {"id",     "summary", "fault",  "generator", "matrix",   "source", "params",
                                       "suites", "requires", "limits", "sequence",  "sweep",    "launches", "origins",
                                       "seed",   NULL};
    struct family            family = {.root = root, .file = node->file, .line = node->line, .seed = 1};
    struct reading           reading = {registry, &registry->arena, &family, node, err};
    if (yaml_check_keys(node, "family", keys, 5, err) || read_plain_keys(&reading) || check_names(&reading) ||
        read_limits(&reading) || read_params(&reading) || read_matrices(&reading) || read_selections(&reading) ||
        read_requires(&reading) || read_sequence(&reading) || read_sweeps(&reading))
        return err->status;
    registry->families = arena_grow(&registry->arena, registry->families, registry->n_families, sizeof family);
    registry->families[registry->n_families++] = family;
    return STATUS_OK;
}
