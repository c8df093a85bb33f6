/* SPDX-License-Identifier: Apache-2.0 */
/* Judging and telling what a guard measured; see guard_result.h. */
#include "harness/guard_result.h"

#include <stdlib.h>
#include <string.h>

enum status guard_exit_code(enum guard_verdict verdict)
{
    switch (verdict) {
    case GUARD_WITHIN:
        return STATUS_OK;
    case GUARD_EXCEEDS:
    case GUARD_FAILED:
        return STATUS_FAIL;
    default:
        return STATUS_BOOKS;
    }
}

static bool is_same_build(const struct guard_session *session)
{
    return strcmp(session->targets[0]->description.digest, session->targets[1]->description.digest) == 0;
}

static double median_of(const double *values, size_t n)
{
    double *copy = n ? malloc(n * sizeof *copy) : NULL;
    if (!copy)
        return 0;
    memcpy(copy, values, n * sizeof *copy);
    double median = guard_median(copy, n);
    free(copy);
    return median;
}

/* The base against itself over time: the third of the rounds that came last against the first. Of all cells the one
 * that moved most. Rounds cancel it; it says how restless the machine was. */
static double largest_drift(const struct guard_session *session)
{
    double largest = 1;
    for (size_t c = 0; c < session->n_cells; c++) {
        const struct guard_numbers *base = &session->cells[c].base_medians;
        size_t                      third = base->n / 3;
        double first = median_of(base->items, third), last = third ? median_of(base->items + base->n - third, third) : 0;
        if (first > 0 && last > 0) {
            double drift = last / first, far = largest > 1 ? largest : 1 / largest;
            if ((drift > 1 ? drift : 1 / drift) > far)
                largest = drift;
        }
    }
    return largest;
}

static enum status judge_cell(struct guard_result *result, const struct guard_session *session, size_t c, uint64_t seed,
                              struct error *err)
{
    const struct guard_cell     *cell = &session->cells[c];
    struct store_guard_cell_end *end = &result->cells[c];
    const double                *ratios[] = {cell->ratios.items}, *control[] = {cell->control_ratios.items};
    end->calls = cell->calls;
    for (int arm = 0; arm < N_GUARD_ARMS; arm++)
        end->median_us[arm] = median_of(cell->samples[arm].items, cell->samples[arm].n);
    if (session->rounds < GUARD_LEAST_ROUNDS) /* an interval of so few would be made up */
        return STATUS_OK;
    if (guard_bootstrap(ratios, 1, session->rounds, seed, &end->candidate, err) ||
        guard_bootstrap(control, 1, session->rounds, seed, &end->control, err))
        return err->status;
    end->verdict = guard_judge(&end->candidate, &end->control, session->guard->percent, is_same_build(session),
                               result->cell_reasons[c], sizeof result->cell_reasons[c]);
    return STATUS_OK;
}

static enum status judge_all(struct guard_result *result, const struct guard_session *session, uint64_t seed,
                             struct error *err)
{
    const double **ratios = calloc(session->n_cells, sizeof *ratios), **control = calloc(session->n_cells, sizeof *control);
    if (!ratios || !control) {
        error_no_memory(err);
        goto done;
    }
    for (size_t c = 0; c < session->n_cells; c++) {
        ratios[c] = session->cells[c].ratios.items;
        control[c] = session->cells[c].control_ratios.items;
    }
    if (!guard_bootstrap(ratios, session->n_cells, session->rounds, seed, &result->end.overall, err))
        guard_bootstrap(control, session->n_cells, session->rounds, seed, &result->end.control_overall, err);
done:
    free(ratios);
    free(control);
    return err->status;
}

/* The verdict of the whole from those of its parts, and in words which part decided. */
static void conclude(struct guard_result *result, const struct guard_session *session)
{
    char               overall_reason[300];
    size_t             n[GUARD_FAILED + 1] = {0}, worst = 0;
    enum guard_verdict overall = guard_judge(&result->end.overall, &result->end.control_overall, session->guard->percent,
                                             is_same_build(session), overall_reason, sizeof overall_reason);
    for (size_t c = 0; c < session->n_cells; c++)
        n[result->cells[c].verdict]++;
    enum guard_verdict verdict = n[GUARD_EXCEEDS] || overall == GUARD_EXCEEDS           ? GUARD_EXCEEDS
                                 : n[GUARD_CANNOT_TELL] || overall == GUARD_CANNOT_TELL ? GUARD_CANNOT_TELL
                                                                                        : GUARD_WITHIN;
    while (worst < session->n_cells && result->cells[worst].verdict != verdict)
        worst++;
    for (size_t c = worst; c < session->n_cells; c++)
        if (result->cells[c].verdict == verdict && result->cells[c].candidate.low > result->cells[worst].candidate.low)
            worst = c;
    if (verdict == GUARD_WITHIN || worst == session->n_cells)
        snprintf(result->reason, sizeof result->reason, "all %zu cells together: %s", session->n_cells, overall_reason);
    else
        snprintf(result->reason, sizeof result->reason, "%zu of %zu cells, worst %.200s with outputs %s: %s", n[verdict],
                 session->n_cells, session->cells[worst].concrete->name, outputs_text(session->cells[worst].outputs),
                 result->cell_reasons[worst]);
    result->end.verdict = verdict;
}

enum status guard_result_make(struct guard_result *result, struct guard_session *session, uint64_t seed,
                              struct error *err)
{
    *result = (struct guard_result){.cells = calloc(session->n_cells, sizeof *result->cells),
                                    .cell_reasons = calloc(session->n_cells, sizeof *result->cell_reasons)};
    if (!result->cells || !result->cell_reasons)
        return error_no_memory(err);
    result->end.by_device = session->by_device;
    result->end.control = session->control[0] ? session->control : NULL;
    result->end.rounds = session->rounds;
    result->end.clock_mhz_low = session->clock_mhz_low;
    result->end.clock_mhz_high = session->clock_mhz_high;
    result->end.drift = session->rounds >= 3 ? largest_drift(session) : 0;
    result->end.reason = result->reason;
    for (size_t c = 0; c < session->n_cells; c++) {
        result->cells[c].reason = result->cell_reasons[c];
        if (judge_cell(result, session, c, seed, err))
            return err->status;
    }
    if (session->rounds >= GUARD_LEAST_ROUNDS && judge_all(result, session, seed, err))
        return err->status;
    if (!session->has_stopped) {
        conclude(result, session);
        return STATUS_OK;
    }
    result->end.verdict = session->verdict;
    snprintf(result->reason, sizeof result->reason, "%s", session->reason);
    for (size_t c = 0; c < session->n_cells; c++) {
        result->cells[c].verdict = session->verdict;
        snprintf(result->cell_reasons[c], sizeof result->cell_reasons[c], "the measurement stopped: %.250s", session->reason);
    }
    return STATUS_OK;
}

void guard_result_clear(struct guard_result *result)
{
    free(result->cells);
    free(result->cell_reasons);
    memset(result, 0, sizeof *result);
}

/* ---- telling ------------------------------------------------------------------------------------------------------ */

static const char *clock_in_words(const struct guard_session *session)
{
    if (session->by_device)
        return "kernel time by the device's events";
    return strcmp(session->targets[0]->record.backend, "sim") == 0
               ? "wall time of the simulator on this CPU, which says nothing of a GPU"
               : "wall time of the launch call, not a GPU's kernel time";
}

static void print_interval(const struct guard_interval *interval, char *text, size_t size)
{
    if (interval->ratio > 0)
        snprintf(text, size, "%+.2f %% (%+.2f to %+.2f)", 100 * (interval->ratio - 1), 100 * (interval->low - 1),
                 100 * (interval->high - 1));
    else
        snprintf(text, size, "not measured");
}

static void print_line(FILE *file, const char *left, const struct store_guard_cell_end *cell)
{
    char candidate[64], control[64];
    print_interval(&cell->candidate, candidate, sizeof candidate);
    print_interval(&cell->control, control, sizeof control);
    fprintf(file, "  %-9s ", left);
    if (cell->median_us[GUARD_BASE] > 0)
        fprintf(file, "%9.2f %9.2f ", cell->median_us[GUARD_BASE], cell->median_us[GUARD_CANDIDATE]);
    else
        fprintf(file, "%9s %9s ", "", "");
    fprintf(file, " %-26s  %-26s  %s\n", candidate, control, guard_verdict_text(cell->verdict));
}

static void print_cells(const struct guard_result *result, const struct guard_session *session, FILE *file)
{
    fprintf(file, "\n  %-9s %9s %9s  %-26s  %-26s  %s\n", "outputs", "base us", "cand. us", "candidate against base",
            "base against its copy", "verdict");
    for (size_t c = 0; c < session->n_cells; c++) {
        if (c == 0 || strcmp(session->cells[c].concrete->name, session->cells[c - 1].concrete->name) != 0)
            fprintf(file, "%s\n", session->cells[c].concrete->name);
        print_line(file, outputs_text(session->cells[c].outputs), &result->cells[c]);
    }
    struct store_guard_cell_end overall = {.candidate = result->end.overall, .control = result->end.control_overall,
                                           .verdict = result->end.verdict};
    fprintf(file, "all cases together (geometric mean)\n");
    print_line(file, "", &overall);
    int64_t n_samples = 0;
    for (size_t c = 0; c < session->n_cells; c++)
        n_samples += (int64_t)session->cells[c].samples[GUARD_BASE].n;
    fprintf(file, "\n%zu rounds of %d legs a cell, %lld samples of the base and of each other arm; %g %% intervals: %d "
            "bootstrap resamples of rounds\n", session->rounds, 2 * N_GUARD_ARMS, (long long)n_samples,
            100 * GUARD_CONFIDENCE, GUARD_RESAMPLES);
    if (result->end.drift > 0)
        fprintf(file, "the base itself moved by %+.1f %% from the first third of the rounds to the last",
                100 * (result->end.drift - 1));
    if (session->clock_mhz_high > 0)
        fprintf(file, "; clock %d to %d MHz", session->clock_mhz_low, session->clock_mhz_high);
    if (result->end.control_overall.ratio > 0)
        fprintf(file, "\nthis machine resolves %.2f %% here\n", guard_resolution(&result->end.control_overall));
}

void guard_result_print(const struct guard_result *result, const struct guard_session *session, const char *name,
                        const char *database, FILE *file)
{
    const struct guard  *guard = session->guard;
    const struct target *base = session->targets[0], *candidate = session->targets[1];
    fprintf(file, "%s: %s\n", guard->id, guard->what);
    fprintf(file, "limit %g %%, declared on %s: %s\n", guard->percent, guard->declared, guard->reason);
    fprintf(file, "base       %s %s (%.8s) %s\n", base->description.name, base->description.version,
            base->description.digest, base->provider);
    fprintf(file, "candidate  %s %s (%.8s) %s\n", candidate->description.name, candidate->description.version,
            candidate->description.digest, candidate->provider);
    if (session->control[0])
        fprintf(file, "control    %s\n", session->control);
    fprintf(file, "on %s (%s, %s); %s; cache %s\n", base->device, base->record.name, base->record.arch,
            clock_in_words(session), guard->cold ? "cold" : "warm");
    if (is_same_build(session))
        fprintf(file, "base and candidate are the same build (their digests are equal): what differs is noise by definition, "
                "measured all the same\n");
    else if (strcmp(base->description.name, candidate->description.name) == 0 &&
             strcmp(base->description.version, candidate->description.version) == 0)
        fprintf(file, "two builds of one name and version: their digests differ, and nothing else is compared\n");
    if (session->rounds > 0)
        print_cells(result, session, file);
    fprintf(file, "\n%s: %s\nsession %s in %s\n", guard_verdict_text(result->end.verdict), result->reason, name, database);
}

static json_t *interval_json(const struct guard_interval *interval)
{
    if (!(interval->ratio > 0))
        return json_null();
    return json_pack("{s:f, s:f, s:f}", "ratio", interval->ratio, "low", interval->low, "high", interval->high);
}

static json_t *side_json(const struct target *target)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s}", "provider", target->description.name, "version",
                     target->description.version, "digest", target->description.digest, "origin",
                     target->description.origin, "file", target->provider);
}

json_t *guard_result_json(const struct guard_result *result, const struct guard_session *session, const char *name,
                          const char *database)
{
    json_t *cells = json_array();
    for (size_t c = 0; c < session->n_cells; c++) {
        const struct store_guard_cell_end *end = &result->cells[c];
        json_array_append_new(
            cells, json_pack("{s:s, s:s, s:i, s:i, s:f, s:f, s:f, s:o, s:o, s:s, s:s}", "case",
                             session->cells[c].concrete->name, "outputs", outputs_text(session->cells[c].outputs), "calls",
                             (int)end->calls, "samples", (int)session->cells[c].samples[GUARD_BASE].n, "base_us",
                             end->median_us[GUARD_BASE], "candidate_us", end->median_us[GUARD_CANDIDATE], "copy_us",
                             end->median_us[GUARD_COPY], "candidate", interval_json(&end->candidate), "control",
                             interval_json(&end->control), "verdict", guard_verdict_text(end->verdict), "reason",
                             result->cell_reasons[c]));
    }
    return json_pack("{s:s, s:s, s:f, s:s, s:s, s:s, s:s, s:o, s:o, s:b, s:i, s:o, s:o, s:f, s:s, s:s, s:s, s:o}", "session",
                     name, "guard", session->guard->id, "percent", session->guard->percent, "declared",
                     session->guard->declared, "device", session->targets[0]->device, "clock",
                     session->by_device ? "kernel" : "wall", "cache", session->guard->cold ? "cold" : "warm", "base",
                     side_json(session->targets[0]), "candidate", side_json(session->targets[1]), "same_build",
                     is_same_build(session), "rounds", (int)session->rounds, "overall", interval_json(&result->end.overall),
                     "control", interval_json(&result->end.control_overall), "drift", result->end.drift, "verdict",
                     guard_verdict_text(result->end.verdict), "reason", result->reason, "db", database, "cells", cells);
}
