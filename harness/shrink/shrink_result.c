/* SPDX-License-Identifier: Apache-2.0 */
/* The registry's entry of a failure that was made small; see shrink_result.h. */
#include "harness/shrink/shrink_result.h"

#include "harness/claims.h"
#include "harness/family_store.h"
#include "harness/project.h"
#include "harness/regular_file.h"
#include "harness/whole_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a kernel must promise so that it is given these inputs. */
static size_t find_promises(const struct shrinking *shrinking, struct case_param promises[4])
{
    bool   nan = false, negative = false, overlong = false;
    size_t n = 0;
    for (int32_t p = 0; p < shrinking->now.n_problems; p++)
        for (int32_t r = 0; r < shrinking->now.problems[p].n_rows; r++) {
            const struct small_row *row = &shrinking->now.problems[p].rows[r];
            negative |= row->told < 0;
            overlong |= row->told > row->length;
            for (int64_t i = 0; i < row->length; i++)
                nan |= (row->scores[i] & 0x7fffffff) > 0x7f800000;
        }
    if (nan)
        promises[n++] = (struct case_param){"nan", "bits any largest never"};
    if (negative)
        promises[n++] = (struct case_param){"negative_length", "empty"};
    if (overlong)
        promises[n++] = (struct case_param){"overlong", "clamped"};
    return n;
}

/* The parameters of an earlier launch that are not those of the case: its own, and the defaults of what only the case
 * sets. */
static size_t step_params(const struct small_problem *problem, const struct case_param *own, size_t n_own,
                          struct arena *arena, struct case_param *params)
{
    static const struct case_param defaults[] = {{"base_shift", "auto"}, {"pages", "none"}, {"stride_extra", "auto"},
                                                 {"table", "identity"}, {"table_stride_extra", "auto"}, {"width_slack", "auto"}};
    size_t n = small_problem_params(problem, arena, params);
    for (size_t d = 0; d < sizeof defaults / sizeof defaults[0]; d++) {
        bool of_case = false, of_step = false;
        for (size_t i = 0; i < n_own; i++)
            of_case |= strcmp(own[i].name, defaults[d].name) == 0;
        for (size_t i = 0; i < n; i++)
            of_step |= strcmp(params[i].name, defaults[d].name) == 0;
        if (of_case && !of_step)
            params[n++] = defaults[d];
    }
    size_t kept = 0; /* what is as in the case need not be said */
    for (size_t i = 0; i < n; i++) {
        bool same = false;
        for (size_t o = 0; o < n_own; o++)
            same |= strcmp(own[o].name, params[i].name) == 0 && strcmp(own[o].text, params[i].text) == 0;
        if (!same)
            params[kept++] = params[i];
    }
    return kept;
}

static const char *describe(const struct shrinking *shrinking, const struct shrink_story *story, struct arena *arena)
{
    char kind[TRIAL_KIND_BYTES];
    if (shrinking->failure.verdict == VERDICT_CRASH)
        return arena_format(arena, "crashes %s", story->provider_name);
    if (shrinking->failure.verdict == VERDICT_TIMEOUT)
        return arena_format(arena, "never ends in %s", story->provider_name);
    snprintf(kind, sizeof kind, "%.90s", shrinking->failure.kind);
    return arena_format(arena, "%s reaches level %s here: %s", story->provider_name, level_text(shrinking->failure.level), kind);
}

/* The same text stands in the file already. */
static bool is_there(const char *path, const char *text)
{
    struct error ignored = {0};
    FILE        *file;
    size_t       length = strlen(text), n;
    char        *have = malloc(length + 2);
    bool         same = false;
    if (have && access(path, F_OK) == 0 && !regular_file_open(path, &file, &ignored)) {
        n = fread(have, 1, length + 1, file);
        same = n == length && memcmp(have, text, length) == 0;
        fclose(file);
    }
    free(have);
    return same;
}

static enum status write_program(const struct settings *into, const struct shrinking *shrinking,
                                 const struct shrink_story *story, struct arena *arena, struct shrink_result *result,
                                 struct error *err)
{
    const char *folder = arena_format(arena, "%s/reproducers", into->into);
    char       *program = shrink_reproducer(shrinking, story, result->case_name, result->hash, err);
    result->program_path = arena_format(arena, "%s/%s.c", folder, story->id);
    if (program && !whole_file_folder(folder, err))
        whole_file_write(result->program_path, program, strlen(program), true, err);
    free(program);
    return err->status;
}

static bool is_same_folder(const char *a, const char *b)
{
    struct stat left, right;
    return strcmp(a, b) == 0 ||
           (stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev && left.st_ino == right.st_ino);
}

/* The registries among which the new entry must be unique; where it goes comes last, none for the project's own. */
static void aim(struct settings *settings)
{
    struct option_list others = {.n = 0};
    char               own[PATH_MAX];
    snprintf(own, sizeof own, "%s/registry", project_folder());
    for (size_t i = 0; i < settings->registries.n; i++)
        if (!is_same_folder(settings->registries.items[i], settings->into) && others.n + 1 < OPTION_MAX_LIST)
            others.items[others.n++] = settings->registries.items[i];
    if (is_same_folder(own, settings->into))
        others.n = 0;
    else
        others.items[others.n++] = settings->into;
    settings->registries = others;
}

enum status shrink_store(const struct settings *settings, const struct shrinking *shrinking,
                         const struct shrink_story *story, struct arena *arena, struct shrink_result *result,
                         struct error *err)
{
    const struct small_trial   *trial = &shrinking->now;
    const struct small_problem *problem = &trial->problems[trial->n_problems - 1];
    struct case_param           params[SMALL_MAX_PARAMS], promises[4];
    struct family_entry_step   *steps = arena_alloc(arena, (size_t)trial->n_problems * sizeof *steps);
    struct settings             into = *settings;
    struct case_inputs          inputs = {0};
    struct stored_family        stored = {0};
    char                        hash[DIGEST_HEX], path[PATH_MAX];
    memset(result, 0, sizeof *result);
    if (small_problem_inputs(problem, story->id, &inputs, err))
        return err->status;
    digest_of_inputs(&inputs, hash);
    case_inputs_clear(&inputs);
    struct family_entry entry = {
        .comment = "Written by `topkcts shrink`.",
        .id = story->id,
        .summary = describe(shrinking, story, arena),
        .fault = story->fault,
        .source = arena_format(arena, "%s on %s, shrunk from %s", story->provider_name, story->device, story->from),
        .generator = "literal",
        .params = params,
        .n_params = small_problem_params(problem, arena, params),
        .promises = promises,
        .n_promises = find_promises(shrinking, promises),
        .steps = steps,
        .n_steps = (size_t)trial->n_problems - 1,
        .topk = problem->topk,
        .page_size = problem->page_size,
        .outputs = outputs_text(trial->outputs),
        .launches = shrinking->repeats > 3 ? shrinking->repeats : 0,
    };
    for (size_t s = 0; s < entry.n_steps; s++) {
        struct case_param *own = arena_alloc(arena, (size_t)2 * SMALL_MAX_PARAMS * sizeof *own);
        steps[s].n_params = step_params(&trial->problems[s], params, entry.n_params, arena, own);
        steps[s].params = own;
        steps[s].topk = trial->problems[s].topk == problem->topk ? 0 : trial->problems[s].topk;
        steps[s].page_size = trial->problems[s].page_size == problem->page_size ? 0 : trial->problems[s].page_size;
    }
    aim(&into);
    result->registry = arena_text(arena, settings->into);
    char *text = family_entry_text(&entry, err);
    if (!text || family_entry_path(settings->into, story->id, path, sizeof path, err)) {
        free(text);
        return err->status;
    }
    result->was_there = is_there(path, text);
    free(text);
    if (result->was_there)
        family_read_back(&into, &entry, path, hash, arena, &stored, err);
    else if (!family_store_check(&into, &entry, err))
        family_store(&into, &entry, hash, arena, &stored, err);
    if (err->status)
        return err->status;
    result->case_name = stored.case_name;
    result->yaml_path = stored.path;
    memcpy(result->hash, stored.hash, sizeof result->hash);
    return write_program(&into, shrinking, story, arena, result, err);
}
