/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which device owes which suite how often (registry/fleet.yaml). Only read here; whether a night came is asked of the
 * database, by reports/stale.sql.
 */
#include "harness/registry.h"
#include "harness/yaml_tree.h"

#include <string.h>

/* A year: what is owed less often is not owed. */
enum { MOST_HOURS = 366 * 24 };

static enum status read_duty(struct registry *registry, const struct yaml_node *node, struct error *err)
{
    static const char *const keys[] = {"device_id", "suite", "every_hours", NULL};
    struct fleet_duty        duty = {.file = node->file, .line = node->line};
    size_t                   suite;
    if (yaml_check_keys(node, "fleet entry", keys, 3, err) ||
        yaml_text(yaml_get(node, "device_id"), &duty.device_glob, err) ||
        yaml_text(yaml_get(node, "suite"), &duty.suite, err) ||
        yaml_number(yaml_get(node, "every_hours"), 1, MOST_HOURS, &duty.every_hours, err))
        return err->status;
    if (registry_suite(registry, duty.suite, &suite, err))
        return yaml_error_at(yaml_get(node, "suite"), err);
    for (size_t i = 0; i < registry->n_duties; i++)
        if (strcmp(registry->duties[i].device_glob, duty.device_glob) == 0 &&
            strcmp(registry->duties[i].suite, duty.suite) == 0)
            return yaml_error(node, err, "device '%s' and suite '%s' stand here twice, first in %s:%d",
                              duty.device_glob, duty.suite, registry->duties[i].file, registry->duties[i].line);
    registry->duties = arena_grow(&registry->arena, registry->duties, registry->n_duties, sizeof duty);
    registry->duties[registry->n_duties++] = duty;
    return STATUS_OK;
}

enum status fleet_read(struct registry *registry, const struct registry_root *root, struct error *err)
{
    const char       *path = arena_format(&registry->arena, "%s/fleet.yaml", root->folder);
    struct yaml_node *list;
    if (registry_list_read(registry, path, true, &list, err))
        return err->status;
    for (size_t i = 0; i < list->n_items; i++)
        if (read_duty(registry, &list->items[i], err))
            return err->status;
    return STATUS_OK;
}
