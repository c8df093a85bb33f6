/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a run; see plan.h. Start reading at plan_make(). */
#include "harness/plan.h"

#include "harness/claims.h"
#include "harness/clock.h"
#include "harness/code_object.h"
#include "harness/device.h"
#include "harness/kernel_source.h"
#include "harness/name_list.h"
#include "harness/provider_process.h"
#include "harness/shard.h"
#include "harness/worker_process.h"

#include <fnmatch.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LOAD_MILLISECONDS = 10000, LOAD_PROGRAM_MILLISECONDS = 120000, LOAD_GPU_MILLISECONDS = 60000,
       OPEN_PROGRAM_MILLISECONDS = 600000, TELL_MILLISECONDS = 5000 };

struct planning {
    struct plan           *plan;
    const struct settings *settings;
    const struct registry *registry;
    struct concrete_case **cases;
    size_t                 n_cases;
    struct error          *err;
};

size_t plan_jobs(const struct settings *settings)
{
    cpu_set_t cores;
    if (settings->jobs > 0)
        return (size_t)settings->jobs;
    return sched_getaffinity(0, sizeof cores, &cores) == 0 ? (size_t)CPU_COUNT(&cores) : 1;
}

int64_t plan_worker_memory(const struct settings *settings)
{
#ifdef __SANITIZE_ADDRESS__
    (void)settings;
    return 0; /* its shadow takes terabytes of address space, and none of memory */
#else
    int64_t machine = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    return machine / 10 * 8 / (int64_t)plan_jobs(settings);
#endif
}

int plan_launch_milliseconds(const struct settings *settings, const struct target *target)
{
    if (settings->timeout > 0)
        return (int)(settings->timeout * 1000);
    return device_backend_find(target->record.backend)->timeout_seconds * 1000;
}

int plan_open_milliseconds(const struct settings *settings, const struct target *target)
{
    if (process_is_named(target->provider) && settings->timeout == 0)
        return OPEN_PROGRAM_MILLISECONDS;
    return plan_launch_milliseconds(settings, target);
}

bool plan_is_gpu(const struct target *target)
{
    return device_is_gpu(target->record.backend);
}

void plan_keep(struct plan *plan, const bool *keep)
{
    size_t n = 0;
    for (size_t t = 0; t < plan->n_targets; t++)
        plan->targets[t].n_planned = 0;
    for (size_t row = 0; row < plan->n_rows; row++)
        if (keep[row]) {
            plan->targets[plan->rows[row].target].n_planned++;
            plan->rows[n++] = plan->rows[row];
        }
    plan->n_rows = n;
}

int plan_load_milliseconds(const struct settings *settings, const char *provider, const char *device)
{
    if (settings && settings->inactivity > 0)
        return (int)(settings->inactivity * 1000);
    if (process_is_named(provider))
        return LOAD_PROGRAM_MILLISECONDS;
    return device && device_is_gpu(device) ? LOAD_GPU_MILLISECONDS : LOAD_MILLISECONDS;
}

/* The last line that a worker printed, cut from its log; "" when there is none. */
static const char *last_line(struct worker_process *worker)
{
    while (worker->log_used > 0 && (worker->log[worker->log_used - 1] == '\n' || worker->log_used == WORKER_LOG_BYTES))
        worker->log_used--;
    worker->log[worker->log_used] = '\0';
    char *start = strrchr(worker->log, '\n');
    return start ? start + 1 : worker->log;
}

/* Nobody is to wonder whether a provider that takes its time is waited for at all. */
static void tell_waiting(const char *provider, int64_t started_ms, int load_ms, int64_t *told_ms)
{
    int64_t now = clock_ms();
    if (now - *told_ms < TELL_MILLISECONDS)
        return;
    *told_ms = now;
    fprintf(stderr, "%s: waiting for it to load, %lld of at most %d s (--inactivity)\n", provider,
            (long long)(now - started_ms) / 1000, load_ms / 1000);
}

/* Asks a provider who it is, in a worker. */
static enum status ask(struct planning *planning, struct target *target)
{
    static struct message answer;
    struct worker_process worker;
    enum worker_news      news = WORKER_NOTHING;
    char                  cause[256];
    int                   load_ms = plan_load_milliseconds(planning->settings, target->provider, target->device);
    if (worker_start(&worker, planning->settings, target->provider, target->device,
                     plan_worker_memory(planning->settings), planning->err))
        return planning->err->status;
    int64_t started = clock_ms(), told = started;
    while (news == WORKER_NOTHING && clock_ms() < started + load_ms) {
        struct worker_process *one = &worker;
        news = worker_listen(&worker, &planning->plan->arena, &answer);
        if (news == WORKER_NOTHING)
            worker_wait(&one, 1, 50);
        tell_waiting(target->provider, started, load_ms, &told);
    }
    if (news == WORKER_MESSAGE && answer.kind == MESSAGE_ABSENT) {
        target->load_verdict = VERDICT_SKIP;
        target->load_failure = arena_text(&planning->plan->arena, answer.text);
    } else if (news == WORKER_MESSAGE && answer.kind == MESSAGE_UNUSABLE && target->device &&
               device_is_gpu(target->device) && !process_is_named(target->provider)) {
        /* The machine lacks a compiler or a code object: an error of every row, on the books. */
        target->load_verdict = VERDICT_ERROR;
        target->load_failure = arena_text(&planning->plan->arena, answer.text);
    } else if (news == WORKER_MESSAGE && answer.kind == MESSAGE_UNUSABLE)
        error_set(planning->err, STATUS_USAGE, "%s", answer.text);
    else if (news == WORKER_MESSAGE && answer.kind == MESSAGE_PROVIDER)
        target->description = answer.provider;
    else if (news == WORKER_NOTHING) {
        target->load_verdict = VERDICT_TIMEOUT;
        target->load_failure = arena_format(&planning->plan->arena, "loading the provider took more than %d s",
                                            load_ms / 1000);
    } else {
        worker_await_exit(&worker);
        worker_cause(&worker, cause, sizeof cause);
        target->load_verdict = VERDICT_CRASH;
        target->load_failure = arena_format(&planning->plan->arena, "while the provider was loaded: %s%s%s", cause,
                                            last_line(&worker)[0] ? "; it printed last: " : "", last_line(&worker));
    }
    worker_stop(&worker, news == WORKER_MESSAGE ? 1000 : 0, NULL, 0);
    return planning->err->status;
}

/* A provider that could not be asked keeps its name and digest; a plugin is held to the base contract. */
static enum status describe_unasked(struct planning *planning, const struct provider_name *name,
                                    struct provider_description *description)
{
    const char          *slash = strrchr(name->text, '/');
    struct kernel_source source;
    *description = (struct provider_description){.memory = TOPK_MEMORY_HOST,
                                                 .claims = {.level = TOPK_LEVEL_CANONICAL},
                                                 .origin = "plugin",
                                                 .version = "unknown"};
    snprintf(description->name, sizeof description->name, "%s", slash ? slash + 1 : name->text);
    if (name->kind == PROVIDER_PROCESS) {
        process_stem(name->text, description->name, sizeof description->name);
        snprintf(description->origin, sizeof description->origin, "process");
        process_digest(name->text, description->digest);
        return STATUS_OK;
    }
    if (name->builtin) {
        description->claims = name->builtin->provider->claims;
        snprintf(description->origin, sizeof description->origin, "%s",
                 planning->settings->origin ? planning->settings->origin : "jit");
        code_object_source_digest(description->digest);
        return STATUS_OK;
    }
    if (name->kind == PROVIDER_SOURCE) {
        if (kernel_source_read(name->text, &source, planning->err))
            return planning->err->status;
        description->claims = source.claims;
        snprintf(description->origin, sizeof description->origin, "source");
        snprintf(description->name, sizeof description->name, "%s", source.name);
        memcpy(description->digest, source.digest, sizeof description->digest);
        kernel_source_clear(&source);
        return STATUS_OK;
    }
    return digest_of_file(name->text, description->digest, planning->err);
}

/* Finds out who the provider is, on the target's device where that matters. */
static enum status identify(struct planning *planning, const struct provider_name *name, struct target *target)
{
    struct kernel_source source;
    if (name->kind == PROVIDER_SOURCE) { /* a wrong first line is a mistake of usage, wherever it would run */
        if (kernel_source_read(name->text, &source, planning->err))
            return planning->err->status;
        kernel_source_clear(&source);
    }
    if (ask(planning, target))
        return planning->err->status;
    if (target->load_failure && target->load_verdict != VERDICT_ERROR &&
        (name->kind == PROVIDER_REFERENCE || name->kind == PROVIDER_BUILTIN))
        return error_set(planning->err, STATUS_BOOKS, "'%s' is built in, and yet it broke %s: no worker can run here",
                         target->provider, target->load_failure);
    if (target->load_failure && describe_unasked(planning, name, &target->description))
        return planning->err->status;
    if (planning->settings->origin && strcmp(planning->settings->origin, target->description.origin) != 0)
        return error_set(planning->err, STATUS_USAGE, "--origin %s: the code of provider '%s'%s%s arrives as '%s'",
                         planning->settings->origin, target->provider, target->device ? " on " : "",
                         target->device ? target->device : "", target->description.origin);
    return STATUS_OK;
}

static enum status refuse_twins(struct planning *planning, const struct target *target)
{
    const struct plan *plan = planning->plan;
    for (size_t t = 0; t < plan->n_targets; t++)
        if (strcmp(plan->targets[t].description.name, target->description.name) == 0 &&
            strcmp(plan->targets[t].record.device_id, target->record.device_id) == 0)
            return error_set(planning->err, STATUS_USAGE,
                             "provider '%s' on %s is named twice (%s and %s): their results could not be told apart",
                             target->description.name, target->device, plan->targets[t].provider, target->provider);
    return STATUS_OK;
}

/* Adds a target for each device that fits. */
static enum status add_targets(struct planning *planning, const char *provider, const char *const *devices,
                               size_t n_devices)
{
    struct plan         *plan = planning->plan;
    struct provider_name name;
    struct target        asked = {.provider = provider};
    size_t               added = 0;
    if (provider_find(provider, &name, planning->err))
        return planning->err->status;
    bool each = provider_depends_on_device(&name) || name.kind == PROVIDER_PROCESS;
    if (!each && identify(planning, &name, &asked))
        return planning->err->status;
    asked.fault = name.builtin ? name.builtin->fault : NULL;
    const char *fallback = n_devices && each ? "" : provider_default_device(&name, asked.description.memory);
    for (size_t d = 0; d < (n_devices ? n_devices : 1); d++) {
        struct target               target = asked;
        const struct device_backend *backend;
        int                          ordinal;
        target.device = n_devices ? devices[d] : fallback;
        if (device_parse(target.device, &backend, &ordinal, planning->err))
            return planning->err->status;
        if (!provider_fits(&name, target.description.memory, backend->name))
            continue;
        if (device_describe(target.device, &target.record, planning->err) ||
            (each && identify(planning, &name, &target)) || refuse_twins(planning, &target))
            return planning->err->status;
        plan->targets = arena_grow(&plan->arena, plan->targets, plan->n_targets, sizeof target);
        plan->targets[plan->n_targets++] = target;
        added++;
    }
    if (added == 0)
        return error_set(planning->err, STATUS_USAGE, "provider '%s' runs on none of the given devices; it runs on %s",
                         provider, each ? provider_default_device(&name, TOPK_MEMORY_HOST) : fallback);
    return STATUS_OK;
}

enum status plan_add_provider(struct plan *plan, const struct settings *settings, const char *provider,
                              const char *device, struct error *err)
{
    struct planning planning = {.plan = plan, .settings = settings, .err = err};
    return add_targets(&planning, provider, &device, device ? 1 : 0);
}

/* Providers may be named by the suite; "faulty/ *" then stands for every planted fault. */
static enum status add_all_targets(struct planning *planning)
{
    const struct settings *settings = planning->settings;
    const struct suite    *suite = planning->plan->suite;
    const char *const     *devices = settings->devices.items;
    size_t                 n_devices = settings->devices.n;
    const char            *suite_device[1];
    if (n_devices == 0 && suite && suite->device) {
        suite_device[0] = device_is_gpu(suite->device) ? arena_format(&planning->plan->arena, "%s:0", suite->device) : suite->device;
        devices = suite_device;
        n_devices = 1;
    }
    if (settings->providers.n) {
        for (size_t p = 0; p < settings->providers.n; p++)
            if (add_targets(planning, settings->providers.items[p], devices, n_devices))
                return planning->err->status;
        return STATUS_OK;
    }
    if (!suite || suite->n_providers == 0)
        return add_targets(planning, "v1", devices, n_devices);
    for (size_t p = 0; p < suite->n_providers; p++) {
        if (strcmp(suite->providers[p], "faulty/*") != 0) {
            if (add_targets(planning, suite->providers[p], devices, n_devices))
                return planning->err->status;
            continue;
        }
        for (size_t i = 0; builtin_providers[i]; i++)
            if (builtin_providers[i]->fault &&
                add_targets(planning, builtin_providers[i]->provider->name, devices, n_devices))
                return planning->err->status;
    }
    return STATUS_OK;
}

static bool is_selected(const struct settings *settings, const struct concrete_case *concrete, uint64_t suite_bit)
{
    if (suite_bit && !(concrete->suites & suite_bit))
        return false;
    if (settings->words.n == 0)
        return true;
    for (size_t w = 0; w < settings->words.n; w++)
        if (case_name_matches(concrete->name, settings->words.items[w]))
            return true;
    return false;
}

/* Whether a pattern asks for a family whose cases depend on the provider's limits: they are in no list. */
static bool names_limit_family(const struct registry *registry, const char *word)
{
    for (size_t f = 0; f < registry->n_families; f++) {
        size_t length = strlen(registry->families[f].id);
        if (registry->families[f].limits && strncmp(registry->families[f].id, word, length) == 0 &&
            (word[length] == '\0' || word[length] == '/'))
            return true;
    }
    return false;
}

/* Every pattern must match something, or a misspelt one would silently select less. */
static enum status check_patterns(const struct settings *settings, const struct registry *registry,
                                  struct concrete_case *const *cases, size_t n_cases, struct error *err)
{
    for (size_t w = 0; w < settings->words.n; w++) {
        const char      *word = settings->words.items[w];
        size_t           i = 0, length = strlen(word);
        struct name_list names = {0};
        while (i < n_cases && !case_name_matches(cases[i]->name, word))
            i++;
        if (i < n_cases || names_limit_family(registry, word))
            continue;
        if (length > 3 && strcmp(word + length - 3, ".so") == 0)
            return error_set(err, STATUS_USAGE, "'%s' is no case; a plugin goes behind --provider: topkcts run --provider %s",
                             word, word);
        for (size_t f = 0; f < registry->n_families; f++)
            name_list_add(&names, "%s", registry->families[f].id);
        return error_set(err, STATUS_USAGE, "'%s' matches no case%s%s; families are %s", word,
                         settings->suite ? " of suite " : "", settings->suite ? settings->suite : "", names.text);
    }
    return STATUS_OK;
}

enum status plan_select(const struct settings *settings, const struct registry *registry, const char *default_suite,
                        struct arena *arena, struct concrete_case ***cases, size_t *n_cases, struct error *err)
{
    const char *suite = settings->suite ? settings->suite : settings->words.n ? NULL : default_suite;
    size_t      index = 0;
    uint64_t    bit = 0;
    if (suite && registry_suite(registry, suite, &index, err))
        return err->status;
    if (suite)
        bit = UINT64_C(1) << index;
    *cases = NULL;
    *n_cases = 0;
    for (size_t i = 0; i < registry->n_cases; i++)
        if (is_selected(settings, &registry->cases[i], bit)) {
            *cases = arena_grow(arena, *cases, *n_cases, sizeof **cases);
            (*cases)[(*n_cases)++] = &registry->cases[i];
        }
    /* A name that no list has may still be a legal point of a matrix: rerun lines of older lists keep working. */
    for (size_t w = 0; w < settings->words.n && !settings->suite; w++) {
        struct concrete_case *point = arena_alloc(arena, sizeof *point);
        struct error          none = {0};
        size_t                i = 0;
        while (i < *n_cases && strcmp((*cases)[i]->name, settings->words.items[w]) != 0)
            i++;
        if (i == *n_cases && strchr(settings->words.items[w], '/') && !strpbrk(settings->words.items[w], "*?[") &&
            !registry_case(registry, settings->words.items[w], arena, point, &none)) {
            *cases = arena_grow(arena, *cases, *n_cases, sizeof **cases);
            (*cases)[(*n_cases)++] = point;
        }
    }
    if (check_patterns(settings, registry, *cases, *n_cases, err))
        return err->status;
    if (*n_cases == 0 && settings->words.n == 0)
        return error_set(err, STATUS_USAGE, "suite '%s' has no cases", suite ? suite : "(all)");
    return STATUS_OK;
}

static bool target_takes(const struct target *target, const struct concrete_case *concrete, bool meta)
{
    /* A planted fault is asked for its own kind only: whether it also trips others says nothing. */
    return !meta || !target->fault || strcmp(concrete->family->fault, target->fault) == 0;
}

static bool is_planned(const struct plan *plan, size_t target, const char *name)
{
    for (size_t r = 0; r < plan->n_rows; r++)
        if (plan->rows[r].target == target && strcmp(plan->rows[r].concrete->name, name) == 0)
            return true;
    return false;
}

static void add_row(struct planning *planning, size_t target, struct concrete_case *concrete)
{
    struct plan *plan = planning->plan;
    char         why[256];
    if (!target_takes(&plan->targets[target], concrete, plan->suite && plan->suite->meta))
        return;
    if (!registry_case_is_promised(concrete, &plan->targets[target].description.claims, why, sizeof why)) {
        plan->targets[target].n_not_promised++;
        return;
    }
    plan->rows = arena_grow(&plan->arena, plan->rows, plan->n_rows, sizeof *plan->rows);
    plan->rows[plan->n_rows++] = (struct plan_row){.target = target, .concrete = concrete, .attempt = 1};
    plan->targets[target].n_planned++;
}

static void add_limit_rows(struct planning *planning, size_t target)
{
    const struct registry *registry = planning->registry;
    uint64_t bit = planning->plan->suite ? UINT64_C(1) << planning->plan->suite_index : 0;
    for (size_t f = 0; f < registry->n_families; f++) {
        struct concrete_case *cases = NULL;
        size_t                n = 0;
        if (!registry->families[f].limits)
            continue;
        registry_limit_cases(&registry->families[f], planning->plan->targets[target].description.limits,
                             &planning->plan->arena, &cases, &n);
        for (size_t i = 0; i < n; i++)
            if (is_selected(planning->settings, &cases[i], bit) && !is_planned(planning->plan, target, cases[i].name))
                add_row(planning, target, &cases[i]);
    }
}

static enum status add_all_rows(struct planning *planning)
{
    struct plan *plan = planning->plan;
    for (size_t t = 0; t < plan->n_targets; t++) {
        for (size_t i = 0; i < planning->n_cases; i++)
            add_row(planning, t, planning->cases[i]);
        add_limit_rows(planning, t);
        if (plan->targets[t].n_planned == 0)
            return error_set(planning->err, STATUS_USAGE,
                             "provider '%s' on %s: the selection matches none of its cases (%zu need promises it does not "
                             "make; families with limits need a provider that declares them)",
                             plan->targets[t].provider, plan->targets[t].device, plan->targets[t].n_not_promised);
    }
    return STATUS_OK;
}

enum status plan_make(struct plan *plan, const struct settings *settings, const struct registry *registry,
                      struct error *err)
{
    struct planning planning = {.plan = plan, .settings = settings, .registry = registry, .err = err};
    memset(plan, 0, sizeof *plan);
    const char *suite = settings->suite ? settings->suite : settings->words.n ? NULL : "smoke";
    if (suite) {
        if (registry_suite(registry, suite, &plan->suite_index, err))
            return err->status;
        plan->suite = &registry->suites[plan->suite_index];
    }
    if (plan_select(settings, registry, "smoke", &plan->arena, &planning.cases, &planning.n_cases, err) ||
        add_all_targets(&planning) || add_all_rows(&planning))
        return err->status;
    return shard_cut(plan, settings, err);
}

void plan_clear(struct plan *plan)
{
    arena_clear(&plan->arena);
    memset(plan, 0, sizeof *plan);
}
