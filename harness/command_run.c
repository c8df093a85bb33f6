/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `topkcts run`: plan, write the plan to the store, run it, close the books, print what came of it.
 * Nothing runs before every name was found and the whole plan is stored.
 */
#include "harness/budget.h"
#include "harness/claims.h"
#include "harness/command.h"
#include "harness/history.h"
#include "harness/generated_file.h"
#include "harness/junit.h"
#include "harness/project.h"
#include "harness/provenance.h"
#include "harness/provenance_files.h"
#include "harness/resume.h"
#include "harness/run_lock.h"
#include "harness/summary.h"
#include "harness/version.h"

#include <errno.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Everything of one `run`, so that one place can free it. */
struct books {
    struct arena    arena; /* of what the plan's does not hold: settings of a resumed run */
    struct settings settings;
    const char     *database;
    struct registry registry;
    struct plan     plan;
    struct store   *store;
    struct runner   runner;
    char            run[32], started_at[32], host[256];
    char           *environment, *argv;
    FILE           *json_lines, *markdown;
    struct provenance_source source;
};

static enum status open_output(const char *path, const char *mode, FILE **file, struct error *err)
{
    if (path && !(*file = fopen(path, mode)))
        return error_set(err, STATUS_BOOKS, "%s: cannot be written: %s", path, strerror(errno));
    return STATUS_OK;
}

/* What --source stands for goes to the environment as "source". */
static enum status add_source(struct books *books, const struct settings *settings, struct error *err)
{
    json_t *source = provenance_files(settings->source, settings->source_base, err);
    json_t *environment = json_loads(books->environment, 0, NULL);
    if (!err->status && json_object_set(environment, "source", source) == 0) {
        free(books->environment);
        books->environment = json_dumps(environment, JSON_COMPACT);
    }
    json_decref(source);
    json_decref(environment);
    return err->status;
}

static enum status read_provenance(struct books *books, const struct settings *settings, struct error *err)
{
    const char *variable;
    if (settings->source_base && !settings->source)
        return error_set(err, STATUS_USAGE, "--source-base %s says nothing without --source DIR, the sources that differ from it",
                         settings->source_base);
    if (settings->require_clean_env && provenance_overrides_identity(&variable))
        return error_set(err, STATUS_USAGE, "%s is set, which overrides a GPU's identity; unset it or leave out --require-clean-env",
                         variable);
    provenance_host(books->host);
    books->environment = provenance_environment();
    if (settings->source && books->environment && add_source(books, settings, err))
        return err->status;
    books->argv = project_arguments_json();
    if (!books->environment || !books->argv)
        return error_no_memory(err);
    return provenance_source(settings->source ? settings->source : project_folder(), &books->source, err);
}

static const char *text_or_null(const char *text)
{
    return text[0] ? text : NULL;
}

/* The devices and providers of a run, each once, and where each target finds its own. */
struct parties {
    struct store_device   *devices;
    struct store_provider *providers;
    size_t                 n_devices, n_providers;
    size_t                *device_of, *provider_of; /* [n_targets] */
};

static struct store_provider store_provider_of(struct books *books, const struct settings *settings,
                                               const struct target *target)
{
    char claims[256];
    bool is_ours = strcmp(target->description.origin, "plugin") != 0 && strcmp(target->description.origin, "process") != 0;
    claims_format(&target->description.claims, claims, sizeof claims);
    return (struct store_provider){
        .name = target->description.name,
        .version = target->description.version,
        .digest = target->description.digest,
        .origin = target->description.origin,
        .claims = arena_text(&books->plan.arena, claims),
        .file = is_ours ? NULL : target->provider,
        .source_commit = is_ours || settings->source ? text_or_null(books->source.commit) : NULL,
    };
}

static void fill_parties(struct books *books, const struct settings *settings, struct parties *parties)
{
    struct plan *plan = &books->plan;
    parties->devices = arena_alloc(&plan->arena, plan->n_targets * sizeof *parties->devices);
    parties->providers = arena_alloc(&plan->arena, plan->n_targets * sizeof *parties->providers);
    parties->device_of = arena_alloc(&plan->arena, plan->n_targets * sizeof *parties->device_of);
    parties->provider_of = arena_alloc(&plan->arena, plan->n_targets * sizeof *parties->provider_of);
    for (size_t t = 0; t < plan->n_targets; t++) {
        const struct target  *target = &plan->targets[t];
        struct store_provider provider = store_provider_of(books, settings, target);
        size_t                d = 0, p = 0;
        while (d < parties->n_devices && strcmp(parties->devices[d].device_id, target->record.device_id) != 0)
            d++;
        while (p < parties->n_providers && (strcmp(parties->providers[p].name, provider.name) != 0 ||
                                            strcmp(parties->providers[p].digest, provider.digest) != 0 ||
                                            strcmp(parties->providers[p].origin, provider.origin) != 0))
            p++;
        if (d == parties->n_devices)
            parties->devices[parties->n_devices++] = target->record;
        if (p == parties->n_providers)
            parties->providers[parties->n_providers++] = provider;
        parties->device_of[t] = d;
        parties->provider_of[t] = p;
    }
}

static void fill_rows(struct books *books, const struct parties *parties, struct store_planned *planned)
{
    const struct plan *plan = &books->plan;
    for (size_t i = 0; i < plan->n_rows; i++) {
        const struct concrete_case *concrete = plan->rows[i].concrete;
        size_t                      target = plan->rows[i].target;
        planned[i] = (struct store_planned){
            .device = parties->device_of[target],
            .provider = parties->provider_of[target],
            .case_name = concrete->name,
            .family = concrete->family->id,
            .fault = concrete->family->fault,
            .topk = concrete->spec.topk,
            .length = concrete->longest,
            .page_size = concrete->spec.page_size,
            .batch = concrete->spec.batch,
            .outputs = outputs_text(concrete->outputs),
            .input_hash = concrete->input_hash,
            .promised = registry_case_level(concrete, &plan->targets[target].description.claims),
            .in_budget = !plan->rows[i].left_out,
        };
    }
}

/* The run and its whole plan, in one transaction. */
static enum status store_plan(struct books *books, const struct settings *settings, struct error *err)
{
    struct plan           *plan = &books->plan;
    struct parties         parties = {0};
    struct store_planned  *planned = arena_alloc(&plan->arena, plan->n_rows * sizeof *planned);
    int64_t               *row_ids = arena_alloc(&plan->arena, plan->n_rows * sizeof *row_ids);
    fill_parties(books, settings, &parties);
    for (size_t t = 0; t < plan->n_targets; t++) {
        const struct provider_description *provider = &plan->targets[t].description;
        books->environment = provenance_add_versions(books->environment, provider->name, provider->versions);
        if (!books->environment)
            return error_no_memory(err);
    }
    fill_rows(books, &parties, planned);
    store_now(books->started_at);
    struct store_run run = {
        .run = books->run,
        .started_at = books->started_at,
        .label = settings->label,
        .suite = plan->suite ? plan->suite->id : NULL,
        .host = books->host,
        .argv = books->argv,
        .harness_version = TOPKCTS_VERSION,
        .registry_hash = books->registry.hash,
        .source_commit = text_or_null(books->source.commit),
        .source_tree = text_or_null(books->source.tree),
        .dirty = books->source.dirty,
        .patch_id = text_or_null(books->source.patch_id),
        .environment = books->environment,
        .meta = plan->suite && plan->suite->meta,
    };
    if (store_begin_run(books->store, &run, parties.devices, parties.n_devices, parties.providers, parties.n_providers,
                        planned, plan->n_rows, row_ids, err))
        return err->status;
    for (size_t i = 0; i < plan->n_rows; i++)
        plan->rows[i].row_id = row_ids[i];
    return STATUS_OK;
}

static void print_heading(const struct books *books, FILE *file)
{
    const struct plan *plan = &books->plan;
    for (size_t t = 0; t < plan->n_targets && t < 4; t++) {
        const struct target *target = &plan->targets[t];
        char                 claims[256];
        claims_format(&target->description.claims, claims, sizeof claims);
        fprintf(file, "%s %s on %s (%s, %s): %s; %zu cases\n", target->description.name, target->description.version,
                target->device, target->record.name, target->record.arch, target->load_failure ? "not loaded" : claims,
                target->n_planned);
    }
    if (books->settings.resume) {
        size_t n = 0;
        for (size_t row = 0; row < plan->n_rows; row++)
            n += plan->rows[row].is_done;
        fprintf(file, "resuming run %s: %zu of %zu results are there\n", books->run, n, plan->n_rows);
    }
    if (plan->n_targets > 4)
        fprintf(file, "... and %zu more providers\n", plan->n_targets - 4);
    fflush(file);
}

/* An expectation that cannot apply is as good as none; the night goes on, and says so. */
static enum status warn_of_expectations(struct books *books, struct error *err)
{
    const struct registry *registry = &books->registry;
    for (size_t i = 0; i < registry->n_expectations && !err->status; i++) {
        const struct expectation *e = &registry->expectations[i];
        const char               *text = NULL;
        size_t                    c = 0;
        while (c < registry->n_cases && !case_name_matches(registry->cases[c].name, e->case_glob))
            c++;
        if (e->expired)
            text = arena_format(&books->arena, "%s:%d: this expectation expired on %s and does not apply", e->file,
                                e->line, e->expires);
        else if (c == registry->n_cases)
            text = arena_format(&books->arena, "%s:%d: this expectation matches no case: '%s'", e->file, e->line,
                                e->case_glob);
        if (!text)
            continue;
        fprintf(stderr, "warning: %s\n", text);
        if (!books->settings.resume) /* which has it already */
            store_add_warning(books->store, books->run, text, err);
    }
    return err->status;
}

static enum status close_books(struct books *books, enum status *exit_code, struct error *err)
{
    struct summary summary;
    summary_make(&summary, &books->runner, books->run, books->database);
    *exit_code = summary.status;
    if (store_end_run(books->store, books->run, (int)summary.status, err) ||
        history_tell(&summary, books->store, err))
        return err->status;
    if (books->settings.json)
        summary_json(&summary, stdout);
    else
        summary_print(&summary, stdout);
    if (books->markdown)
        summary_markdown(&summary, books->markdown);
    return books->settings.junit ? junit_write(&summary, books->store, books->settings.junit, err) : STATUS_OK;
}

/* A file that could not be written whole is an error of the books. */
static void close_output(FILE *file, const char *path, struct error *err)
{
    if (!file)
        return;
    bool failed = ferror(file) != 0;
    failed |= fclose(file) != 0;
    if (failed)
        error_set(err, STATUS_BOOKS, "%s: could not be written whole: %s", path, strerror(errno));
}

/* Settings, registry, plan, outputs and the open store: everything before the first row. */
static enum status open_books(struct books *books, const struct settings *given, struct error *err)
{
    const struct settings *settings = &books->settings;
    books->settings = *given;
    books->database = given->database ? given->database : "topkcts.db";
    if (given->resume && resume_settings(given, &books->arena, &books->settings, err))
        return err->status;
    size_t suite;
    if (project_load_registry_aloud(settings, false, &books->registry, err))
        return err->status;
    if (settings->suite && !registry_suite(&books->registry, settings->suite, &suite, err) && books->registry.suites)
        books->settings.watch |= books->registry.suites[suite].watched;
    if (err->status || plan_make(&books->plan, settings, &books->registry, err) || read_provenance(books, settings, err) ||
        open_output(settings->json_lines, "a", &books->json_lines, err) ||
        open_output(settings->markdown, "a", &books->markdown, err) ||
        (settings->junit && generated_file_try(settings->junit, err)))
        return err->status;
    return store_open(&books->store, books->database, STORE_WRITE, err);
}

/* The plan in the store: written first, or read back. */
static enum status begin_or_resume(struct books *books, struct error *err)
{
    const struct settings *settings = &books->settings;
    struct plan           *plan = &books->plan;
    if (settings->resume)
        snprintf(books->run, sizeof books->run, "%s", settings->resume);
    else
        store_new_run_name(books->run);
    books->runner = (struct runner){.plan = plan,
                                    .settings = settings,
                                    .registry = &books->registry,
                                    .store = books->store,
                                    .run = books->run,
                                    .outcomes = arena_alloc(&plan->arena, plan->n_rows * sizeof(struct outcome)),
                                    .json_lines = books->json_lines};
    for (size_t row = 0; row < plan->n_rows; row++)
        books->runner.outcomes[row].verdict = VERDICT_NOTRUN;
    if (run_lock(books->run, err))
        return err->status;
    if (settings->resume)
        return resume_rows(&books->runner, err);
    if (budget_apply(plan, settings, books->store, err))
        return err->status;
    return store_plan(books, settings, err);
}

enum status command_run(const struct settings *given, struct error *err)
{
    struct books *books = calloc(1, sizeof *books);
    enum status   exit_code = STATUS_BOOKS;
    if (!books)
        return error_no_memory(err);
    signal(SIGPIPE, SIG_IGN); /* a reader that goes away costs the table, not the run's end in the books */
    if (open_books(books, given, err) || begin_or_resume(books, err))
        goto done;
    /* Only now, so that a run that cannot start leaves the lines of the one before. */
    if (books->json_lines && !given->resume && ftruncate(fileno(books->json_lines), 0) != 0 && errno != EINVAL)
        error_set(err, STATUS_BOOKS, "%s: cannot be written anew: %s", books->settings.json_lines, strerror(errno));
    if (err->status)
        goto done;
    print_heading(books, books->settings.json ? stderr : stdout);
    if (!warn_of_expectations(books, err) && !runner_run(&books->runner, err))
        close_books(books, &exit_code, err);
done:
    close_output(books->json_lines, books->settings.json_lines, err);
    close_output(books->markdown, books->settings.markdown, err);
    store_close(books->store);
    plan_clear(&books->plan);
    registry_clear(&books->registry);
    arena_clear(&books->arena);
    free(books->environment);
    free(books->argv);
    free(books);
    return err->status ? err->status : exit_code;
}
