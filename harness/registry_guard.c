/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits on time (registry/guards.yaml), each declared on a day, with a reason, before it is measured against. Only read
 * here; command_guard.c measures.
 */
#include "harness/name_list.h"
#include "harness/registry.h"
#include "harness/yaml_tree.h"

#include <stdio.h>
#include <string.h>

/* Below this no machine tells two builds apart; above it a limit limits nothing. */
static const double LEAST_PERCENT = 0.1, MOST_PERCENT = 1000;

static enum status read_providers(const struct yaml_node *node, struct guard *guard, struct error *err)
{
    if (yaml_check_kind(node, YAML_LIST, "providers", err))
        return err->status;
    if (node->n_items != 2)
        return yaml_error(node, err, "names %zu providers; a guard has two, [base, candidate], each a glob over names",
                          node->n_items);
    if (yaml_text(&node->items[0], &guard->base, err) || yaml_text(&node->items[1], &guard->candidate, err))
        return err->status;
    return STATUS_OK;
}

static enum status read_cases(struct registry *registry, const struct yaml_node *node, struct guard *guard,
                              struct error *err)
{
    if (yaml_texts(node, "cases", &registry->arena, &guard->cases, &guard->n_cases, err))
        return err->status;
    return guard->n_cases ? STATUS_OK : yaml_error(node, err, "lists no pattern; a guard times one case at least");
}

static enum status read_outputs(const struct yaml_node *node, struct guard *guard, struct error *err)
{
    guard->outputs = 1u << OUTPUTS_PAGE | 1u << OUTPUTS_PAGE_RAW;
    if (!node)
        return STATUS_OK;
    if (yaml_check_kind(node, YAML_LIST, "outputs", err))
        return err->status;
    guard->outputs = 0;
    for (size_t i = 0; i < node->n_items; i++) {
        int which;
        if (yaml_choice(&node->items[i], outputs_names, &which, err))
            return err->status;
        guard->outputs |= 1u << which;
    }
    return guard->outputs ? STATUS_OK : yaml_error(node, err, "is empty; page, page+raw and raw are accepted");
}

static enum status read_cache(const struct yaml_node *node, struct guard *guard, struct error *err)
{
    static const char *const accepted[] = {"warm", "cold", NULL};
    int                      which = 0;
    if (node && yaml_choice(node, accepted, &which, err))
        return err->status;
    guard->cold = which == 1;
    return STATUS_OK;
}

static enum status read_guard(struct registry *registry, const struct yaml_node *node, struct error *err)
{
    static const char *const keys[] = {"id",    "what",  "providers", "percent", "declared", "reason",
                                       "suite", "cases", "outputs",   "cache",   NULL};
    enum { N_REQUIRED = 6 };
    struct guard            guard = {.file = node->file, .line = node->line};
    const struct yaml_node *suite = NULL, *cases = NULL;
    size_t                  unused;
    if (yaml_check_keys(node, "guard", keys, N_REQUIRED, err) || yaml_text(yaml_get(node, "id"), &guard.id, err) ||
        yaml_text(yaml_get(node, "what"), &guard.what, err) ||
        yaml_text(yaml_get(node, "reason"), &guard.reason, err) ||
        yaml_date(yaml_get(node, "declared"), &guard.declared, err) ||
        yaml_decimal(yaml_get(node, "percent"), LEAST_PERCENT, MOST_PERCENT, &guard.percent, err) ||
        read_providers(yaml_get(node, "providers"), &guard, err) ||
        read_outputs(yaml_get(node, "outputs"), &guard, err) || read_cache(yaml_get(node, "cache"), &guard, err))
        return err->status;
    suite = yaml_get(node, "suite");
    cases = yaml_get(node, "cases");
    if (!suite && !cases)
        return yaml_error(node, err, "guard '%s' says neither 'suite' nor 'cases': what is timed is part of the limit",
                          guard.id);
    if ((suite && yaml_text(suite, &guard.suite, err)) || (cases && read_cases(registry, cases, &guard, err)))
        return err->status;
    if (suite && registry_suite(registry, guard.suite, &unused, err))
        return yaml_error_at(suite, err);
    for (size_t g = 0; g < registry->n_guards; g++)
        if (strcmp(registry->guards[g].id, guard.id) == 0)
            return yaml_error(node, err, "guard '%s' is declared twice, first in %s:%d", guard.id,
                              registry->guards[g].file, registry->guards[g].line);
    registry->guards = arena_grow(&registry->arena, registry->guards, registry->n_guards, sizeof guard);
    registry->guards[registry->n_guards++] = guard;
    return STATUS_OK;
}

enum status guards_read(struct registry *registry, const struct registry_root *root, struct error *err)
{
    const char       *path = arena_format(&registry->arena, "%s/guards.yaml", root->folder);
    struct yaml_node *list;
    if (registry_list_read(registry, path, true, &list, err))
        return err->status;
    for (size_t i = 0; i < list->n_items; i++)
        if (read_guard(registry, &list->items[i], err))
            return err->status;
    return STATUS_OK;
}

bool guard_is_to_come(const struct guard *guard)
{
    char today[16];
    yaml_today(today);
    return strcmp(guard->declared, today) > 0;
}

enum status registry_guard(const struct registry *registry, const char *id, const struct guard **guard,
                           struct error *err)
{
    struct name_list names = {0};
    for (size_t g = 0; g < registry->n_guards; g++) {
        if (strcmp(registry->guards[g].id, id) == 0) {
            *guard = &registry->guards[g];
            if (guard_is_to_come(*guard))
                return error_set(err, STATUS_USAGE, "%s:%d: guard '%s' is declared on %s, a day to come: nothing can be "
                                 "held to it yet", (*guard)->file, (*guard)->line, id, (*guard)->declared);
            return STATUS_OK;
        }
        name_list_add(&names, "%s", registry->guards[g].id);
    }
    return error_set(err, STATUS_USAGE, "no guard '%s'; %s%s (a limit is declared in registry/guards.yaml before it is "
                     "measured against)", id, registry->n_guards ? "there are " : "none is declared", names.text);
}
