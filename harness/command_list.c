/* SPDX-License-Identifier: Apache-2.0 */
/* `topkcts list`: the cases that a selection takes, one name a line, or as JSON. */
#include "harness/command.h"
#include "harness/project.h"
#include "harness/plan.h"

#include <jansson.h>
#include <stdio.h>

static json_t *case_json(const struct registry *registry, const struct concrete_case *concrete)
{
    json_t *suites = json_array(), *lengths = json_array(), *params = json_object();
    for (size_t s = 0; s < registry->n_suites; s++)
        if (concrete->suites >> s & 1)
            json_array_append_new(suites, json_string(registry->suites[s].id));
    for (size_t i = 0; i < concrete->spec.n_lengths; i++)
        json_array_append_new(lengths, json_integer(concrete->spec.lengths[i]));
    for (size_t p = 0; p < concrete->spec.n_params; p++)
        json_object_set_new(params, concrete->spec.params[p].name, json_string(concrete->spec.params[p].text));
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:i, s:i, s:o, s:i, s:i, s:s, s:o, s:s?}", "case", concrete->name,
                     "family", concrete->family->id, "fault", concrete->family->fault, "generator",
                     concrete->family->generator, "suites", suites, "topk", (int)concrete->spec.topk, "length",
                     (int)concrete->longest, "lengths", lengths, "page_size", (int)concrete->spec.page_size, "batch",
                     (int)concrete->spec.batch, "outputs", outputs_text(concrete->outputs), "params", params,
                     "input_hash", concrete->input_hash);
}

enum status command_list(const struct settings *settings, struct error *err)
{
    struct registry        registry = {0};
    struct arena           arena = {0};
    struct concrete_case **cases = NULL;
    size_t                 n_cases = 0;
    if (project_load_registry_aloud(settings, false, &registry, err) ||
        plan_select(settings, &registry, NULL, &arena, &cases, &n_cases, err))
        goto done;
    if (n_cases == 0) { /* nothing but a family with limits was asked for */
        error_set(err, STATUS_USAGE, "the cases of '%s' depend on the limits that a provider declares; 'topkcts run %s --provider P' names them",
                  settings->words.items[0], settings->words.items[0]);
        goto done;
    }
    if (settings->json) {
        json_t *list = json_array();
        for (size_t i = 0; i < n_cases; i++)
            json_array_append_new(list, case_json(&registry, cases[i]));
        json_dumpf(list, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(list);
    } else {
        for (size_t i = 0; i < n_cases; i++)
            puts(cases[i]->name);
        fprintf(stderr, "%zu cases\n", n_cases);
    }
done:
    arena_clear(&arena);
    registry_clear(&registry);
    return err->status;
}
