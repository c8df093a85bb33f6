/* SPDX-License-Identifier: Apache-2.0 */
/* Where a failure comes from; see shrink_source.h. */
#include "harness/shrink/shrink_source.h"

#include "harness/finding.h"
#include "harness/project.h"
#include "harness/store_query.h"

#include <stdlib.h>
#include <string.h>

/* ---- a result of the database ----------------------------------------------------------------------------------- */

struct looking {
    struct arena *arena;
    const char   *wanted; /* the provider of the command line, or NULL */
    const char   *provider, *device;
    int           n;
};

/* One result that went wrong: provider, its file, backend. */
static enum status take_result(void *payload, int n_columns, const char *const *names, const struct store_value *values,
                               struct error *err)
{
    struct looking *looking = payload;
    (void)n_columns;
    (void)names;
    (void)err;
    if (!values)
        return STATUS_OK;
    const char *file = values[1].kind == STORE_VALUE_TEXT && values[1].text[0] ? values[1].text : values[0].text;
    if (looking->wanted && strcmp(looking->wanted, file) != 0 && strcmp(looking->wanted, values[0].text) != 0)
        return STATUS_OK;
    looking->provider = arena_text(looking->arena, file);
    looking->device = arena_text(looking->arena, values[2].text);
    looking->n++;
    return STATUS_OK;
}

static enum status read_result(const struct settings *settings, struct arena *arena, struct shrink_source *source,
                               struct error *err)
{
    static const char sql[] =
        "SELECT DISTINCT r.provider, p.file, CASE WHEN r.backend IN ('hip', 'cuda') THEN r.backend || ':0' ELSE r.device_id END"
        " FROM results AS r LEFT JOIN run_providers AS p"
        "   ON p.run = r.run AND p.provider = r.provider AND p.provider_digest = r.provider_digest"
        " WHERE r.run = :run AND r.case_name = :case AND r.verdict IN ('fail', 'crash', 'timeout', 'flaky', 'xfail')"
        " ORDER BY 1, 3";
    const char            *database = settings->database ? settings->database : "topkcts.db";
    const char            *name = settings->words.items[0];
    struct store_parameter parameters[] = {{"run", settings->run}, {"case", name}};
    struct looking         looking = {.arena = arena, .wanted = settings->providers.n ? settings->providers.items[0] : NULL};
    struct store          *store;
    if (store_open(&store, database, STORE_READ, err))
        return err->status;
    store_query_named(store, sql, parameters, 2, take_result, &looking, err);
    store_close(store);
    if (err->status)
        return err->status;
    if (looking.n == 0)
        return error_set(err, STATUS_USAGE, "%s: run '%s' has no failure of case '%s'%s%s", database, settings->run, name,
                         looking.wanted ? " by " : "", looking.wanted ? looking.wanted : "");
    if (looking.n > 1 && !settings->devices.n)
        return error_set(err, STATUS_USAGE,
                         "%s: run '%s' has %d failures of case '%s'; say which with --provider P and --device D", database,
                         settings->run, looking.n, name);
    source->provider = looking.provider;
    source->device = strncmp(looking.device, "host", 4) == 0 ? "host" : looking.device;
    return STATUS_OK;
}

/* ---- a case of the registry ------------------------------------------------------------------------------------- */

static enum status make(const struct case_spec *spec, struct case_inputs *inputs, struct error *err)
{
    if (case_generate(spec, inputs, err->text, sizeof err->text))
        err->status = STATUS_USAGE;
    return err->status;
}

/* The problems of the family's sequence, then the case itself. */
static enum status make_trial(struct shrink_source *source, const struct case_spec *last, struct small_trial *trial,
                              struct error *err)
{
    const struct family *family = source->concrete.family;
    int32_t              n = (int32_t)family->n_sequence;
    struct case_inputs  *inputs = calloc((size_t)n + 1, sizeof *inputs);
    if (!inputs)
        return error_no_memory(err);
    for (int32_t s = 0; s < n && !err->status; s++) {
        const struct sequence_step *step = &family->sequence[s];
        struct case_param *params = calloc(source->concrete.spec.n_params + step->n_params + 1, sizeof *params);
        if (!params) {
            error_no_memory(err);
            break;
        }
        struct case_spec spec = registry_sequence_spec(&source->concrete, step, params);
        make(&spec, &inputs[s], err);
        free(params);
    }
    if (!err->status && !make(last, &inputs[n], err))
        small_trial_from(trial, inputs, n + 1, source->concrete.outputs, err);
    for (int32_t s = 0; s <= n; s++)
        case_inputs_clear(&inputs[s]);
    free(inputs);
    return err->status;
}

static enum status read_case(const struct settings *settings, struct arena *arena, struct shrink_source *source,
                             struct error *err)
{
    static const int64_t LARGEST = INT64_C(256) << 20;
    const char          *name = settings->words.items[0];
    if (project_load_registry(settings, false, &source->registry, err) ||
        registry_case(&source->registry, name, arena, &source->concrete, err))
        return err->status;
    source->from = arena_text(arena, name);
    source->fault = source->concrete.family->fault;
    source->repeats = source->concrete.family->launches;
    if (case_input_bytes(&source->concrete.spec) > LARGEST)
        return error_set(err, STATUS_USAGE, "%s: %lld MiB of inputs; up to %lld MiB can be made smaller: begin with a smaller "
                         "case of its family", name, (long long)(case_input_bytes(&source->concrete.spec) >> 20),
                         (long long)(LARGEST >> 20));
    if (settings->run)
        return read_result(settings, arena, source, err) ? err->status
                                                         : make_trial(source, &source->concrete.spec, &source->trial, err);
    return make_trial(source, &source->concrete.spec, &source->trial, err);
}

int64_t shrink_source_sweeps(const struct shrink_source *source)
{
    int64_t n = 0;
    for (size_t s = 0; source->concrete.family && s < source->concrete.family->n_sweeps; s++) {
        const struct sweep *sweep = &source->concrete.family->sweeps[s];
        n += ((int64_t)sweep->to - sweep->from) / sweep->step + 1;
    }
    return n;
}

enum status shrink_source_sweep(const struct shrink_source *source, int64_t i, struct small_trial *trial, struct error *err)
{
    const struct sweep *sweep = source->concrete.family->sweeps;
    for (; i > ((int64_t)sweep->to - sweep->from) / sweep->step; sweep++)
        i -= ((int64_t)sweep->to - sweep->from) / sweep->step + 1;
    int32_t            value = (int32_t)(sweep->from + i * sweep->step);
    struct case_spec   spec = registry_sweep_spec(&source->concrete, sweep, &value);
    struct case_inputs inputs = {0};
    if (!make(&spec, &inputs, err))
        small_trial_from(trial, &inputs, 1, source->concrete.outputs, err);
    case_inputs_clear(&inputs);
    return err->status;
}

/* ---- a finding -------------------------------------------------------------------------------------------------- */

static enum status read_finding(const char *path, struct arena *arena, struct shrink_source *source, struct error *err)
{
    struct finding *finding = calloc(1, sizeof *finding);
    if (!finding)
        return error_no_memory(err);
    if (!finding_read(path, finding, err)) {
        const char *slash = strrchr(path, '/');
        source->from = arena_text(arena, slash ? slash + 1 : path);
        source->provider = arena_text(arena, finding->provider);
        source->device = finding->device[0] ? arena_text(arena, finding->device) : NULL;
        source->plan = finding->trial.plan;
        source->repeats = finding->trial.repeats;
        source->relations = finding->trial.relations;
        source->seed = finding->trial.seed;
        small_trial_from(&source->trial, finding->trial.problems, finding->trial.n_problems, finding->trial.outputs, err);
        finding_clear(finding);
    }
    free(finding);
    return err->status;
}

static bool is_file(const char *word)
{
    size_t length = strlen(word);
    return length > 5 && strcmp(word + length - 5, ".json") == 0;
}

enum status shrink_source_read(const struct settings *settings, struct arena *arena, struct shrink_source *source,
                               struct error *err)
{
    memset(source, 0, sizeof *source);
    source->plan = TRIAL_FULL;
    if (settings->words.n != 1)
        return error_set(err, STATUS_USAGE,
                         "shrink takes one failing case with --provider P, or with --run R of --db F; or one finding of fuzz "
                         "(a .json file)");
    if (settings->providers.n > 1 || settings->devices.n > 1)
        return error_set(err, STATUS_USAGE, "one failure is made small at a time: give one --provider and one --device");
    if (is_file(settings->words.items[0]) ? read_finding(settings->words.items[0], arena, source, err)
                                          : read_case(settings, arena, source, err))
        return err->status;
    if (settings->providers.n)
        source->provider = settings->providers.items[0];
    if (settings->devices.n)
        source->device = settings->devices.items[0];
    if (!source->provider)
        return error_set(err, STATUS_USAGE, "whose failure is it? give --provider P, or --run R with the database of that run");
    return STATUS_OK;
}

void shrink_source_clear(struct shrink_source *source)
{
    small_trial_clear(&source->trial);
    registry_clear(&source->registry);
    memset(source, 0, sizeof *source);
}
