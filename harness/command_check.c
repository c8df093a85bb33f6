/* SPDX-License-Identifier: Apache-2.0 */
/* `topkcts check`: the registry, validated without a device. */
#include "harness/command.h"
#include "harness/project.h"

#include <stdio.h>

/* Reads the registry; of several mistakes every one is told. */
static enum status load(const struct settings *settings, bool update, struct registry *registry, struct error *err)
{
    struct check_result result = {0};
    struct error        found = {0};
    if (!project_load_registry(settings, update, registry, &found))
        return STATUS_OK;
    if (registry->n_mistakes < 2)
        return error_set(err, found.status, "%s", found.text);
    for (size_t i = 0; i < registry->n_mistakes; i++)
        check_problem(&result, "%s", registry->mistakes[i]);
    return error_set(err, STATUS_USAGE, "the registry has %zu mistakes, and nothing else was looked at",
                     result.n_problems);
}

enum status command_check(const struct settings *settings, struct error *err)
{
    struct registry     registry = {0}, expanded = {0};
    struct check_result result;
    if (settings->words.n)
        return error_set(err, STATUS_USAGE, "check takes no '%s'; it validates the whole registry", settings->words.items[0]);
    if (load(settings, settings->update, &registry, err) || (!settings->update && load(settings, true, &expanded, err)) ||
        registry_check(&registry, settings->update ? NULL : &expanded, &result, err))
        goto done;
    if (result.n_problems)
        error_set(err, STATUS_USAGE, "the registry has %zu mistake%s%s", result.n_problems,
                  result.n_problems == 1 ? "" : "s", settings->update ? "; nothing was written" : "");
    else if (settings->json)
        printf("{\"families\": %zu, \"cases\": %zu, \"hashed\": %zu, \"hashed_only_at_run\": %zu, \"suites\": %zu}\n",
               result.n_families, result.n_cases, result.n_hashed, result.n_huge, registry.n_suites);
    else
        printf("ok: %zu families, %zu cases, %zu suites; %zu inputs hashed, %zu only at run%s\n", result.n_families,
               result.n_cases, registry.n_suites, result.n_hashed, result.n_huge,
               !settings->update ? "" : result.n_tables ? "; hashes.txt and reports.md written" : "; hashes.txt written");
done:
    registry_clear(&registry);
    registry_clear(&expanded);
    return err->status;
}
