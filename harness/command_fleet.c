/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `topkcts fleet`: one run on many machines through Slurm. It writes a folder with the plan and two scripts and submits
 * them; the job behind the shards calls it again with --collect, which submits lost shards once more or brings
 * everything together. See fleet/fleet.h for the files.
 */
#include "harness/command.h"
#include "harness/fleet/fleet.h"
#include "harness/project.h"
#include "harness/store_merge.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How often --wait looks. */
enum { WAIT_SECONDS = 2 };

static void add_argument(struct fleet_plan *plan, struct arena *arena, const char *text)
{
    plan->arguments = arena_grow(arena, plan->arguments, plan->n_arguments, sizeof *plan->arguments);
    plan->arguments[plan->n_arguments++] = text;
}

static void add_text(struct fleet_plan *plan, struct arena *arena, const char *option, const char *text)
{
    if (text) {
        add_argument(plan, arena, option);
        add_argument(plan, arena, text);
    }
}

static void add_number(struct fleet_plan *plan, struct arena *arena, const char *option, int64_t number)
{
    if (number)
        add_text(plan, arena, option, arena_format(arena, "%lld", (long long)number));
}

static void add_list(struct fleet_plan *plan, struct arena *arena, const char *option, const struct option_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        add_text(plan, arena, option, list->items[i]);
}

/* What every shard runs: the options that `run` knows too. A run without a label gets the fleet's name for one. */
static void add_run_arguments(struct fleet_plan *plan, struct arena *arena, const struct settings *settings)
{
    for (size_t i = 0; i < settings->words.n; i++)
        add_argument(plan, arena, settings->words.items[i]);
    add_text(plan, arena, "--suite", settings->suite);
    add_list(plan, arena, "--device", &settings->devices);
    add_list(plan, arena, "--provider", &settings->providers);
    add_list(plan, arena, "--registry", &settings->registries);
    add_text(plan, arena, "--origin", settings->origin);
    add_text(plan, arena, "--source", settings->source);
    add_number(plan, arena, "--repeat", settings->repeat);
    add_number(plan, arena, "--retry", settings->retry);
    add_number(plan, arena, "--timeout", settings->timeout);
    add_number(plan, arena, "--jobs", settings->jobs);
    add_number(plan, arena, "--case-timeout", settings->case_timeout);
    add_number(plan, arena, "--inactivity", settings->inactivity);
    add_number(plan, arena, "--time-limit", settings->time_limit);
    add_number(plan, arena, "--budget", settings->budget);
    add_text(plan, arena, "--label", settings->label ? settings->label : plan->name);
    if (settings->require_clean_env)
        add_argument(plan, arena, "--require-clean-env");
}

/* A mistyped name is told here and not by a thousand tasks in the night. */
static enum status check_selection(const struct settings *settings, struct error *err)
{
    struct registry registry = {0};
    size_t          suite = 0, n = 0;
    const char     *suite_name = settings->suite ? settings->suite : settings->words.n ? NULL : "smoke";
    if (project_load_registry(settings, false, &registry, err) ||
        (suite_name && registry_suite(&registry, suite_name, &suite, err)))
        goto done;
    for (size_t c = 0; c < registry.n_cases; c++) {
        bool matches = settings->words.n == 0;
        for (size_t w = 0; w < settings->words.n && !matches; w++)
            matches = case_name_matches(registry.cases[c].name, settings->words.items[w]);
        n += matches && (!suite_name || (registry.cases[c].suites >> suite & 1));
    }
    if (n == 0)
        error_set(err, STATUS_USAGE, "fleet: nothing is selected; `topkcts list` says what there is");
    else if ((int64_t)n < settings->shards)
        error_set(err, STATUS_USAGE, "--shards %lld: only %zu cases are selected, and no shard may be empty",
                  (long long)settings->shards, n);
done:
    registry_clear(&registry);
    return err->status;
}

static enum status absolute(struct arena *arena, const char *path, const char **out, struct error *err)
{
    char here[PATH_MAX];
    if (path[0] == '/') {
        *out = path;
        return STATUS_OK;
    }
    if (!getcwd(here, sizeof here))
        return error_set(err, STATUS_BOOKS, "the working directory is gone: %s", strerror(errno));
    *out = arena_format(arena, "%s/%s", here, path);
    return STATUS_OK;
}

static enum status make_plan(struct fleet_plan *plan, struct arena *arena, const struct settings *settings,
                             struct error *err)
{
    static char program[PATH_MAX];
    char        run_name[32];
    const char *shared;
    struct stat attributes;
    ssize_t     length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (!settings->shared || !settings->shards)
        return error_set(err, STATUS_USAGE, "fleet needs --shared DIR, a folder that every node sees, and --shards N");
    if (stat(settings->shared, &attributes) != 0 || !S_ISDIR(attributes.st_mode))
        return error_set(err, STATUS_USAGE, "--shared %s: there is no such folder", settings->shared);
    if (check_selection(settings, err) || absolute(arena, settings->shared, &shared, err) ||
        absolute(arena, settings->database ? settings->database : "topkcts.db", &plan->database, err))
        return err->status;
    program[length < 0 ? 0 : length] = '\0';
    store_new_run_name(run_name);
    plan->program = program;
    plan->name = arena_format(arena, "fleet-%s", run_name);
    plan->folder = arena_format(arena, "%s/%s", shared, plan->name);
    plan->constraint = settings->constraint;
    plan->partition = settings->partition;
    plan->shards = settings->shards;
    plan->minutes = settings->minutes ? settings->minutes : 120;
    plan->resubmits = settings->no_resubmit ? 0 : settings->resubmits ? settings->resubmits : 2;
    add_run_arguments(plan, arena, settings);
    if (mkdir(plan->folder, 0755) != 0)
        return error_set(err, STATUS_BOOKS, "%s: cannot be made: %s", plan->folder, strerror(errno));
    return STATUS_OK;
}

/* Prints summary.json as it is, or in words, and returns the exit code it holds. */
static enum status print_summary(const char *path, bool as_json, struct error *err)
{
    json_error_t cause;
    json_int_t   exit_code = STATUS_BOOKS;
    const char  *text = NULL;
    json_t      *summary = json_load_file(path, 0, &cause);
    if (!summary || json_unpack(summary, "{s:I, s:s}", "exit_code", &exit_code, "text", &text) != 0)
        error_set(err, STATUS_BOOKS, "%s: cannot be read: %s", path, cause.text);
    else if (as_json)
        json_dumpf(summary, stdout, JSON_INDENT(1)), putchar('\n');
    else
        fputs(text, stdout);
    json_decref(summary);
    return err->status ? err->status : (enum status)exit_code;
}

static enum status wait_for_summary(const struct fleet_plan *plan, struct arena *arena, bool as_json,
                                    struct error *err)
{
    const char *path = arena_format(arena, "%s/summary.json", plan->folder);
    while (access(path, R_OK) != 0)
        sleep(WAIT_SECONDS);
    return print_summary(path, as_json, err);
}

static enum status submit(const struct settings *settings, struct error *err)
{
    struct arena      arena = {0};
    struct fleet_plan plan = {0};
    char              array_job[32] = "", collect_job[32] = "";
    enum status       exit_code = STATUS_OK;
    if (make_plan(&plan, &arena, settings, err) || fleet_plan_write(&plan, err) || fleet_scripts_write(&plan, err))
        goto done;
    const char *shards = arena_format(&arena, "1-%lld", (long long)plan.shards);
    if (settings->dry_run) {
        printf("%s/shard.sh and collect.sh are written; nothing was submitted\n", plan.folder);
        goto done;
    }
    if (fleet_submit(&plan, shards, array_job, collect_job, err))
        goto done;
    FILE *file = settings->wait ? stderr : stdout;
    if (settings->json && !settings->wait)
        printf("{\"folder\": \"%s\", \"array_job\": %s, \"collect_job\": %s}\n", plan.folder, array_job, collect_job);
    else
        fprintf(file, "%lld shards are job %s, job %s collects them into %s\nprogress and, at last, summary.json: %s\n",
                (long long)plan.shards, array_job, collect_job, plan.database, plan.folder);
    if (settings->wait)
        exit_code = wait_for_summary(&plan, &arena, settings->json, err);
done:
    arena_clear(&arena);
    return err->status ? err->status : exit_code;
}

/* The shards without an end, as Slurm's --array takes them; NULL when there are none. */
static const char *lost_shards(const struct fleet_plan *plan, const struct fleet_shard *shards, struct arena *arena)
{
    const char *list = NULL;
    for (int64_t i = 0; i < plan->shards; i++)
        if (!shards[i].done)
            list = list ? arena_format(arena, "%s,%lld", list, (long long)i + 1)
                        : arena_format(arena, "%lld", (long long)i + 1);
    return list;
}

/* What the shards together come to, in the order of DESIGN: usage, failures and lost shards, books. */
static enum status exit_code_of(const struct fleet_plan *plan, const struct fleet_shard *shards,
                                const struct store_merge_counts *counts)
{
    bool usage = false, failed = counts->conflicts > 0, books = false;
    for (int64_t i = 0; i < plan->shards; i++) {
        usage |= shards[i].done && shards[i].exit_code == STATUS_USAGE;
        failed |= !shards[i].done || shards[i].exit_code == STATUS_FAIL || shards[i].exit_code > STATUS_BOOKS;
        books |= shards[i].done && shards[i].exit_code == STATUS_BOOKS;
    }
    return usage ? STATUS_USAGE : failed ? STATUS_FAIL : books ? STATUS_BOOKS : STATUS_OK;
}

static enum status write_summary(const struct fleet_plan *plan, const struct fleet_shard *shards, struct arena *arena,
                                 const struct store_merge_counts *counts, size_t n_merged, struct error *err)
{
    const char *text = "", *path = arena_format(arena, "%s/summary.json", plan->folder);
    const char *temporary = arena_format(arena, "%s.writing", path);
    json_t     *list = json_array();
    int64_t     n_lost = 0;
    for (int64_t i = 0; i < plan->shards; i++) {
        const struct fleet_shard *shard = &shards[i];
        n_lost += !shard->done;
        text = shard->done ? arena_format(arena, "%sshard %lld: exit %d on %s, job %lld\n", text, (long long)i + 1,
                                          shard->exit_code, shard->node, (long long)shard->job)
                           : arena_format(arena, "%sshard %lld: LOST\n", text, (long long)i + 1);
        json_array_append_new(list, shard->done ? json_pack("{s:I, s:i, s:s, s:I}", "shard", (json_int_t)i + 1,
                                                            "exit_code", shard->exit_code, "node", shard->node, "job",
                                                            (json_int_t)shard->job)
                                                : json_pack("{s:I, s:n}", "shard", (json_int_t)i + 1, "exit_code"));
    }
    enum status exit_code = exit_code_of(plan, shards, counts);
    text = arena_format(arena,
                        "%s%s: %lld shards, %lld lost, %lld times submitted again; %zu databases merged into %s: %lld "
                        "new results, %lld conflicts\n",
                        text, exit_code ? "NOT OK" : "ok", (long long)plan->shards, (long long)n_lost,
                        (long long)plan->round, n_merged, plan->database, (long long)counts->added,
                        (long long)counts->conflicts);
    json_t *summary = json_pack("{s:s, s:s, s:o, s:I, s:I, s:I, s:I, s:i, s:s}", "fleet", plan->name, "database",
                                plan->database, "shards", list, "lost", (json_int_t)n_lost, "resubmitted",
                                (json_int_t)plan->round, "results", (json_int_t)counts->added, "conflicts",
                                (json_int_t)counts->conflicts, "exit_code", (int)exit_code, "text", text);
    if (json_dump_file(summary, temporary, JSON_INDENT(1)) != 0 || rename(temporary, path) != 0)
        error_set(err, STATUS_BOOKS, "%s: cannot be written: %s", path, strerror(errno));
    json_decref(summary);
    fputs(text, stdout);
    return err->status ? err->status : exit_code;
}

/* False when Slurm does not take them: what there is must then be brought together, or nobody ever does. */
static bool submit_again(struct fleet_plan *plan, const char *lost)
{
    struct error why = {0};
    char         array_job[32] = "", collect_job[32] = "";
    plan->round++;
    if (fleet_plan_write(plan, &why) || fleet_submit(plan, lost, array_job, collect_job, &why)) {
        fprintf(stderr, "topkcts: shards %s are lost and cannot be submitted again: %s\n", lost, why.text);
        return false;
    }
    printf("shards %s were lost and are submitted again as job %s; job %s collects\n", lost, array_job, collect_job);
    return true;
}

static enum status collect(const struct settings *settings, struct error *err)
{
    struct arena              arena = {0};
    struct fleet_plan         plan = {0};
    struct store_merge_counts counts = {0};
    size_t                    n_merged = 0;
    enum status               exit_code = STATUS_OK;
    if (fleet_plan_read(settings->collect, &arena, &plan, err))
        goto done;
    struct fleet_shard *shards = arena_alloc(&arena, (size_t)plan.shards * sizeof *shards);
    if (fleet_shards_read(&plan, shards, err))
        goto done;
    const char *lost = lost_shards(&plan, shards, &arena);
    if (lost && plan.round < plan.resubmits && submit_again(&plan, lost))
        goto done;
    if (!fleet_merge(&plan, &counts, &n_merged, err))
        exit_code = write_summary(&plan, shards, &arena, &counts, n_merged, err);
done:
    arena_clear(&arena);
    return err->status ? err->status : exit_code;
}

enum status command_fleet(const struct settings *settings, struct error *err)
{
    return settings->collect ? collect(settings, err) : submit(settings, err);
}
