/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known to fail (registry/expected/ *.yaml) and how many skips are all right (registry/skips.yaml).
 *
 * An expired entry, or one that matches no case, is an error of `check`; a run treats it as absent and says so, so that
 * no night is lost on a date.
 */
#include "harness/claims.h"
#include "harness/registry.h"
#include "harness/yaml_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_passed(const char *date)
{
    char today[16];
    yaml_today(today);
    return strcmp(date, today) < 0;
}

static enum status read_verdict(const struct yaml_node *node, struct expectation *expectation, struct error *err)
{
    static const char *const accepted[] = {"fail", "crash", "timeout", NULL};
    int                      which;
    if (yaml_choice(node, accepted, &which, err))
        return err->status;
    expectation->verdict = accepted[which];
    return STATUS_OK;
}

static enum status read_level(const struct yaml_node *node, struct expectation *expectation, struct error *err)
{
    const char *text;
    if (yaml_text(node, &text, err))
        return err->status;
    expectation->level = level_from_text(text);
    if (expectation->level < 0)
        return yaml_error(node, err, "'%s' is no level; there are %s", text, level_names());
    return STATUS_OK;
}

static enum status read_expectation(struct registry *registry, const struct yaml_node *node, struct error *err)
{
    static const char *const keys[] = {"case",   "provider", "verdict", "reason", "issue",
                                       "expires", "arch",     "device_id", "level", NULL};
    struct expectation       e = {.level = -1, .file = node->file, .line = node->line};
    const struct yaml_node  *item;
    if (yaml_check_keys(node, "expectation", keys, 6, err) ||
        yaml_text(yaml_get(node, "case"), &e.case_glob, err) ||
        yaml_text(yaml_get(node, "provider"), &e.provider_glob, err) ||
        read_verdict(yaml_get(node, "verdict"), &e, err) || yaml_text(yaml_get(node, "reason"), &e.reason, err) ||
        yaml_text(yaml_get(node, "issue"), &e.issue, err) || yaml_date(yaml_get(node, "expires"), &e.expires, err))
        return err->status;
    if (((item = yaml_get(node, "arch")) && yaml_text(item, &e.arch_glob, err)) ||
        ((item = yaml_get(node, "device_id")) && yaml_text(item, &e.device_glob, err)) ||
        ((item = yaml_get(node, "level")) && read_level(item, &e, err)))
        return err->status;
    if (!e.arch_glob == !e.device_glob)
        return yaml_error(node, err, "an expectation names either 'arch' or 'device_id'");
    e.expired = has_passed(e.expires);
    registry->expectations =
        arena_grow(&registry->arena, registry->expectations, registry->n_expectations, sizeof e);
    registry->expectations[registry->n_expectations++] = e;
    return STATUS_OK;
}

static enum status read_expected_file(struct registry *registry, const char *path, struct error *err)
{
    struct yaml_node *root;
    if (registry_list_read(registry, path, false, &root, err))
        return err->status;
    for (size_t i = 0; i < root->n_items; i++) {
        struct error found = {0};
        read_expectation(registry, &root->items[i], &found);
        if (registry_note_mistake(registry, &found, err))
            return err->status;
    }
    return STATUS_OK;
}

static enum status read_skips(struct registry *registry, const char *path, struct error *err)
{
    static const char *const keys[] = {"suite", "device", "provider", "reason", "at_most", NULL};
    struct yaml_node        *root;
    if (registry_list_read(registry, path, true, &root, err))
        return err->status;
    for (size_t i = 0; i < root->n_items; i++) {
        const struct yaml_node *node = &root->items[i];
        struct skip_bound       bound;
        size_t                  suite;
        if (yaml_check_keys(node, "skip bound", keys, 5, err) ||
            yaml_text(yaml_get(node, "suite"), &bound.suite, err) ||
            yaml_text(yaml_get(node, "device"), &bound.device_glob, err) ||
            yaml_text(yaml_get(node, "provider"), &bound.provider_glob, err) ||
            yaml_text(yaml_get(node, "reason"), &bound.reason_glob, err) ||
            yaml_number(yaml_get(node, "at_most"), 0, 1000000, &bound.at_most, err))
            return err->status;
        if (registry_suite(registry, bound.suite, &suite, err))
            return yaml_error_at(yaml_get(node, "suite"), err);
        registry->skip_bounds =
            arena_grow(&registry->arena, registry->skip_bounds, registry->n_skip_bounds, sizeof bound);
        registry->skip_bounds[registry->n_skip_bounds++] = bound;
    }
    return STATUS_OK;
}

static int is_yaml(const struct dirent *entry)
{
    return fnmatch("[!.]*.yaml", entry->d_name, 0) == 0;
}

enum status expectations_read(struct registry *registry, const struct registry_root *root, struct error *err)
{
    const char     *folder = arena_format(&registry->arena, "%s/expected", root->folder);
    const char     *skips = arena_format(&registry->arena, "%s/skips.yaml", root->folder);
    struct dirent **entries;
    int             n = scandir(folder, &entries, is_yaml, alphasort);
    if (n < 0 && errno != ENOENT)
        return error_set(err, STATUS_USAGE, "%s: cannot be read: %s", folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        struct error found = {0};
        if (!err->status)
            read_expected_file(registry, arena_format(&registry->arena, "%s/%s", folder, entries[i]->d_name), &found);
        registry_note_mistake(registry, &found, err);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return err->status ? err->status : read_skips(registry, skips, err);
}

static bool glob_matches(const char *glob, const char *text)
{
    return !glob || fnmatch(glob, text, 0) == 0;
}

const struct expectation *registry_expectation(const struct registry *registry, const char *case_name,
                                               const char *arch, const char *device_id, const char *provider)
{
    for (size_t i = 0; i < registry->n_expectations; i++) {
        const struct expectation *e = &registry->expectations[i];
        if (!e->expired && case_name_matches(case_name, e->case_glob) && glob_matches(e->arch_glob, arch) &&
            glob_matches(e->device_glob, device_id) && glob_matches(e->provider_glob, provider))
            return e;
    }
    return NULL;
}
