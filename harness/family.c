/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One family of the registry: from its YAML map to axes, selections and needs. Knows which keys and values are legal;
 * knows nothing of combinations (pairwise.c) or names (concrete_case.c).
 */
#include "harness/family_reading.h"

#include "harness/claims.h"
#include "harness/name_list.h"

#include <stdio.h>
#include <string.h>

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
            if (family_read_axis(reading, &item->items[a], &axes[a]) ||
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

/* Where captured contents come from: any words that are worth keeping. */
static enum status read_origin(struct reading *reading)
{
    const struct yaml_node *node = yaml_get(reading->node, "captured_from");
    if (!node)
        return STATUS_OK;
    if (yaml_check_kind(node, YAML_MAP, "captured_from", reading->err))
        return reading->err->status;
    struct case_param *notes = arena_alloc(reading->arena, (node->n_items + 1) * sizeof *notes);
    for (size_t i = 0; i < node->n_items; i++) {
        notes[i].name = node->items[i].key;
        if (yaml_text(&node->items[i], &notes[i].text, reading->err))
            return reading->err->status;
    }
    reading->family->origin = notes;
    reading->family->n_origin = node->n_items;
    return STATUS_OK;
}

bool family_id_is_legal(const char *id)
{
    return id[0] && strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(id) && strlen(id) <= 64;
}

static enum status check_id(const struct yaml_node *node, const char *id, struct error *err)
{
    if (!family_id_is_legal(id))
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
        int                      which;
        if (yaml_choice(item, choices, &which, err))
            return err->status;
        family->both_origins = which == 1;
    }
    return STATUS_OK;
}

/* Names that must be declared elsewhere: the fault kind, the generator; and an id that is not taken. */
static enum status check_names(struct reading *reading)
{
    const struct registry *registry = reading->registry;
    const struct family   *family = reading->family;
    struct name_list       names = {0};
    if (registry_fault(registry, family->fault, reading->err))
        return yaml_error_at(yaml_get(reading->node, "fault"), reading->err);
    for (size_t g = 0; case_generator_name(g); g++)
        name_list_add(&names, "%s", case_generator_name(g));
    if (!case_generator_params(family->generator))
        return yaml_error(yaml_get(reading->node, "generator"), reading->err, "no generator '%s'; there are %s",
                          family->generator, names.text);
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
                                       "seed",   "captured_from", NULL};
    struct family            family = {.root = root, .file = node->file, .line = node->line, .seed = 1};
    struct reading           reading = {registry, &registry->arena, &family, node, err};
    if (yaml_check_keys(node, "family", keys, 5, err) || read_plain_keys(&reading) || check_names(&reading) ||
        family_read_limits(&reading) || read_origin(&reading) || family_read_params(&reading) || family_read_matrices(&reading) || read_selections(&reading) ||
        read_requires(&reading) || family_read_sequence(&reading) || family_read_sweeps(&reading))
        return err->status;
    registry->families = arena_grow(&registry->arena, registry->families, registry->n_families, sizeof family);
    registry->families[registry->n_families++] = family;
    return STATUS_OK;
}
