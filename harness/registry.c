/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a registry folder: fault kinds, suites, families, expectations, case lists, in this order, since each refers
 * to the ones before. Start reading at registry_load().
 */
#include "harness/registry.h"

#include "harness/device.h"
#include "harness/digest.h"
#include "harness/name_list.h"
#include "harness/yaml_tree.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const int64_t WEEK_SECONDS = 604800;

/* What loading needs everywhere. */
struct reading {
    struct registry *registry;
    struct error    *err;
};

static bool is_there(const char *path)
{
    struct stat unused;
    return stat(path, &unused) == 0;
}

/* A file's bytes go into the registry's hash. */
static enum status add_file(struct registry *registry, const char *path, struct error *err)
{
    char hex[DIGEST_HEX];
    if (digest_of_file(path, hex, err))
        return err->status;
    digest_add(registry->files, hex, sizeof hex);
    return STATUS_OK;
}

enum status registry_file_read(struct registry *registry, const char *path, struct yaml_node **root, struct error *err)
{
    return yaml_load(path, &registry->arena, root, err) ? err->status : add_file(registry, path, err);
}

enum status registry_list_read(struct registry *registry, const char *path, bool optional, struct yaml_node **list,
                               struct error *err)
{
    struct stat unused;
    if (optional && stat(path, &unused) != 0 && errno == ENOENT) {
        *list = arena_alloc(&registry->arena, sizeof **list);
        **list = (struct yaml_node){.kind = YAML_LIST, .file = path, .line = 1};
        return STATUS_OK;
    }
    return registry_file_read(registry, path, list, err) ? err->status
                                                         : yaml_check_kind(*list, YAML_LIST, "the file", err);
}

enum status registry_note_mistake(struct registry *registry, const struct error *found, struct error *err)
{
    if (found->status != STATUS_USAGE)
        return found->status ? error_set(err, found->status, "%s", found->text) : STATUS_OK;
    registry->mistakes = arena_grow(&registry->arena, registry->mistakes, registry->n_mistakes, sizeof *registry->mistakes);
    registry->mistakes[registry->n_mistakes++] = arena_text(&registry->arena, found->text);
    return err->status;
}

static enum status read_faults(struct reading *reading, const char *path)
{
    static const char *const keys[] = {"id", "summary", "means", NULL};
    struct registry         *registry = reading->registry;
    struct yaml_node        *root;
    if (registry_list_read(registry, path, false, &root, reading->err))
        return reading->err->status;
    for (size_t i = 0; i < root->n_items; i++) {
        struct fault_kind fault;
        if (yaml_check_keys(&root->items[i], "fault kind", keys, 3, reading->err) ||
            yaml_text(yaml_get(&root->items[i], "id"), &fault.id, reading->err) ||
            yaml_text(yaml_get(&root->items[i], "summary"), &fault.summary, reading->err) ||
            yaml_text(yaml_get(&root->items[i], "means"), &fault.means, reading->err))
            return reading->err->status;
        for (size_t f = 0; f < registry->n_faults; f++)
            if (strcmp(registry->faults[f].id, fault.id) == 0)
                return yaml_error(&root->items[i], reading->err, "fault kind '%s' is declared twice", fault.id);
        registry->faults = arena_grow(&registry->arena, registry->faults, registry->n_faults, sizeof fault);
        registry->faults[registry->n_faults++] = fault;
    }
    return STATUS_OK;
}

static enum status read_suite(struct reading *reading, const struct registry_root *root, const struct yaml_node *node)
{
    static const char *const keys[] = {"id",     "summary",   "budget_seconds", "strict", "watched",
                                       "device", "providers", "max_cases",      NULL};
    const char              *devices[DEVICE_MAX_BACKENDS + 1] = {NULL};
    struct registry         *registry = reading->registry;
    struct error            *err = reading->err;
    const struct yaml_node  *item;
    struct suite             suite = {.root = root};
    int                      device = -1;
    for (int i = 0; device_backends[i]; i++)
        devices[i] = device_backends[i]->name;
    if (yaml_check_keys(node, "suite", keys, 3, err) || yaml_text(yaml_get(node, "id"), &suite.id, err) ||
        yaml_text(yaml_get(node, "summary"), &suite.summary, err) ||
        yaml_number(yaml_get(node, "budget_seconds"), 1, WEEK_SECONDS, &suite.budget_seconds, err))
        return err->status;
    if (((item = yaml_get(node, "strict")) && yaml_flag(item, &suite.strict, err)) ||
        ((item = yaml_get(node, "watched")) && yaml_flag(item, &suite.watched, err)) ||
        ((item = yaml_get(node, "device")) && yaml_choice(item, devices, &device, err)) ||
        ((item = yaml_get(node, "max_cases")) && yaml_number(item, 1, 1000000, &suite.max_cases, err)) ||
        ((item = yaml_get(node, "providers")) && yaml_texts(item, "providers", &registry->arena, &suite.providers, &suite.n_providers, err)))
        return err->status;
    suite.device = device < 0 ? NULL : devices[device];
    suite.meta = strcmp(suite.id, "meta") == 0;
    for (size_t s = 0; s < registry->n_suites; s++)
        if (strcmp(registry->suites[s].id, suite.id) == 0)
            return yaml_error(node, err, "suite '%s' is declared twice", suite.id);
    if (registry->n_suites == MAX_SUITES)
        return yaml_error(node, err, "more than %d suites", MAX_SUITES);
    registry->suites = arena_grow(&registry->arena, registry->suites, registry->n_suites, sizeof suite);
    registry->suites[registry->n_suites++] = suite;
    return STATUS_OK;
}

static enum status read_suites(struct reading *reading, const struct registry_root *root, const char *path)
{
    struct yaml_node *list;
    if (registry_list_read(reading->registry, path, false, &list, reading->err))
        return reading->err->status;
    for (size_t i = 0; i < list->n_items; i++)
        if (read_suite(reading, root, &list->items[i]))
            return reading->err->status;
    return STATUS_OK;
}

static int is_yaml(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && ((length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0) ||
                                       (length > 4 && strcmp(entry->d_name + length - 4, ".yml") == 0));
}

static bool is_family_file(const char *name)
{
    static const char *const others[] = {"faults.yaml", "suites.yaml",  "skips.yaml",
                                         "fleet.yaml",  "guards.yaml", "reports.yaml"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(name, others[i]) == 0)
            return false;
    return true;
}

static enum status read_family_file(struct reading *reading, const struct registry_root *root, const char *path)
{
    struct yaml_node *node;
    if (registry_file_read(reading->registry, path, &node, reading->err))
        return reading->err->status;
    if (node->kind != YAML_LIST)
        return family_read(reading->registry, root, node, reading->err);
    if (node->n_items == 0)
        return yaml_error(node, reading->err, "lists no family; a file in the registry has one at least");
    for (size_t i = 0; i < node->n_items; i++) {
        struct error found = {0};
        family_read(reading->registry, root, &node->items[i], &found);
        if (registry_note_mistake(reading->registry, &found, reading->err))
            return reading->err->status;
    }
    return STATUS_OK;
}

/* Families stand in ROOT/cases; a folder of private cases may also hold them directly. */
static enum status read_families(struct reading *reading, const struct registry_root *root)
{
    struct registry *registry = reading->registry;
    const char      *folder = arena_format(&registry->arena, "%s/cases", root->folder);
    struct dirent  **entries;
    size_t           before = registry->n_families, mistakes_before = registry->n_mistakes;
    if (!is_there(folder))
        folder = root->folder;
    int n = scandir(folder, &entries, is_yaml, alphasort);
    if (n < 0)
        return error_set(reading->err, STATUS_USAGE, "%s: no registry there: %s", root->folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        struct error   found = {0};
        struct reading of_file = {registry, &found};
        if (!reading->err->status && is_family_file(entries[i]->d_name))
            read_family_file(&of_file, root, arena_format(&registry->arena, "%s/%s", folder, entries[i]->d_name));
        registry_note_mistake(registry, &found, reading->err);
        free(entries[i]);
    }
    free(entries);
    if (!reading->err->status && registry->n_families == before && registry->n_mistakes == mistakes_before)
        error_set(reading->err, STATUS_USAGE, "%s: no case families there; a registry has them as cases/*.yaml",
                  root->folder);
    return reading->err->status;
}

bool registry_folder_is_empty(const char *folder)
{
    char            cases[4096];
    struct dirent **entries = NULL;
    int             found = 0;
    snprintf(cases, sizeof cases, "%s/cases", folder);
    int n = scandir(is_there(cases) ? cases : folder, &entries, is_yaml, NULL);
    for (int i = 0; i < n; i++) {
        found += is_family_file(entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return found == 0;
}

/* A part that the others do not refer to: a mistake in it keeps nobody from looking at them. */
static enum status read_part(struct reading *reading, const struct registry_root *root,
                             enum status (*read)(struct registry *, const struct registry_root *, struct error *))
{
    struct error found = {0};
    read(reading->registry, root, &found);
    return registry_note_mistake(reading->registry, &found, reading->err);
}

static enum status read_root(struct reading *reading, struct registry_root *root, bool update)
{
    struct registry *registry = reading->registry;
    const char      *faults = arena_format(&registry->arena, "%s/faults.yaml", root->folder);
    const char      *suites = arena_format(&registry->arena, "%s/suites.yaml", root->folder);
    const char      *hashes = arena_format(&registry->arena, "%s/hashes.txt", root->folder);
    bool             first = root == registry->roots;
    struct stat      status;
    if (stat(root->folder, &status) != 0 || !S_ISDIR(status.st_mode))
        return error_set(reading->err, STATUS_USAGE, "%s: no registry folder there", root->folder);
    if ((first || is_there(faults)) && read_faults(reading, faults))
        return reading->err->status;
    if ((first || is_there(suites)) && read_suites(reading, root, suites))
        return reading->err->status;
    root->has_hashes = is_there(hashes);
    if (root->has_hashes && !update && add_file(registry, hashes, reading->err))
        return reading->err->status;
    if (read_families(reading, root) || read_part(reading, root, expectations_read) ||
        read_part(reading, root, fleet_read) || read_part(reading, root, guards_read))
        return reading->err->status;
    return registry->n_mistakes ? STATUS_OK : cases_read(registry, root, update, reading->err);
}

enum status registry_load(struct registry *registry, const char *const *folders, size_t n_folders, bool update,
                          struct error *err)
{
    char hex[DIGEST_HEX];
    memset(registry, 0, sizeof *registry);
    registry->files = aligned_alloc(_Alignof(struct digest), sizeof *registry->files);
    if (!registry->files)
        return error_no_memory(err);
    digest_begin(registry->files);
    registry->roots = arena_alloc(&registry->arena, (n_folders + 1) * sizeof *registry->roots);
    registry->n_roots = n_folders;
    for (size_t i = 0; i < n_folders; i++) {
        char absolute[PATH_MAX];
        registry->roots[i].folder = arena_text(&registry->arena, folders[i]);
        registry->roots[i].captured = arena_format(&registry->arena, i ? "%s/captured" : "%s/../cases/captured",
                                                   realpath(folders[i], absolute) ? absolute : folders[i]);
        struct error   found = {0};
        struct reading reading = {registry, &found};
        if (read_root(&reading, &registry->roots[i], update)) {
            registry_note_mistake(registry, &found, err);
            break; /* the next folder's would only be consequences */
        }
    }
    if (registry->n_mistakes == 1)
        error_set(err, STATUS_USAGE, "%s", registry->mistakes[0]);
    else if (registry->n_mistakes)
        error_set(err, STATUS_USAGE, "%s; this is the first of %zu mistakes, topkcts check lists them",
                  registry->mistakes[0], registry->n_mistakes);
    digest_end(registry->files, hex);
    free(registry->files);
    registry->files = NULL;
    registry->hash = arena_text(&registry->arena, hex);
    return err->status;
}

void registry_clear(struct registry *registry)
{
    arena_clear(&registry->arena);
    memset(registry, 0, sizeof *registry);
}

enum status registry_suite(const struct registry *registry, const char *id, size_t *suite, struct error *err)
{
    struct name_list names = {0};
    for (size_t s = 0; s < registry->n_suites; s++) {
        if (strcmp(registry->suites[s].id, id) == 0) {
            *suite = s;
            return STATUS_OK;
        }
        name_list_add(&names, "%s", registry->suites[s].id);
    }
    return error_set(err, STATUS_USAGE, "no suite '%s'; there are %s", id, names.text);
}

enum status registry_fault(const struct registry *registry, const char *id, struct error *err)
{
    struct name_list names = {0};
    for (size_t f = 0; f < registry->n_faults; f++) {
        if (strcmp(registry->faults[f].id, id) == 0)
            return STATUS_OK;
        name_list_add(&names, "%s", registry->faults[f].id);
    }
    return error_set(err, STATUS_USAGE, "'%s' is not declared in faults.yaml; declared are %s", id, names.text);
}
