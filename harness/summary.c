/* SPDX-License-Identifier: Apache-2.0 */
/* What a run came to; see summary.h. */
#include "harness/summary.h"

#include "harness/claims.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

enum { DETAILED_FAILURES = 10, LISTED_FAILURES = 100 };

static const char *reason_of(const struct outcome *outcome)
{
    return outcome->reason ? outcome->reason : "";
}

/* The bound that a skip falls under; -1: none. */
static int64_t find_bound(const struct runner *runner, const struct target *target, const char *reason, size_t *which)
{
    const struct registry *registry = runner->registry;
    for (size_t b = 0; runner->plan->suite && b < registry->n_skip_bounds; b++) {
        const struct skip_bound *bound = &registry->skip_bounds[b];
        if (strcmp(bound->suite, runner->plan->suite->id) == 0 &&
            (fnmatch(bound->device_glob, target->record.device_id, 0) == 0 ||
             fnmatch(bound->device_glob, target->device, 0) == 0) &&
            fnmatch(bound->provider_glob, target->description.name, 0) == 0 &&
            fnmatch(bound->reason_glob, reason, 0) == 0) {
            *which = b;
            return bound->at_most;
        }
    }
    return -1;
}

/* Skips of a target beyond what skips.yaml allows; in strict suites a skip it does not mention is one too many. */
static size_t count_skips_over_bound(const struct runner *runner, size_t t)
{
    size_t   over = 0;
    int64_t *used = arena_alloc(&runner->plan->arena, (runner->registry->n_skip_bounds + 1) * sizeof *used);
    for (size_t row = 0; row < runner->plan->n_rows; row++) {
        size_t which;
        if (runner->plan->rows[row].target != t || runner->outcomes[row].verdict != VERDICT_SKIP)
            continue;
        int64_t bound = find_bound(runner, &runner->plan->targets[t], reason_of(&runner->outcomes[row]), &which);
        if (bound < 0)
            over += runner->plan->suite && runner->plan->suite->strict;
        else
            over += ++used[which] > bound;
    }
    return over;
}

static bool is_catch(enum verdict verdict)
{
    return verdict == VERDICT_FAIL || verdict == VERDICT_CRASH || verdict == VERDICT_TIMEOUT || verdict == VERDICT_FLAKY;
}

static void count_target(struct summary *summary, size_t t)
{
    const struct runner   *runner = summary->runner;
    struct target_summary *counts = &summary->targets[t];
    counts->is_planted = runner->plan->suite && runner->plan->suite->meta && runner->plan->targets[t].fault;
    for (size_t row = 0; row < runner->plan->n_rows; row++) {
        if (runner->plan->rows[row].target != t)
            continue;
        enum verdict verdict = runner->outcomes[row].verdict;
        if (runner->outcomes[row].left_out) {
            counts->n_left_out++;
            continue;
        }
        counts->verdicts[verdict]++;
        if (counts->is_planted && is_catch(verdict) && !counts->caught_by)
            counts->caught_by = runner->plan->rows[row].concrete->name;
    }
    if (counts->is_planted) {
        summary->n_planted++;
        summary->n_caught += counts->caught_by != NULL;
        return;
    }
    counts->skips_over_bound = count_skips_over_bound(runner, t);
}

/* The exit code that one target asks for. */
static enum status target_status(const struct target_summary *counts)
{
    size_t red = counts->skips_over_bound, judged = 0, planned = 0;
    if (counts->is_planted)
        return counts->caught_by ? STATUS_OK : STATUS_FAIL;
    for (int v = 0; v < VERDICT_COUNT; v++) {
        if (verdict_is_red((enum verdict)v))
            red += counts->verdicts[v];
        if (verdict_is_judged((enum verdict)v))
            judged += counts->verdicts[v];
        planned += counts->verdicts[v];
    }
    if (red)
        return STATUS_FAIL;
    return counts->verdicts[VERDICT_ERROR] || (judged == 0 && planned > 0) ? STATUS_BOOKS : STATUS_OK;
}

void summary_make(struct summary *summary, const struct runner *runner, const char *run, const char *database)
{
    bool failed = false, unjudged = false;
    *summary = (struct summary){.runner = runner, .run = run, .database = database};
    summary->targets = arena_alloc(&runner->plan->arena, runner->plan->n_targets * sizeof *summary->targets);
    for (size_t t = 0; t < runner->plan->n_targets; t++) {
        count_target(summary, t);
        enum status status = target_status(&summary->targets[t]);
        failed |= status == STATUS_FAIL;
        unjudged |= status == STATUS_BOOKS;
    }
    summary->status = failed ? STATUS_FAIL : unjudged ? STATUS_BOOKS : STATUS_OK;
}

void summary_note(struct summary *summary, const char *note)
{
    summary->notes = arena_grow(&summary->runner->plan->arena, summary->notes, summary->n_notes, sizeof *summary->notes);
    summary->notes[summary->n_notes++] = note;
}

/* Quotes a word for a shell when it needs it. */
static void append_word(char *text, size_t size, const char *word)
{
    size_t      used = strlen(text);
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_-+=:,";
    bool        quoted = strspn(word, plain) != strlen(word) || !word[0];
    snprintf(text + used, size - used, quoted ? " '%s'" : " %s", word);
}

void summary_rerun_line(const struct runner *runner, size_t row, char *text, size_t size)
{
    const struct target   *target = &runner->plan->targets[runner->plan->rows[row].target];
    const struct settings *settings = runner->settings;
    char                   number[32];
    snprintf(text, size, "topkcts run");
    append_word(text, size, runner->plan->rows[row].concrete->name);
    append_word(text, size, "--provider");
    append_word(text, size, target->provider);
    append_word(text, size, "--device");
    append_word(text, size, target->device);
    for (size_t r = 0; r < settings->registries.n; r++) {
        append_word(text, size, "--registry");
        append_word(text, size, settings->registries.items[r]);
    }
    if (settings->watch && strcmp(target->record.backend, "sim") == 0)
        append_word(text, size, "--watch");
    if (settings->repeat) {
        snprintf(number, sizeof number, "%lld", (long long)settings->repeat);
        append_word(text, size, "--repeat");
        append_word(text, size, number);
    }
}

static void print_indices(FILE *file, const char *what, const int32_t *indices, int64_t n)
{
    fprintf(file, "%" PRId64 " %s", n, what);
    for (int64_t i = 0; i < n && i < ROW_LISTED_INDICES; i++)
        fprintf(file, "%s%d", i ? ", " : ": ", indices[i]);
    fprintf(file, "%s", n > ROW_LISTED_INDICES ? ", ..." : "");
}

static void print_difference(FILE *file, const struct row_difference *d)
{
    fprintf(file, "    row %d: length %d, topk %d, ", d->row, d->length, d->topk);
    if (strcmp(d->cut_value, "none") == 0)
        fprintf(file, "not cut; ");
    else
        fprintf(file, "cut at %s, which %" PRId64 " score%s; ", d->cut_value, d->cut_equal, d->cut_equal == 1 ? " equals" : "s equal");
    if (d->n_extra == 0 && d->n_missing == 0)
        fprintf(file, "the set is the reference's\n");
    else {
        print_indices(file, "extra", d->extra, d->n_extra);
        fprintf(file, "; ");
        print_indices(file, "missing", d->missing, d->n_missing);
        fputc('\n', file);
    }
}

static void print_failure(const struct runner *runner, size_t row, FILE *file)
{
    const struct outcome *outcome = &runner->outcomes[row];
    const struct target  *target = &runner->plan->targets[runner->plan->rows[row].target];
    char                  line[2048];
    fprintf(file, "%s  %s\n    %s on %s: %s\n", verdict_text(outcome->verdict), runner->plan->rows[row].concrete->name,
            target->description.name, target->device, reason_of(outcome));
    for (size_t i = 0; i < outcome->n_differences; i++)
        print_difference(file, &outcome->differences[i]);
    if (outcome->log) {
        const char *tail = outcome->log + strlen(outcome->log);
        for (int lines = 0; tail > outcome->log && lines < 4; tail--)
            lines += tail[-1] == '\n' && tail[0];
        fprintf(file, "    it printed: %.400s\n", tail);
    }
    summary_rerun_line(runner, row, line, sizeof line);
    fprintf(file, "    rerun: %s\n\n", line);
}

/* A failure beyond the detailed ones, in a line. */
static void print_listed(const struct runner *runner, size_t row, FILE *file)
{
    const struct target *target = &runner->plan->targets[runner->plan->rows[row].target];
    fprintf(file, "%s  %s  (%s on %s)\n", verdict_text(runner->outcomes[row].verdict), runner->plan->rows[row].concrete->name,
            target->description.name, target->device);
}

/* Rows that people want to see: red ones and errors, of targets that count. */
static bool is_worth_showing(const struct summary *summary, size_t row)
{
    enum verdict verdict = summary->runner->outcomes[row].verdict;
    return !summary->targets[summary->runner->plan->rows[row].target].is_planted &&
           !summary->runner->outcomes[row].left_out &&
           ((verdict_is_red(verdict) && verdict != VERDICT_NOTRUN) || verdict == VERDICT_ERROR);
}

static void print_failures(const struct summary *summary, FILE *file)
{
    const struct runner *runner = summary->runner;
    size_t               shown = 0;
    for (size_t row = 0; row < runner->plan->n_rows; row++) {
        if (!is_worth_showing(summary, row))
            continue;
        if (shown < DETAILED_FAILURES)
            print_failure(runner, row, file);
        else if (shown < LISTED_FAILURES)
            print_listed(runner, row, file);
        shown++;
    }
    if (shown > LISTED_FAILURES)
        fprintf(file, "... and %zu more\n", shown - LISTED_FAILURES);
    if (shown > DETAILED_FAILURES)
        fprintf(file, "Details of the first %d; the reasons of all are in %s, view results\n\n", DETAILED_FAILURES,
                summary->database);
}

/* Whether any target has a count of this verdict: empty columns are left out. */
static bool column_is_used(const struct summary *summary, int verdict)
{
    for (size_t t = 0; t < summary->runner->plan->n_targets; t++)
        if (summary->targets[t].verdicts[verdict])
            return true;
    return verdict == VERDICT_PASS || verdict == VERDICT_FAIL;
}

static void print_table(const struct summary *summary, FILE *file)
{
    const struct plan *plan = summary->runner->plan;
    int                width = 8;
    for (size_t t = 0; t < plan->n_targets; t++)
        if ((int)strlen(plan->targets[t].description.name) > width)
            width = (int)strlen(plan->targets[t].description.name);
    fprintf(file, "%-*s  %-8s  %6s", width, "provider", "device", "cases");
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (column_is_used(summary, v))
            fprintf(file, "  %7s", verdict_text((enum verdict)v));
    fprintf(file, "  not promised\n");
    for (size_t t = 0; t < plan->n_targets; t++) {
        const struct target *target = &plan->targets[t];
        fprintf(file, "%-*s  %-8s  %6zu", width, target->description.name, target->device, target->n_planned);
        for (int v = 0; v < VERDICT_COUNT; v++)
            if (column_is_used(summary, v))
                fprintf(file, "  %7zu", summary->targets[t].verdicts[v]);
        fprintf(file, "  %12zu", target->n_not_promised);
        if (summary->targets[t].is_planted)
            fprintf(file, "  %s%s", summary->targets[t].caught_by ? "caught: " : "MISSED by every case of kind ",
                    target->fault);
        if (summary->targets[t].n_left_out)
            fprintf(file, "  %zu left out by --budget", summary->targets[t].n_left_out);
        if (summary->targets[t].skips_over_bound)
            fprintf(file, "  %zu skips over their bound", summary->targets[t].skips_over_bound);
        fputc('\n', file);
    }
}

/* What a device that watches has gone through. */
static void print_coverage(const struct summary *summary, FILE *file)
{
    const struct runner *runner = summary->runner;
    for (size_t t = 0; t < runner->plan->n_targets; t++) {
        int64_t schedules = 0, orders = 0;
        for (size_t row = 0; row < runner->plan->n_rows; row++)
            if (runner->plan->rows[row].target == t) {
                schedules += runner->outcomes[row].n_schedules;
                orders += runner->outcomes[row].n_orders;
            }
        if (schedules)
            fprintf(file, "%s on %s: watched %" PRId64 " launches, each under its schedule; %" PRId64
                          " distinct orders of threads at atomics\n",
                    runner->plan->targets[t].description.name, runner->plan->targets[t].device, schedules, orders);
    }
}

/* One line that says it all, for the end of a log. */
static void print_digest(const struct summary *summary, FILE *file)
{
    size_t totals[VERDICT_COUNT] = {0}, all = 0, left_out = 0;
    for (size_t t = 0; t < summary->runner->plan->n_targets; t++) {
        left_out += summary->targets[t].n_left_out;
        for (int v = 0; v < VERDICT_COUNT && !summary->targets[t].is_planted; v++) {
            totals[v] += summary->targets[t].verdicts[v];
            all += summary->targets[t].verdicts[v];
        }
    }
    fprintf(file, "%s: %zu cases", summary->status == STATUS_OK ? "ok" : "not ok", all);
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (totals[v])
            fprintf(file, ", %zu %s", totals[v], verdict_text((enum verdict)v));
    if (summary->n_planted)
        fprintf(file, "; planted faults caught: %zu of %zu", summary->n_caught, summary->n_planted);
    if (summary->runner->interrupted)
        fprintf(file, "; interrupted");
    if (summary->runner->out_of_time)
        fprintf(file, "; out of time");
    if (left_out)
        fprintf(file, "; %zu left out by --budget", left_out);
    fprintf(file, "; run %s in %s\n", summary->run, summary->database);
}

void summary_print(const struct summary *summary, FILE *file)
{
    print_failures(summary, file);
    for (size_t i = 0; i < summary->n_notes; i++)
        fprintf(file, "%s\n", summary->notes[i]);
    if (summary->n_notes)
        fputc('\n', file);
    print_table(summary, file);
    print_coverage(summary, file);
    print_digest(summary, file);
}

void summary_markdown(const struct summary *summary, FILE *file)
{
    const struct plan *plan = summary->runner->plan;
    fprintf(file, "### topkcts %s\n\n| provider | device | cases |", plan->suite ? plan->suite->id : "selection");
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (column_is_used(summary, v))
            fprintf(file, " %s |", verdict_text((enum verdict)v));
    fprintf(file, "\n| --- | --- | ---: |");
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (column_is_used(summary, v))
            fprintf(file, " ---: |");
    fputc('\n', file);
    for (size_t t = 0; t < plan->n_targets; t++) {
        fprintf(file, "| %s | %s | %zu |", plan->targets[t].description.name, plan->targets[t].device,
                plan->targets[t].n_planned);
        for (int v = 0; v < VERDICT_COUNT; v++)
            if (column_is_used(summary, v))
                fprintf(file, " %zu |", summary->targets[t].verdicts[v]);
        fputc('\n', file);
    }
    fputc('\n', file);
    size_t shown = 0;
    for (size_t row = 0; row < plan->n_rows && shown < LISTED_FAILURES; row++) {
        char line[2048];
        if (!is_worth_showing(summary, row))
            continue;
        summary_rerun_line(summary->runner, row, line, sizeof line);
        fprintf(file, "- **%s** `%s`: %s  \n  `%s`\n", verdict_text(summary->runner->outcomes[row].verdict),
                plan->rows[row].concrete->name, reason_of(&summary->runner->outcomes[row]), line);
        shown++;
    }
    for (size_t i = 0; i < summary->n_notes; i++)
        fprintf(file, "- %s\n", summary->notes[i]);
    fputc('\n', file);
    print_digest(summary, file);
}

static json_t *target_json(const struct summary *summary, size_t t)
{
    const struct target *target = &summary->runner->plan->targets[t];
    json_t              *verdicts = json_object();
    for (int v = 0; v < VERDICT_COUNT; v++)
        json_object_set_new(verdicts, verdict_text((enum verdict)v),
                            json_integer((json_int_t)summary->targets[t].verdicts[v]));
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:o}", "provider", target->description.name, "device",
                             target->device, "device_id", target->record.device_id, "origin",
                             target->description.origin, "cases", (json_int_t)target->n_planned, "not_promised",
                             (json_int_t)target->n_not_promised, "verdicts", verdicts);
    json_object_set_new(json, "left_out", json_integer((json_int_t)summary->targets[t].n_left_out));
    json_object_set_new(json, "skips_over_bound", json_integer((json_int_t)summary->targets[t].skips_over_bound));
    if (summary->targets[t].is_planted)
        json_object_set_new(json, "caught_by", summary->targets[t].caught_by
                                                   ? json_string(summary->targets[t].caught_by)
                                                   : json_null());
    return json;
}

void summary_json(const struct summary *summary, FILE *file)
{
    const struct plan *plan = summary->runner->plan;
    json_t            *targets = json_array(), *failures = json_array();
    for (size_t t = 0; t < plan->n_targets; t++)
        json_array_append_new(targets, target_json(summary, t));
    for (size_t row = 0; row < plan->n_rows; row++) {
        char                  line[2048];
        const struct outcome *outcome = &summary->runner->outcomes[row];
        if (!is_worth_showing(summary, row))
            continue;
        summary_rerun_line(summary->runner, row, line, sizeof line);
        json_t *failure = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "case", plan->rows[row].concrete->name, "provider",
                                    plan->targets[plan->rows[row].target].description.name, "device",
                                    plan->targets[plan->rows[row].target].device, "verdict",
                                    verdict_text(outcome->verdict), "reason", reason_of(outcome), "rerun", line);
        if (outcome->judged_level)
            json_object_set_new(failure, "level", json_string(level_text(outcome->level)));
        json_array_append_new(failures, failure);
    }
    json_t *json = json_pack("{s:s, s:s, s:i, s:b, s:o, s:o}", "run", summary->run, "database", summary->database,
                             "exit_code", (int)summary->status, "interrupted", (int)summary->runner->interrupted,
                             "targets", targets, "failures", failures);
    json_t *notes = json_array();
    for (size_t i = 0; i < summary->n_notes; i++)
        json_array_append_new(notes, json_string(summary->notes[i]));
    json_object_set_new(json, "notes", notes);
    json_dumpf(json, file, JSON_INDENT(2));
    fputc('\n', file);
    json_decref(json);
}
