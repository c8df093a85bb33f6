/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a family launches beside its cases: sequences of other problems, sweeps, and lengths around the limits that
 * providers declare. See family_reading.h.
 */
#include "harness/family_reading.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Whether a key of a step is an axis; every other key is a parameter. */
static bool is_step_axis(const char *key)
{
    return strcmp(key, "topk") == 0 || strcmp(key, "length") == 0 || strcmp(key, "page_size") == 0 ||
           strcmp(key, "batch") == 0;
}

/* The parameters that a step replaces. */
static enum status read_step_params(struct reading *reading, const struct yaml_node *node, struct sequence_step *step)
{
    struct case_param *params = arena_alloc(reading->arena, (node->n_items + 1) * sizeof *params);
    for (size_t i = 0; i < node->n_items; i++) {
        if (is_step_axis(node->items[i].key))
            continue;
        params[step->n_params].name = node->items[i].key;
        if (family_read_param(reading, &node->items[i], node->items[i].key, &params[step->n_params++].text))
            return reading->err->status;
    }
    step->params = params;
    return STATUS_OK;
}

static enum status read_step(struct reading *reading, const struct yaml_node *node, struct sequence_step *step)
{
    bool is_given = case_generator_is_given(reading->family->generator);
    if (yaml_check_kind(node, YAML_MAP, "sequence step", reading->err))
        return reading->err->status;
    if (node->n_items == 0)
        return yaml_error(node, reading->err,
                          "a step must replace something: topk, length, page_size, batch or a parameter");
    for (size_t i = 0; i < node->n_items; i++) {
        struct axis_value value = {0};
        const char       *key = node->items[i].key;
        if (!is_step_axis(key))
            continue;
        if (is_given && (strcmp(key, "length") == 0 || strcmp(key, "batch") == 0))
            return yaml_error(&node->items[i], reading->err, "generator '%s' has rows and lengths of its own; leave it out",
                              reading->family->generator);
        if (family_read_value(reading, key, &node->items[i], &value))
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
    if (read_step_params(reading, node, step))
        return reading->err->status;
    if (!is_given || !step->n_params)
        return STATUS_OK;
    const struct family *family = reading->family;
    struct case_param   *params = arena_alloc(reading->arena, (family->n_params + step->n_params) * sizeof *params);
    size_t               n = case_params_replaced(family->params, family->n_params, step->params, step->n_params, params);
    step->batch = 1; /* raised to the number of lengths */
    return family_given_lengths(reading, node, params, n, &step->lengths, &step->n_lengths);
}

enum status family_read_sequence(struct reading *reading)
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
    static const enum fixed_axis swept[] = {AXIS_TOPK, AXIS_LENGTH, AXIS_BATCH};
    int                      which;
    int64_t                  low, high, from, to, step = 1;
    if (yaml_check_keys(node, "sweep", keys, 3, reading->err) ||
        yaml_choice(yaml_get(node, "axis"), axes, &which, reading->err))
        return reading->err->status;
    sweep->axis = swept[which];
    bool is_length = sweep->axis == AXIS_LENGTH;
    if (case_generator_is_given(reading->family->generator) && sweep->axis != AXIS_TOPK)
        return yaml_error(node, reading->err, "generator '%s' has rows and lengths of its own; only topk can be swept",
                          reading->family->generator);
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

enum status family_read_sweeps(struct reading *reading)
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

enum status family_read_limits(struct reading *reading)
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
