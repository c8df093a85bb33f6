/* SPDX-License-Identifier: Apache-2.0 */
/* `topkcts shrink`: a failure becomes a minimal one, as a case with literal inputs and as a C program. */
#include "harness/claims.h"
#include "harness/clock.h"
#include "harness/command.h"
#include "harness/shrink/shrink_result.h"
#include "harness/shrink/shrink_setup.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { DEFAULT_SECONDS = 50, HOST_TIMEOUT = 1, OTHER_TIMEOUT = 20 };

/* The digest of what is to be made small: the same failure has the same name, wherever it was read from. */
static enum status identify(const struct shrink_source *source, const char *device, char hex[DIGEST_HEX], struct error *err)
{
    struct digest      digest;
    struct case_inputs inputs;
    digest_begin(&digest);
    for (int32_t p = 0; p < source->trial.n_problems; p++) {
        if (small_problem_inputs(&source->trial.problems[p], "shrunk", &inputs, err))
            return err->status;
        digest_of_inputs(&inputs, hex);
        digest_add(&digest, hex, DIGEST_HEX);
        case_inputs_clear(&inputs);
    }
    digest_add(&digest, device, strlen(device));
    digest_end(&digest, hex);
    return STATUS_OK;
}

/* "shrunk-faulty-tie-highest-1f00a2b3": the provider, and what was made small. */
static enum status make_id(const struct settings *settings, const struct shrink_source *source,
                           const struct trial_session *session, struct arena *arena, const char **id, struct error *err)
{
    char   slug[40], hex[DIGEST_HEX];
    size_t n = 0;
    *id = settings->id;
    if (*id)
        return STATUS_OK;
    for (const char *c = trial_session_provider(session)->name; *c && n + 1 < sizeof slug; c++)
        if (isalnum((unsigned char)*c) || (n && slug[n - 1] != '-'))
            slug[n++] = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '-';
    while (n && slug[n - 1] == '-')
        n--;
    slug[n] = '\0';
    if (!identify(source, trial_session_device(session), hex, err))
        *id = arena_format(arena, "shrunk-%s-%.8s", slug, hex);
    return err->status;
}

/* Whether the judge's whole plan shows the failure in a fresh worker, as `run` will. */
static bool run_will_show_it(struct shrinking *shrinking, int32_t repeats)
{
    struct shrinking whole = *shrinking;
    whole.plan = TRIAL_FULL;
    whole.relations = 0;
    whole.repeats = repeats;
    struct judgement judgement;
    bool fails = !trial_session_restart(whole.session, whole.err) && shrink_fails(&whole, &whole.now, &judgement);
    shrinking->tried = whole.tried;
    if (fails) /* in the words of the small one from here on */
        snprintf(shrinking->failure.reason, sizeof shrinking->failure.reason, "%s", judgement.reason);
    return fails;
}

/* The search: with single launches where these show the failure and the result does under the whole plan; else with the
 * whole plan. */
static enum status search(struct shrinking *shrinking, const struct shrink_source *source, struct small_trial *before,
                          bool *shown)
{
    if (shrink_setup(shrinking, source, shrinking->err) || small_trial_copy(before, &shrinking->now, shrinking->err))
        return shrinking->err->status;
    enum trial_plan plan = shrinking->plan;
    int32_t         repeats = shrinking->repeats;
    uint32_t        relations = shrinking->relations;
    bool            simpler = shrink_setup_simpler(shrinking);
    if (shrinking->err->status || shrink_run(shrinking))
        return shrinking->err->status;
    *shown = run_will_show_it(shrinking, repeats);
    if (!*shown && simpler && !shrinking->err->status) {
        shrinking->plan = plan;
        shrinking->relations = relations;
        small_trial_clear(&shrinking->now);
        shrinking->repeats = repeats;
        if (small_trial_copy(&shrinking->now, before, shrinking->err) || shrink_run(shrinking))
            return shrinking->err->status;
        *shown = run_will_show_it(shrinking, repeats);
    }
    shrinking->repeats = repeats;
    return shrinking->err->status;
}

static void shape_text(const struct small_trial *trial, char *text, size_t size)
{
    if (trial->n_problems < 1)
        return;
    const struct small_problem *problem = &trial->problems[trial->n_problems - 1];
    int                         used = snprintf(text, size, "%d row%s, longest %lld, topk %d, page size %d", problem->n_rows,
                                                problem->n_rows == 1 ? "" : "s", (long long)small_problem_longest(problem), problem->topk,
                                                problem->page_size);
    if (trial->n_problems > 1 && used > 0 && (size_t)used < size)
        snprintf(text + used, size - (size_t)used, ", after %d other launch%s", trial->n_problems - 1,
                 trial->n_problems == 2 ? "" : "es");
}

static void print_for_people(const struct shrinking *shrinking, const struct shrink_story *story,
                             const struct small_trial *before, const struct shrink_result *result, bool shown,
                             double seconds)
{
    const struct small_problem *problem = &shrinking->now.problems[shrinking->now.n_problems - 1];
    struct arena                arena = {0};
    struct case_param           params[SMALL_MAX_PARAMS];
    char                        was[128] = "", is[128] = "";
    shape_text(before, was, sizeof was);
    shape_text(&shrinking->now, is, sizeof is);
    printf("%s\n  failure    %s of %s on %s%s%s: %s\n  before     %s\n  now        %s\n", result->case_name,
           verdict_text(shrinking->failure.verdict), story->provider_name, story->device,
           shrinking->failure.verdict == VERDICT_FAIL ? ", reaches " : "",
           shrinking->failure.verdict == VERDICT_FAIL ? level_text(shrinking->failure.level) : "",
           shrinking->failure.reason, was, is);
    size_t n = small_problem_params(problem, &arena, params);
    for (size_t i = 0; i < n; i++) {
        char line[200];
        snprintf(line, sizeof line, "%s", params[i].text);
        for (char *end = line; (end = strchr(end, '\n')) != NULL;) /* a row of the problem each */
            *end = ';';
        printf("  %-10s %s%s\n", params[i].name, line, strlen(params[i].text) >= sizeof line ? " ..." : "");
    }
    arena_clear(&arena);
    printf("  inputs     %s\n  attempts   %lld in %.1f s%s%s%s\n", result->hash, (long long)shrinking->tried, seconds,
           shrinking->out_of_time ? "; the time was up, it may get smaller with --seconds" : "",
           shrinking->fresh ? "; a new worker for each, since what ran before decides" : "",
           shrinking->votes > 1 ? "; flaky: several runs each" : "");
    printf("  entry      %s%s\n  program    %s\n", result->yaml_path, result->was_there ? " (was there already)" : "",
           result->program_path);
    if (!shown)
        printf("  note       'run' does not show this failure every time: it takes relations or attempts that a case has not\n");
    printf("\nnext:  topkcts run '%s' --provider '%s' --device %s --registry %s\n", story->id, story->provider, story->device,
           result->registry);
}

static void print_json(const struct shrinking *shrinking, const struct shrink_story *story,
                       const struct shrink_result *result, bool shown, double seconds)
{
    const struct small_problem *problem = &shrinking->now.problems[shrinking->now.n_problems - 1];
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:I, s:i, s:i, s:I, s:f, s:b, s:b, s:b, s:b}", "case",
                             result->case_name, "input_hash", result->hash, "family_file", result->yaml_path, "program",
                             result->program_path, "provider", story->provider_name, "device", story->device, "verdict",
                             verdict_text(shrinking->failure.verdict), "level", level_text(shrinking->failure.level), "rows",
                             (int)problem->n_rows, "longest", (json_int_t)small_problem_longest(problem), "topk",
                             (int)problem->topk, "launches_before", (int)shrinking->now.n_problems - 1, "attempts",
                             (json_int_t)shrinking->tried, "seconds", seconds, "flaky", shrinking->votes > 1, "fresh_workers",
                             (int)shrinking->fresh, "out_of_time", (int)shrinking->out_of_time, "shown_by_run", (int)shown);
    json_object_set_new(json, "reason", json_string(shrinking->failure.reason));
    json_dumpf(json, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(json);
}

static bool is_on_host(const struct trial_session *session)
{
    return strcmp(trial_session_device(session), "host") == 0;
}

enum status command_shrink(const struct settings *given, struct error *err)
{
    struct settings       settings = *given;
    struct arena          arena = {0};
    struct shrink_source  source = {0};
    struct small_trial    before = {0};
    struct shrinking      shrinking = {.err = err};
    struct shrink_result  result;
    bool                  shown = false;
    int64_t               started = clock_ms();
    settings.into = settings.into ? settings.into : "shrunk";
    if (shrink_source_read(&settings, &arena, &source, err))
        goto done;
    if (!settings.timeout)
        settings.timeout = !source.device || strcmp(source.device, "host") == 0 ? HOST_TIMEOUT : OTHER_TIMEOUT;
    if (trial_session_open(&shrinking.session, &settings, source.provider, source.device, err))
        goto done;
    if (!given->timeout && !is_on_host(shrinking.session)) { /* known only now */
        settings.timeout = OTHER_TIMEOUT;
        trial_session_close(shrinking.session, NULL, 0);
        if (trial_session_open(&shrinking.session, &settings, source.provider, source.device, err))
            goto done;
    }
    if (make_id(&settings, &source, shrinking.session, &arena, &shrinking.id, err))
        goto done;
    shrinking.deadline = started + 1000 * (settings.seconds ? settings.seconds : DEFAULT_SECONDS);
    struct shrink_story story = {.id = shrinking.id,
                                 .fault = settings.fault ? settings.fault : source.fault ? source.fault : "unclassified",
                                 .from = source.from,
                                 .provider = source.provider,
                                 .provider_name = trial_session_provider(shrinking.session)->name,
                                 .device = trial_session_device(shrinking.session)};
    if (search(&shrinking, &source, &before, &shown) ||
        shrink_store(&settings, &shrinking, &story, &arena, &result, err))
        goto done;
    double seconds = (double)(clock_ms() - started) / 1000;
    if (settings.json)
        print_json(&shrinking, &story, &result, shown, seconds);
    else
        print_for_people(&shrinking, &story, &before, &result, shown, seconds);
done:
    if (shrinking.session)
        trial_session_close(shrinking.session, NULL, 0);
    small_trial_clear(&shrinking.now);
    small_trial_clear(&before);
    shrink_source_clear(&source);
    arena_clear(&arena);
    return err->status;
}
