/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `topkcts fuzz`: searches for inputs on which a provider fails, or has a finding again (FILE). The parts:
 *
 *     fuzz/fuzz_problem.h   the n-th problem of a seed        fuzz/fuzz_scores.h   what stands in its rows
 *     fuzz/fuzz_probe.h     limits that nobody declared       fuzz/fuzz_run.h      the search
 *     fuzz/fuzz_report.h    what came of it                   trial_session.h      workers that judge
 */
#include "harness/claims.h"
#include "harness/command.h"
#include "harness/device.h"
#include "harness/finding.h"
#include "harness/fuzz/fuzz_report.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_SECONDS = 60, LONGEST = 300000, LONGEST_ON_SIMULATOR = 4608 };

#define PROBE_SECONDS 3.0

/* A seed that nobody gave: short enough to be typed. */
static uint64_t new_seed(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return random_key_word((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, (uint64_t)getpid()) % 999999999 + 1;
}

static enum status read_limits(const struct settings *settings, struct fuzz_generator *generator, struct error *err)
{
    for (size_t l = 0; l < settings->limits.n; l++) {
        char     *end;
        errno = 0;
        long long limit = strtoll(settings->limits.items[l], &end, 10);
        if (errno || *end || end == settings->limits.items[l] || limit < 2 || limit > 1 << 24)
            return error_set(err, STATUS_USAGE, "fuzz: --limit %s: a whole number from 2 to %d is needed",
                             settings->limits.items[l], 1 << 24);
        fuzz_add_limit(generator, limit);
    }
    return STATUS_OK;
}

static bool is_simulator(const char *device)
{
    return strncmp(device, "sim", 3) == 0;
}

/* A second provider must be one of which a process can have two. */
static enum status check_beside(const char *text, struct error *err)
{
    struct provider_name name;
    if (!text)
        return STATUS_OK;
    if (provider_find(text, &name, err))
        return error_prefix(err, "fuzz: --beside %s", text);
    if (name.kind == PROVIDER_SOURCE || name.kind == PROVIDER_PROCESS || name.is_watched ||
        (name.kind == PROVIDER_BUILTIN && name.builtin->place == BUILTIN_SOURCE))
        return error_set(err, STATUS_USAGE, "fuzz: --beside %s: kernel sources and programs are one a process; the reference, "
                                            "a compiled built-in or a plugin can stand beside another", text);
    return STATUS_OK;
}

/* What determines the problems: of the provider, of the command line. */
static enum status set_generator(struct fuzz_run *run, const struct trial_session *session, struct error *err)
{
    const struct provider_description *provider = trial_session_provider(session);
    struct fuzz_generator             *generator = &run->generator;
    generator->seed = run->settings->seed ? (uint64_t)run->settings->seed : new_seed();
    generator->claims = provider->claims;
    generator->has_beside = run->settings->beside != NULL;
    generator->is_slow = is_simulator(trial_session_device(session));
    generator->max_length = run->settings->longest ? (int32_t)run->settings->longest
                            : generator->is_slow   ? LONGEST_ON_SIMULATOR
                                                   : LONGEST;
    for (const struct topk_limit *limit = provider->limits; limit && limit->name; limit++)
        fuzz_add_limit(generator, limit->value);
    return read_limits(run->settings, generator, err);
}

/* Limits by path and time. Not where they were given, so that the same command makes the same problems. */
static enum status probe_limits(struct fuzz_run *run, struct trial_session *session, struct fuzz_probe *probe,
                                struct error *err)
{
    const struct settings *settings = run->settings;
    bool                   on_host = strcmp(trial_session_device(session), "host") == 0;
    double                 seconds = PROBE_SECONDS;
    if (settings->limits.n || settings->problem)
        return STATUS_OK;
    if (run->seconds > 0 && run->seconds / 5 < seconds)
        seconds = run->seconds / 5;
    if (fuzz_probe(&run->generator, session, on_host, seconds, probe, err))
        return err->status;
    for (size_t i = 0; i < probe->n_found; i++)
        fuzz_add_limit(&run->generator, probe->found[i].value);
    return STATUS_OK;
}

static enum status exit_code(const struct fuzz_run *run)
{
    if (run->n_kinds || run->close_cause[0])
        return STATUS_FAIL;
    return run->errors || !run->judged || run->is_interrupted ? STATUS_BOOKS : STATUS_OK;
}

/* Searches, tries again, writes and prints. What was found is printed whatever goes wrong later. Closes the session,
 * since breaking there is a failure, too. */
static enum status search(struct fuzz_run *run, struct trial_session *session, struct error *err)
{
    struct fuzz_probe probe = {0};
    struct error      write_error = {0};
    const char       *folder = run->settings->findings ? run->settings->findings : "findings";
    char              name[128], device[64], cause[256] = "";
    snprintf(name, sizeof name, "%s", trial_session_provider(session)->name);
    snprintf(device, sizeof device, "%s", trial_session_device(session));
    if (!set_generator(run, session, err) && !probe_limits(run, session, &probe, err)) {
        fprintf(stderr, "fuzz: %s on %s, seed %" PRIu64 "\n", name, device, run->generator.seed);
        if (!fuzz_search(run, session, err))
            fuzz_confirm(run, session, err);
    }
    trial_session_close(session, cause, sizeof cause);
    if (cause[0] && !run->close_cause[0])
        snprintf(run->close_cause, sizeof run->close_cause, "%s", cause);
    if (err->status && !run->n_kinds)
        return err->status;
    fuzz_write_findings(run, device, folder, &write_error);
    if (!run->settings->json)
        fuzz_print(run, name, device, &probe);
    else if (fuzz_print_json(run, name, device, &probe, &write_error))
        return error_set(err, write_error.status, "%s", write_error.text);
    if (write_error.status)
        error_set(err, write_error.status, "%s", write_error.text);
    return err->status ? err->status : exit_code(run);
}

/* What came of a finding that was had again: a line, or an object of `answer`. */
static void tell_replay(json_t *answer, const char *path, const char *provider, const char *device,
                        const struct judgement *judgement)
{
    json_t *reason = json_string(judgement->reason);
    if (answer)
        json_array_append_new(answer, json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "file", path, "provider", provider,
                                                "device", device, "verdict", verdict_text(judgement->verdict), "level",
                                                level_text(judgement->level), "reason",
                                                reason ? reason : json_string("(not text)")));
    else {
        json_decref(reason);
        printf("%s: %s on %s: %s%s%s\n", path, provider, device, verdict_text(judgement->verdict),
               judgement->reason[0] ? ": " : "", judgement->reason);
    }
}

/* A finding again: 0 when it is gone. */
static enum status replay(const struct settings *settings, const char *path, json_t *answer, struct error *err)
{
    struct finding       *finding = calloc(1, sizeof *finding);
    struct trial_session *session = NULL;
    struct judgement      judgement;
    enum status           status = STATUS_BOOKS;
    if (!finding)
        return error_no_memory(err);
    if (finding_read(path, finding, err))
        goto done;
    const char *provider = settings->providers.n ? settings->providers.items[0] : finding->provider;
    const char *device = settings->devices.n ? settings->devices.items[0] : finding->device;
    if (trial_session_open(&session, settings, provider, device, err) ||
        trial_session_run(session, &finding->trial, 1, &judgement, err))
        goto done;
    tell_replay(answer, path, provider, device, &judgement);
    status = judgement.verdict == VERDICT_PASS     ? STATUS_OK
             : verdict_is_red(judgement.verdict)   ? STATUS_FAIL
                                                   : STATUS_BOOKS;
done:
    trial_session_close(session, NULL, 0);
    finding_clear(finding);
    free(finding);
    return err->status ? err->status : status;
}

/* Every finding that was named; the worst that came of one. */
static enum status replay_all(const struct settings *settings, struct error *err)
{
    enum status status = STATUS_OK;
    json_t     *answer = settings->json ? json_array() : NULL;
    for (size_t w = 0; w < settings->words.n && !err->status; w++) {
        enum status one = replay(settings, settings->words.items[w], answer, err);
        status = one == STATUS_FAIL || status == STATUS_OK ? one : status;
    }
    if (answer) {
        json_dumpf(answer, stdout, JSON_INDENT(1));
        putchar('\n');
    }
    json_decref(answer);
    return err->status ? err->status : status;
}

enum status command_fuzz(const struct settings *settings, struct error *err)
{
    struct trial_session *session = NULL;
    enum status           status = STATUS_OK;
    if (settings->words.n)
        return replay_all(settings, err);
    if (settings->providers.n > 1 || settings->devices.n > 1)
        return error_set(err, STATUS_USAGE, "fuzz: one --provider and one --device a run");
    if (settings->problem && settings->count)
        return error_set(err, STATUS_USAGE, "fuzz: --problem is a single one; --count does not go with it");
    if (settings->problem && !settings->seed)
        return error_set(err, STATUS_USAGE, "fuzz: --problem %" PRId64 " of which --seed?", settings->problem);
    struct fuzz_run *run = calloc(1, sizeof *run);
    if (!run)
        return error_no_memory(err);
    run->settings = settings;
    run->provider = settings->providers.n ? settings->providers.items[0] : "v1";
    run->device = settings->devices.n ? settings->devices.items[0] : NULL;
    run->first = settings->problem ? settings->problem : 1;
    run->count = settings->problem ? 1 : settings->count;
    run->seconds = settings->seconds ? (double)settings->seconds : run->count ? 0 : DEFAULT_SECONDS;
    run->fail_fast = settings->fail_fast;
    if (!check_beside(settings->beside, err) &&
        !trial_session_open(&session, settings, run->provider, run->device, err))
        status = search(run, session, err);
    free(run);
    return err->status ? err->status : status;
}
