/* SPDX-License-Identifier: Apache-2.0 */
/* A new family into a registry; see family_store.h. */
#include "harness/family_store.h"

#include "harness/project.h"
#include "harness/whole_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct family_target family_target_of(const struct settings *settings, struct arena *arena)
{
    struct family_target target = {.is_own = settings->registries.n == 0};
    if (target.is_own) {
        target.registry = arena_format(arena, "%s/registry", project_folder());
        target.captured = arena_format(arena, "%s/cases/captured", project_folder());
    } else {
        target.registry = arena_text(arena, settings->registries.items[settings->registries.n - 1]);
        target.captured = arena_format(arena, "%s/captured", target.registry);
    }
    return target;
}

/* Loads every registry; the last one may be new, and is then left out. */
static enum status load(const struct settings *settings, struct registry *registry, struct error *err)
{
    struct settings without = *settings;
    struct error    missing = {0};
    if (settings->registries.n == 0 || !project_load_registry(settings, false, registry, &missing))
        return settings->registries.n ? STATUS_OK : project_load_registry(settings, false, registry, err);
    registry_clear(registry);
    const char *folder = settings->registries.items[settings->registries.n - 1];
    if (!registry_folder_is_empty(folder))
        return error_set(err, missing.status, "%s", missing.text);
    without.registries.n--;
    return project_load_registry(&without, false, registry, err);
}

enum status family_store_check(const struct settings *settings, const struct family_entry *entry, struct error *err)
{
    struct registry registry = {0};
    size_t          suite;
    if (!family_id_is_legal(entry->id))
        return error_set(err, STATUS_USAGE, "--id %s: no slug: lower case letters, digits and '-' (at most 64) are accepted",
                         entry->id);
    if (load(settings, &registry, err))
        goto done;
    for (size_t f = 0; f < registry.n_families && !err->status; f++)
        if (strcmp(registry.families[f].id, entry->id) == 0)
            error_set(err, STATUS_USAGE, "--id %s: is taken: %s:%d has a family of that id; ids are never reused", entry->id,
                      registry.families[f].file, registry.families[f].line);
    if (!err->status && registry_fault(&registry, entry->fault, err))
        error_prefix(err, "--fault");
    if (entry->suite && !err->status && registry_suite(&registry, entry->suite, &suite, err))
        error_prefix(err, "--suite");
done:
    registry_clear(&registry);
    return err->status;
}

/* The one case of the family, as the registry has it now. */
static enum status read_back(const struct settings *settings, const struct family_entry *entry, struct arena *arena,
                             struct stored_family *stored, struct error *err)
{
    struct registry    registry = {0};
    struct case_inputs inputs = {0};
    uint16_t           values[MAX_AXES] = {0};
    size_t             f = 0;
    if (project_load_registry(settings, false, &registry, err))
        goto done;
    while (f < registry.n_families && strcmp(registry.families[f].id, entry->id) != 0)
        f++;
    if (f == registry.n_families) {
        error_set(err, STATUS_BOOKS, "%s: was written, and the registry does not have it", stored->path);
        goto done;
    }
    struct concrete_case made = concrete_case_at(arena, &registry.families[f], &registry.families[f].matrices[0], values);
    stored->case_name = made.name;
    if (case_generate(&made.spec, &inputs, err->text, sizeof err->text))
        err->status = STATUS_BOOKS;
    else
        digest_of_inputs(&inputs, stored->hash);
done:
    case_inputs_clear(&inputs);
    registry_clear(&registry);
    return err->status;
}

enum status family_read_back(const struct settings *settings, const struct family_entry *entry, const char *path,
                             const char *expected_hash, struct arena *arena, struct stored_family *stored,
                             struct error *err)
{
    memset(stored, 0, sizeof *stored);
    stored->path = arena_text(arena, path);
    if (!read_back(settings, entry, arena, stored, err) && strcmp(stored->hash, expected_hash) != 0)
        error_set(err, STATUS_BOOKS, "%s: gives inputs %s instead of %s: a defect of this program", path, stored->hash,
                  expected_hash);
    return err->status;
}

enum status family_store(const struct settings *settings, const struct family_entry *entry, const char *expected_hash,
                         struct arena *arena, struct stored_family *stored, struct error *err)
{
    struct family_target target = family_target_of(settings, arena);
    char                 path[PATH_MAX];
    char *text = family_entry_text(entry, err);
    if (!text)
        return err->status;
    if (!family_entry_path(target.registry, entry->id, path, sizeof path, err))
        whole_file_write(path, text, strlen(text), false, err);
    free(text);
    if (err->status)
        return err->status;
    if (family_read_back(settings, entry, path, expected_hash, arena, stored, err))
        unlink(path);
    return err->status;
}
