/* SPDX-License-Identifier: Apache-2.0 */
/* Going on with a run; see resume.h. Start reading at resume_settings(), then resume_rows(). */
#include "harness/resume.h"

#include "harness/claims.h"
#include "harness/name_list.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the run was told ------------------------------------------------------------------------------------ */

struct told {
    struct arena *arena;
    char         *argv; /* a JSON array; NULL: no such run */
};

static enum status take_argv(void *payload, int n_columns, const char *const *names, const char *const *values,
                             struct error *err)
{
    struct told *told = payload;
    (void)n_columns;
    (void)names;
    (void)err;
    told->argv = arena_text(told->arena, values[0]);
    return STATUS_OK;
}

static enum status take_name(void *payload, int n_columns, const char *const *names, const char *const *values,
                             struct error *err)
{
    (void)n_columns;
    (void)names;
    (void)err;
    name_list_add(payload, "%s", values[0]);
    return STATUS_OK;
}

static enum status no_such_run(struct store *store, const char *run, const char *database, struct error *err)
{
    struct name_list runs = {0};
    if (store_query(store, "SELECT run FROM runs ORDER BY ended_at IS NOT NULL, started_at DESC LIMIT 10", NULL, 0,
                    take_name, &runs, err))
        return err->status;
    return error_set(err, STATUS_USAGE, "--resume %s: %s has no such run; its unfinished and newest ones are %s", run,
                     database, runs.used ? runs.text : "(none)");
}

/* What the run's own arguments settle is not for a resume to change. */
static enum status refuse_changes(const struct settings *given, struct error *err)
{
    const struct {
        const char *name;
        bool        is_given;
    } settled[] = {
        {"a PATTERN", given->words.n},         {"--suite", given->suite},
        {"--device", given->devices.n},        {"--provider", given->providers.n},
        {"--registry", given->registries.n},   {"--origin", given->origin},
        {"--repeat", given->repeat},           {"--retry", given->retry},
        {"--timeout", given->timeout},         {"--case-timeout", given->case_timeout},
        {"--inactivity", given->inactivity},   {"--shard", given->shard},
        {"--budget", given->budget},           {"--label", given->label},
        {"--source", given->source},           {"--fail-fast", given->fail_fast},
    };
    for (size_t i = 0; i < sizeof settled / sizeof settled[0]; i++)
        if (settled[i].is_given)
            return error_set(err, STATUS_USAGE,
                             "%s: a resumed run keeps its own arguments; beside --resume there may be --db, --jobs, "
                             "--time-limit, --json, --json-lines, --junit and --markdown",
                             settled[i].name);
    return STATUS_OK;
}

static enum status parse_argv(const char *run, const char *text, struct arena *arena, struct settings *settings,
                              struct error *err)
{
    json_t *words = json_loads(text, 0, NULL);
    size_t  n = json_array_size(words);
    char  **argv = arena_alloc(arena, (n + 1) * sizeof *argv);
    for (size_t i = 0; i < n; i++)
        argv[i] = arena_text(arena, json_string_value(json_array_get(words, i)));
    json_decref(words);
    for (size_t i = 0; i < n; i++)
        if (!argv[i])
            n = 0;
    if (n < 2 || strcmp(argv[1], "run") != 0)
        return error_set(err, STATUS_USAGE, "--resume %s: its stored arguments are not those of a run: %.200s", run, text);
    return options_parse(COMMAND_RUN, "run", (int)n - 1, argv + 1, settings, err);
}

enum status resume_settings(const struct settings *given, struct arena *arena, struct settings *settings,
                            struct error *err)
{
    const char   *database = given->database ? given->database : "topkcts.db";
    struct told   told = {.arena = arena};
    struct store *store = NULL;
    if (refuse_changes(given, err) || store_open(&store, database, STORE_READ, err))
        return err->status;
    if (!store_query(store, "SELECT coalesce(argv, '[]') FROM runs WHERE run = ?1", &given->resume, 1, take_argv,
                     &told, err) &&
        !told.argv)
        no_such_run(store, given->resume, database, err);
    store_close(store);
    if (err->status || parse_argv(given->resume, told.argv, arena, settings, err))
        return err->status;
    settings->resume = given->resume;
    settings->shard = NULL; /* the stored plan is cut already */
    settings->budget = 0;
    settings->database = given->database;
    settings->time_limit = given->time_limit;
    settings->json = given->json;
    settings->jobs = given->jobs ? given->jobs : settings->jobs;
    settings->json_lines = given->json_lines ? given->json_lines : settings->json_lines;
    settings->markdown = given->markdown ? given->markdown : settings->markdown;
    settings->junit = given->junit ? given->junit : settings->junit;
    return STATUS_OK;
}

/* ---- how far it came ------------------------------------------------------------------------------------------ */

/* A planned row by what identifies it. */
struct place {
    size_t      target;
    const char *name;
    size_t      row;
};

struct matching {
    struct runner *runner;
    struct place  *places; /* sorted; [plan->n_rows] */
    bool          *keep;   /* [plan->n_rows] */
    size_t         n_rows; /* that the store told of, attempt 1 */
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* The row of a case on the target of that device and build. */
static enum status find_row(const struct matching *matching, const char *device_id, const char *provider,
                            const char *digest, const char *origin, const char *case_name, size_t *row,
                            struct error *err)
{
    const struct plan *plan = matching->runner->plan;
    const char        *run = matching->runner->run;
    const struct target *same_name = NULL;
    for (size_t t = 0; t < plan->n_targets; t++) {
        const struct target *target = &plan->targets[t];
        if (strcmp(target->description.name, provider) != 0 || strcmp(target->description.origin, origin) != 0)
            continue;
        same_name = target;
        if (strcmp(target->description.digest, digest) != 0 || strcmp(target->record.device_id, device_id) != 0)
            continue;
        struct place  wanted = {.target = t, .name = case_name};
        struct place *found = bsearch(&wanted, matching->places, plan->n_rows, sizeof wanted, by_place);
        if (!found)
            return error_set(err, STATUS_USAGE, "run %s cannot be resumed: provider '%s' is not asked for case '%s' any more",
                             run, provider, case_name);
        *row = found->row;
        return STATUS_OK;
    }
    if (same_name && strcmp(same_name->description.digest, digest) != 0)
        return error_set(err, STATUS_USAGE,
                         "run %s cannot be resumed: provider '%s' changed since (digest %s then, %s now); start a new run",
                         run, provider, digest, same_name->description.digest);
    return error_set(err, STATUS_USAGE, "run %s cannot be resumed: provider '%s' on device %s is not there now", run,
                     provider, device_id);
}

enum column {
    RESULT, DEVICE_ID, PROVIDER, DIGEST, ORIGIN, CASE_NAME, ATTEMPT, VERDICT, LEVEL, REASON, WALL_MS, IN_BUDGET, STARTS
};

/* One stored attempt. They come in the order of their numbers. */
static enum status take_row(void *payload, int n_columns, const char *const *names, const char *const *values,
                            struct error *err)
{
    struct matching *matching = payload;
    struct plan     *plan = matching->runner->plan;
    size_t           row = 0;
    (void)n_columns;
    (void)names;
    if (find_row(matching, values[DEVICE_ID], values[PROVIDER], values[DIGEST], values[ORIGIN], values[CASE_NAME], &row,
                 err))
        return err->status;
    struct plan_row *planned = &plan->rows[row];
    struct outcome  *outcome = &matching->runner->outcomes[row];
    enum verdict     verdict = verdict_from_text(values[VERDICT]);
    int32_t          attempt = (int32_t)strtol(values[ATTEMPT], NULL, 10);
    matching->n_rows += attempt == 1;
    matching->keep[row] = true;
    planned->row_id = strtoll(values[RESULT], NULL, 10);
    planned->left_out = strcmp(values[IN_BUDGET], "0") == 0;
    planned->attempt = attempt;
    planned->starts = (int32_t)strtol(values[STARTS], NULL, 10);
    if (verdict == VERDICT_NOTRUN) { /* the attempt that is to be made */
        planned->is_done = false;
        *outcome = (struct outcome){.verdict = VERDICT_NOTRUN, .n_timeouts = outcome->n_timeouts,
                                    .n_crashes = outcome->n_crashes, .row_id = planned->row_id};
        return STATUS_OK;
    }
    planned->is_done = true;
    if (attempt == 1)
        planned->first_verdict = verdict;
    else
        planned->disagrees |= verdict != planned->first_verdict;
    outcome->verdict = verdict;
    outcome->attempts = attempt;
    outcome->row_id = planned->row_id;
    outcome->wall_ms = values[WALL_MS] ? strtod(values[WALL_MS], NULL) : 0;
    outcome->reason = arena_text(&plan->arena, values[REASON]);
    outcome->judged_level = values[LEVEL] != NULL;
    if (values[LEVEL])
        outcome->level = (enum topk_level)level_from_text(values[LEVEL]);
    outcome->n_timeouts += verdict == VERDICT_TIMEOUT;
    outcome->n_crashes += verdict == VERDICT_CRASH;
    return STATUS_OK;
}

/* A retry that was due when the runner died is due now. */
static void make_retries_due(struct runner *runner)
{
    for (size_t row = 0; row < runner->plan->n_rows; row++) {
        struct plan_row *planned = &runner->plan->rows[row];
        enum verdict     verdict = runner->outcomes[row].verdict;
        if (!planned->is_done || !verdict_is_red(verdict) || verdict == VERDICT_FLAKY ||
            planned->attempt > runner->settings->retry)
            continue;
        planned->is_done = false;
        planned->attempt++;
        planned->starts = 0;
    }
}

/* Outcomes follow the rows that are kept. */
static void keep_rows(struct matching *matching)
{
    struct runner *runner = matching->runner;
    size_t         n = 0;
    for (size_t row = 0; row < runner->plan->n_rows; row++)
        if (matching->keep[row])
            runner->outcomes[n++] = runner->outcomes[row];
    plan_keep(runner->plan, matching->keep);
    for (size_t row = 0; row < runner->plan->n_rows; row++)
        runner->plan->targets[runner->plan->rows[row].target].n_left_out += runner->plan->rows[row].left_out;
}

static enum status check_registry(struct runner *runner, struct error *err)
{
    struct told told = {.arena = &runner->plan->arena};
    if (store_query(runner->store, "SELECT coalesce(registry_hash, '') FROM run_details WHERE run = ?1", &runner->run,
                    1, take_argv, &told, err))
        return err->status;
    if (!told.argv || strcmp(told.argv, runner->registry->hash) != 0)
        return error_set(err, STATUS_USAGE,
                         "run %s cannot be resumed: the registry changed since (%s then, %s now); start a new run",
                         runner->run, told.argv ? told.argv : "unknown", runner->registry->hash);
    return STATUS_OK;
}

enum status resume_rows(struct runner *runner, struct error *err)
{
    struct plan    *plan = runner->plan;
    struct matching matching = {.runner = runner,
                                .places = arena_alloc(&plan->arena, plan->n_rows * sizeof *matching.places),
                                .keep = arena_alloc(&plan->arena, plan->n_rows * sizeof *matching.keep)};
    for (size_t row = 0; row < plan->n_rows; row++)
        matching.places[row] = (struct place){plan->rows[row].target, plan->rows[row].concrete->name, row};
    qsort(matching.places, plan->n_rows, sizeof *matching.places, by_place);
    if (check_registry(runner, err) ||
        store_query(runner->store,
                    "SELECT result, device_id, provider, provider_digest, origin, case_name, attempt, verdict, level, "
                    "reason, wall_ms, in_budget, starts FROM plan WHERE run = ?1 ORDER BY attempt",
                    &runner->run, 1, take_row, &matching, err))
        return err->status;
    if (matching.n_rows == 0)
        return error_set(err, STATUS_USAGE, "run %s has no planned results, so there is nothing to go on with; start a new run", runner->run);
    keep_rows(&matching);
    make_retries_due(runner);
    return STATUS_OK;
}
