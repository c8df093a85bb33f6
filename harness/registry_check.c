/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `check`: what loading a registry does not find. Every case's inputs are made and their digest compared with
 * hashes.txt; suites are held to their bounds; expectations must apply to something; the table of reports must be
 * current. With update, hashes.txt and the table are written anew.
 */
#include "cases/captured.h"
#include "harness/digest.h"
#include "harness/estimate.h"
#include "harness/progress.h"
#include "harness/registry.h"
#include "harness/registry_reports.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Larger inputs are hashed by --update and by the run that uses them. */
static const int64_t CHECKED_INPUT_BYTES = (int64_t)64 << 20;

void check_problem(struct check_result *result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "error: ");
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    result->n_problems++;
}

/* Makes a case's inputs for their digest; false when that failed, with the problem reported. */
static bool hash_case(const struct concrete_case *concrete, char hex[DIGEST_HEX], struct progress *progress,
                      struct check_result *result)
{
    struct case_inputs inputs = {0};
    char               cause[512];
    if (case_generate(&concrete->spec, &inputs, cause, sizeof cause)) {
        progress_end(progress);
        check_problem(result, "%s:%d: case '%s' cannot be made: %s", concrete->family->file, concrete->family->line,
                concrete->name, cause);
        return false;
    }
    digest_of_inputs(&inputs, hex);
    case_inputs_clear(&inputs);
    result->n_hashed++;
    return true;
}

static void check_hashes(struct registry *registry, bool update, struct check_result *result)
{
    struct progress progress;
    progress_begin(&progress, registry->n_cases, "wrong");
    for (size_t i = 0; i < registry->n_cases; i++) {
        struct concrete_case *concrete = &registry->cases[i];
        char                  hex[DIGEST_HEX];
        progress.red = result->n_problems;
        progress_show(&progress, i);
        if (concrete->huge || (!update && case_input_bytes(&concrete->spec) > CHECKED_INPUT_BYTES)) {
            result->n_huge++;
            continue;
        }
        if (!hash_case(concrete, hex, &progress, result))
            continue;
        if (update)
            concrete->input_hash = arena_text(&registry->arena, hex);
        else if (concrete->input_hash && strcmp(concrete->input_hash, hex) != 0) {
            progress_end(&progress);
            check_problem(result, "%s/hashes.txt: case '%s' has inputs %s, the file says %s; if the change is meant, run 'topkcts check --update'",
                    concrete->family->root->folder, concrete->name, hex, concrete->input_hash);
        }
    }
    progress_end(&progress);
}

static void check_suites(const struct registry *registry, struct check_result *result)
{
    for (size_t s = 0; s < registry->n_suites; s++) {
        const struct suite *suite = &registry->suites[s];
        int64_t             n = 0, n_own = 0;
        bool                limit_family = false;
        for (size_t i = 0; i < registry->n_cases; i++)
            if (registry->cases[i].suites >> s & 1) {
                n++;
                n_own += registry->cases[i].family->root == suite->root;
            }
        for (size_t f = 0; f < registry->n_families; f++)
            for (size_t k = 0; registry->families[f].limits && k < registry->families[f].n_selections; k++)
                limit_family |= registry->families[f].selections[k].suite == s;
        if (n == 0 && !limit_family)
            check_problem(result, "suite '%s' has no cases", suite->id);
        if (suite->max_cases && n_own > suite->max_cases)
            check_problem(result, "suite '%s' has %lld cases, its max_cases is %lld", suite->id, (long long)n_own,
                    (long long)suite->max_cases);
    }
}

/* What a suite would take by the plain estimates, on its own device or else on the simulator, where most people run it.
 * Inputs too large to be hashed here are made for GPUs and stay out. */
static void check_budgets(const struct registry *registry, struct check_result *result)
{
    for (size_t s = 0; s < registry->n_suites; s++) {
        const struct suite   *suite = &registry->suites[s];
        const struct settings settings = {0};
        const struct target   target = {.record = {.backend = suite->device ? suite->device : "sim"}};
        double                seconds = 0;
        for (size_t i = 0; i < registry->n_cases; i++)
            if ((registry->cases[i].suites >> s & 1) && case_input_bytes(&registry->cases[i].spec) <= CHECKED_INPUT_BYTES)
                seconds += estimate_plain(&settings, &target, &registry->cases[i]) / 1000;
        if (seconds > (double)suite->budget_seconds)
            check_problem(result, "suite '%s' takes about %.0f s on %s, its budget_seconds is %lld", suite->id, seconds,
                    target.record.backend, (long long)suite->budget_seconds);
    }
}

static void check_expectations(const struct registry *registry, struct check_result *result)
{
    for (size_t e = 0; e < registry->n_expectations; e++) {
        const struct expectation *expectation = &registry->expectations[e];
        bool                      matches = false;
        for (size_t i = 0; i < registry->n_cases && !matches; i++)
            matches = case_name_matches(registry->cases[i].name, expectation->case_glob);
        if (expectation->expired)
            check_problem(result, "%s:%d: this expectation expired on %s; renew it or remove it", expectation->file,
                    expectation->line, expectation->expires);
        if (!matches)
            check_problem(result, "%s:%d: '%s' matches no case", expectation->file, expectation->line,
                    expectation->case_glob);
    }
}

static void check_guards(const struct registry *registry, struct check_result *result)
{
    for (size_t g = 0; g < registry->n_guards; g++) {
        const struct guard *guard = &registry->guards[g];
        if (guard_is_to_come(guard))
            check_problem(result, "%s:%d: guard '%s' is declared on %s, a day to come; a limit is declared today or before, and "
                    "then measured", guard->file, guard->line, guard->id, guard->declared);
        for (size_t c = 0; c < guard->n_cases; c++) {
            size_t i = 0;
            while (i < registry->n_cases && !case_name_matches(registry->cases[i].name, guard->cases[c]))
                i++;
            if (i == registry->n_cases)
                check_problem(result, "%s:%d: guard '%s': '%s' matches no case", guard->file, guard->line, guard->id,
                        guard->cases[c]);
        }
    }
}

/* With one root that has a hashes.txt, families it does not list are an error: a run would go unchecked. */
static void check_notes(const struct registry *registry, struct check_result *result)
{
    for (size_t i = 0; i < registry->n_notes; i++)
        if (strstr(registry->notes[i], "check --update'") && !strstr(registry->notes[i], "is not there"))
            check_problem(result, "%s", registry->notes[i]);
        else
            fprintf(stderr, "note: %s\n", registry->notes[i]);
}

/* A suite or a value that was added to a family after its cases were listed would never run, and nobody would know. */
static void check_list(const struct registry *registry, const struct registry *expanded, struct check_result *result)
{
    for (size_t f = 0; f < registry->n_families; f++) {
        const struct family *family = &registry->families[f];
        size_t               missing = 0;
        const char          *example = NULL;
        for (size_t i = 0; i < expanded->n_cases; i++) {
            const struct concrete_case *wanted = &expanded->cases[i];
            size_t                      have = 0;
            if (strcmp(wanted->family->id, family->id) != 0)
                continue;
            while (have < registry->n_cases && strcmp(registry->cases[have].name, wanted->name) != 0)
                have++;
            if (have < registry->n_cases && (wanted->suites & ~registry->cases[have].suites) == 0)
                continue;
            missing++;
            example = wanted->name;
        }
        if (missing)
            check_problem(result, "%s/hashes.txt lacks %zu case%s of family '%s', or suites of theirs, for example '%s'; run 'topkcts check --update'",
                    family->root->folder, missing, missing == 1 ? "" : "s", family->id, example);
    }
}

/* Captured contents are what their name says: a file that was exchanged would give other inputs under an old name. */
static void check_captured(const struct registry *registry, struct check_result *result)
{
    for (size_t f = 0; f < registry->n_families; f++) {
        const struct family *family = &registry->families[f];
        char                 path[PATH_MAX], cause[512], hex[DIGEST_HEX];
        const char          *contents = NULL;
        size_t               size = 0;
        struct digest        digest;
        for (size_t p = 0; p < family->n_params; p++)
            if (strcmp(family->params[p].name, "contents") == 0)
                contents = family->params[p].text;
        if (strcmp(family->generator, "captured") != 0 || !contents)
            continue;
        unsigned char *bytes = NULL;
        if (!captured_path(family->root->captured, contents, path, sizeof path, cause, sizeof cause))
            bytes = captured_read(path, SIZE_MAX, &size, cause, sizeof cause);
        if (!bytes) {
            check_problem(result, "%s:%d: %s", family->file, family->line, cause);
            continue;
        }
        digest_begin(&digest);
        digest_add(&digest, bytes, size);
        digest_end(&digest, hex);
        free(bytes);
        if (strcmp(hex, contents) != 0)
            check_problem(result, "%s:%d: captured contents %s have the digest %s; restore the file", family->file, family->line,
                    path, hex);
    }
}

enum status registry_check(struct registry *registry, const struct registry *expanded, struct check_result *result,
                           struct error *err)
{
    bool update = !expanded;
    memset(result, 0, sizeof *result);
    result->n_families = registry->n_families;
    result->n_cases = registry->n_cases;
    check_captured(registry, result);
    check_hashes(registry, update, result);
    check_suites(registry, result);
    check_budgets(registry, result);
    check_expectations(registry, result);
    check_guards(registry, result);
    if (!update) {
        check_notes(registry, result);
        check_list(registry, expanded, result);
    }
    char **tables = arena_alloc(&registry->arena, registry->n_roots * sizeof *tables);
    for (size_t r = 0; r < registry->n_roots; r++) {
        size_t n_before = result->n_problems;
        reports_check(registry, &registry->roots[r], &tables[r], result);
        result->n_tables += tables[r] != NULL;
        if (tables[r] && !update && result->n_problems == n_before)
            reports_compare(&registry->roots[r], tables[r], result);
    }
    for (size_t r = 0; r < registry->n_roots && update && !result->n_problems && !err->status; r++) {
        const char *path = arena_format(&registry->arena, "%s/hashes.txt", registry->roots[r].folder);
        if (hashes_write(path, registry, &registry->roots[r], err) == STATUS_OK && tables[r])
            reports_write(&registry->roots[r], tables[r], err);
    }
    for (size_t r = 0; r < registry->n_roots; r++)
        free(tables[r]);
    return err->status;
}
