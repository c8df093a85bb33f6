/* SPDX-License-Identifier: Apache-2.0 */
/* What a fuzzing run came to; see fuzz_report.h. */
#include "harness/fuzz/fuzz_report.h"

#include "harness/claims.h"
#include "harness/finding.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A word for the shell: in quotes where it needs them. */
static void quote(const char *word, char *text, size_t size)
{
    size_t n = 0;
    if (word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=+-")] == '\0') {
        snprintf(text, size, "%s", word);
        return;
    }
    text[n++] = '\'';
    for (; *word && n + 6 < size; word++)
        n += (size_t)snprintf(text + n, size - n, *word == '\'' ? "'\\''" : "%c", *word);
    snprintf(text + n, size - n, "'");
}

/* The command that has one problem of the run again. */
static void replay_command(const struct fuzz_run *run, const char *device, int64_t number, char *text, size_t size)
{
    char   provider[1024];
    size_t used;
    quote(run->provider, provider, sizeof provider);
    used = (size_t)snprintf(text, size, "topkcts fuzz --provider %s --device %s --seed %" PRIu64 " --problem %" PRId64,
                            provider, device, run->generator.seed, number);
    if (run->settings->longest && used < size)
        used += (size_t)snprintf(text + used, size - used, " --longest %" PRId64, run->settings->longest);
    if (run->settings->beside && used < size)
        used += (size_t)snprintf(text + used, size - used, " --beside %s", run->settings->beside);
    bool at_limit = number % FUZZ_LIMIT_EVERY == FUZZ_LIMIT_EVERY - 1; /* the others do not depend on limits */
    for (size_t l = 0; at_limit && l < run->generator.n_limits && used < size; l++)
        used += (size_t)snprintf(text + used, size - used, " --limit %" PRId32, run->generator.limits[l]);
}

static enum status write_finding(const struct fuzz_run *run, const char *device, const char *folder,
                                 const struct fuzz_kind *kind, struct fuzz_example *example, struct error *err)
{
    struct finding      *finding = calloc(1, sizeof *finding);
    struct fuzz_problem *problem = calloc(1, sizeof *problem);
    char                 shape[FUZZ_SHAPE_BYTES];
    if (!finding || !problem)
        error_no_memory(err);
    else if (!fuzz_example_trial(run, example, problem, err)) {
        fuzz_shape_text(&example->shape, shape);
        snprintf(finding->provider, sizeof finding->provider, "%s", run->provider);
        snprintf(finding->device, sizeof finding->device, "%s", device);
        finding->verdict = kind->verdict;
        finding->level = kind->level;
        finding->promised = example->judgement.promised;
        memcpy(finding->reason, example->judgement.reason, sizeof finding->reason);
        memcpy(finding->kind, kind->kind, sizeof finding->kind);
        snprintf(finding->again, sizeof finding->again, "%s", fuzz_again_text(example->again));
        snprintf(finding->shape, sizeof finding->shape, "%s", shape);
        replay_command(run, device, example->number, finding->replay, sizeof finding->replay);
        finding->seed = run->generator.seed;
        finding->problem = example->number;
        finding->trial = problem->trial;
        snprintf(example->file, sizeof example->file, "%s/%" PRIu64 "-%" PRId64 ".json", folder, run->generator.seed,
                 example->number);
        finding_write(example->file, finding, err);
    }
    if (problem)
        fuzz_problem_clear(problem);
    free(problem);
    free(finding);
    return err->status;
}

enum status fuzz_write_findings(struct fuzz_run *run, const char *device, const char *folder, struct error *err)
{
    if (run->n_kinds && mkdir(folder, 0777) != 0 && errno != EEXIST)
        return error_set(err, STATUS_BOOKS, "--findings %s: the folder cannot be made: %s", folder, strerror(errno));
    for (size_t k = 0; k < run->n_kinds; k++)
        for (size_t e = 0; e < run->kinds[k].n_examples; e++)
            if (write_finding(run, device, folder, &run->kinds[k], &run->kinds[k].examples[e], err))
                return err->status;
    return STATUS_OK;
}

/* ---- for people ----------------------------------------------------------------------------------------------- */

static void print_example(const struct fuzz_run *run, const char *device, const struct fuzz_example *example, bool is_first)
{
    char shape[FUZZ_SHAPE_BYTES], replay[2048];
    fuzz_shape_text(&example->shape, shape);
    printf("     problem %" PRId64 ": %s (%" PRId64 " of this shape); %s", example->number, shape, example->times,
           fuzz_again_text(example->again));
    if (example->again == FUZZ_AGAIN_BEHIND)
        printf(" (%d)", example->n_needed);
    printf("\n");
    if (!is_first)
        return;
    replay_command(run, device, example->number, replay, sizeof replay);
    printf("       %s\n", example->judgement.reason);
    for (size_t d = 0; d < example->judgement.n_differences && d < 1; d++) {
        const struct row_difference *difference = &example->judgement.differences[d];
        printf("       row %d: length %d, topk %d, cut at %s, which %" PRId64 " score%s; %" PRId64 " extra, %" PRId64
               " missing\n",
               difference->row, difference->length, difference->topk, difference->cut_value, difference->cut_equal,
               difference->cut_equal == 1 ? " equals" : "s equal", difference->n_extra, difference->n_missing);
    }
    printf("       again: %s\n", example->again == FUZZ_AGAIN_ALONE || !example->file[0] ? replay : "topkcts fuzz FILE, with the file below");
    if (example->file[0])
        printf("       file:  %s\n", example->file);
}

static void print_kind(const struct fuzz_run *run, const char *device, size_t k)
{
    const struct fuzz_kind *kind = &run->kinds[k];
    printf("%3zu. %s, level %s: %s\n     %" PRId64 " times, first after %.1f s; in %zu shapes%s\n", k + 1,
           verdict_text(kind->verdict), level_text(kind->level), kind->kind, kind->times, kind->seconds,
           kind->n_examples, kind->n_other_shapes ? " and more" : "");
    for (size_t e = 0; e < kind->n_examples; e++)
        print_example(run, device, &kind->examples[e], e == 0);
}

static void print_counts(const struct fuzz_run *run)
{
    double rate = run->elapsed > 0 ? (double)run->problems / run->elapsed : 0;
    printf("problems    %" PRId64 " in %.1f s, %.0f a second (%.0f us of processor time each); %" PRId64 " judged\n",
           run->problems, run->elapsed, rate, run->problems ? run->cpu_seconds * 1e6 / (double)run->problems : 0.0,
           run->judged);
    printf("launches    %" PRId64 "; %" PRId64 " sequences over one workspace, %" PRId64 " whole launch plans\n", run->launches,
           run->sequences, run->full_plans);
    printf("relations  ");
    for (int relation = 0; relation < N_TRIAL_RELATIONS; relation++)
        printf(" %s %" PRId64, trial_relation_text((enum trial_relation)relation), run->relations[relation]);
    printf("\nshapes      %d of %d seen\n", fuzz_shapes_seen(run), N_FUZZ_SHAPES);
    if (run->skipped)
        printf("not judged  %" PRId64 ", the last one: %s\n", run->skipped, run->skip_reason);
    if (run->errors)
        printf("errors      %" PRId64 ", the last one: %s\n", run->errors, run->error_reason);
    if (run->stopped)
        printf("stopped     %s\n", run->stopped);
}

static void print_limits(const struct fuzz_run *run, const struct fuzz_probe *probe)
{
    if (run->generator.n_limits == 0)
        return;
    printf("limits     ");
    for (size_t l = 0; l < run->generator.n_limits; l++)
        printf(" %" PRId32, run->generator.limits[l]);
    printf(" (declared, given, or seen)\n");
    for (size_t i = 0; i < probe->n_found; i++) {
        const struct fuzz_probed *found = &probe->found[i];
        printf("            %s %" PRId32 ": %s from '%s' to '%s'\n", fuzz_axis_text(found->axis), found->value,
               found->by_time ? "the time changes" : "the path changes", found->before, found->after);
    }
}

void fuzz_print(const struct fuzz_run *run, const char *provider_name, const char *device, const struct fuzz_probe *probe)
{
    printf("fuzz: %s on %s, seed %" PRIu64 "\n\n", provider_name, device, run->generator.seed);
    print_counts(run);
    print_limits(run, probe);
    if (run->n_kinds)
        printf("\n");
    for (size_t k = 0; k < run->n_kinds; k++)
        print_kind(run, device, k);
    if (run->n_other_kinds)
        printf("     %" PRId64 " more failures of other kinds\n", run->n_other_kinds);
    if (run->n_kinds)
        printf("\nnot ok: %zu kinds of failures\n", run->n_kinds);
    else if (run->close_cause[0])
        printf("\nnot ok: the provider did not close: %s\n", run->close_cause);
    else if (run->is_interrupted)
        printf("\nnot ok: interrupted; none of %" PRId64 " problems failed\n", run->judged);
    else if (run->judged)
        printf("\nok: %" PRId64 " problems, none failed\n", run->judged);
    else
        printf("\nnot ok: nothing was judged\n");
}

/* ---- as JSON -------------------------------------------------------------------------------------------------- */

static json_t *example_json(const struct fuzz_run *run, const char *device, const struct fuzz_example *example)
{
    char shape[FUZZ_SHAPE_BYTES], replay[2048];
    fuzz_shape_text(&example->shape, shape);
    replay_command(run, device, example->number, replay, sizeof replay);
    json_t *reason = json_string(example->judgement.reason);
    return json_pack("{s:I, s:I, s:s, s:s, s:i, s:s, s:s, s:o}", "problem", (json_int_t)example->number, "times",
                     (json_int_t)example->times, "shape", shape, "again", fuzz_again_text(example->again), "needed",
                     example->n_needed, "replay", replay, "file", example->file, "reason",
                     reason ? reason : json_string("(not text)"));
}

static json_t *kinds_json(const struct fuzz_run *run, const char *device)
{
    json_t *kinds = json_array();
    for (size_t k = 0; k < run->n_kinds; k++) {
        const struct fuzz_kind *kind = &run->kinds[k];
        json_t                 *examples = json_array(), *text = json_string(kind->kind);
        for (size_t e = 0; e < kind->n_examples; e++)
            json_array_append_new(examples, example_json(run, device, &kind->examples[e]));
        json_array_append_new(kinds, json_pack("{s:s, s:s, s:o, s:I, s:f, s:o}", "verdict", verdict_text(kind->verdict),
                                               "level", level_text(kind->level), "kind",
                                               text ? text : json_string("(not text)"), "times", (json_int_t)kind->times,
                                               "seconds", kind->seconds, "examples", examples));
    }
    return kinds;
}

static json_t *limits_json(const struct fuzz_run *run, const struct fuzz_probe *probe)
{
    json_t *limits = json_array(), *seen = json_array();
    for (size_t l = 0; l < run->generator.n_limits; l++)
        json_array_append_new(limits, json_integer(run->generator.limits[l]));
    for (size_t i = 0; i < probe->n_found; i++)
        json_array_append_new(seen, json_pack("{s:s, s:i, s:s, s:s, s:s}", "axis", fuzz_axis_text(probe->found[i].axis),
                                              "value", probe->found[i].value, "by",
                                              probe->found[i].by_time ? "time" : "path", "before",
                                              probe->found[i].before, "after", probe->found[i].after));
    return json_pack("{s:o, s:o}", "all", limits, "seen", seen);
}

enum status fuzz_print_json(const struct fuzz_run *run, const char *provider_name, const char *device,
                            const struct fuzz_probe *probe, struct error *err)
{
    json_t *relations = json_object();
    for (int relation = 0; relation < N_TRIAL_RELATIONS; relation++)
        json_object_set_new(relations, trial_relation_text((enum trial_relation)relation),
                            json_integer(run->relations[relation]));
    json_t *json = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:i, s:i, s:o, s:s, s:s, s:o, s:o}", "provider", provider_name,
        "device", device, "seed", (json_int_t)run->generator.seed, "problems", (json_int_t)run->problems, "judged",
        (json_int_t)run->judged, "skipped", (json_int_t)run->skipped, "errors", (json_int_t)run->errors, "launches",
        (json_int_t)run->launches, "seconds", run->elapsed, "cpu_seconds", run->cpu_seconds, "shapes_seen",
        fuzz_shapes_seen(run), "shapes", (int)N_FUZZ_SHAPES, "relations", relations, "stopped",
        run->stopped ? run->stopped : "", "close", run->close_cause, "limits", limits_json(run, probe), "kinds", kinds_json(run, device));
    if (!json)
        return error_no_memory(err);
    json_dumpf(json, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(json);
    return STATUS_OK;
}
