/* SPDX-License-Identifier: Apache-2.0 */
/* What a bench says; see bench.h. */
#include "harness/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct bench_result *bench_answer(const struct bench_answers *answers, size_t cell, size_t provider)
{
    return &answers->results[cell * (answers->n_providers + 1) + provider];
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double bench_median(const struct bench_result *result, enum bench_heat heat)
{
    double  sorted[BENCH_MAX_SAMPLES];
    int32_t n = result->n_samples[heat];
    if (n < 1)
        return -1;
    memcpy(sorted, result->samples[heat], (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

static char letter(size_t provider)
{
    return (char)('A' + provider);
}

void bench_table_heading(const struct bench_answers *answers, FILE *file)
{
    for (size_t p = 0; p < answers->n_providers; p++)
        fprintf(file, "%c = %s\n", letter(p), answers->names[p]);
    fprintf(file, "\nread, A: median microseconds%s; A/read, A/B ..: ratios\n"
                  "read: one read of all scores. !: a wrong answer, or a failure. -: not measured\n",
            answers->is_wall_time ? " of wall time on the CPU" : " of a launch on the device");
    fprintf(file, "%-10s %5s %7s %5s %4s %8s %9s %6s", "pattern", "batch", "length", "topk", "", "read", "A", "A/read");
    for (size_t p = 1; p < answers->n_providers; p++)
        fprintf(file, "  A/%c  ", letter(p));
    fputc('\n', file);
}

/* A quotient in six columns, a mark behind it. */
static void print_ratio(double above, double below, const struct bench_result *below_result, FILE *file)
{
    char mark = below_result->verdict == VERDICT_FAIL ? '!' : ' ';
    if (above < 0 || below <= 0)
        fprintf(file, "%6s%c", "-", mark);
    else
        fprintf(file, "%6.*f%c", above / below < 99.995 ? 2 : 0, above / below, mark);
}

void bench_table_cell(const struct bench_answers *answers, size_t cell, FILE *file)
{
    struct bench_cell          at = bench_grid_cell(answers->grid, cell);
    const struct bench_result *first = bench_answer(answers, cell, 0);
    const struct bench_result *read = bench_answer(answers, cell, answers->n_providers);
    for (int heat = 0; heat < BENCH_N_HEATS; heat++) {
        if (!answers->grid->heats[heat])
            continue;
        double a = bench_median(first, (enum bench_heat)heat), r = bench_median(read, (enum bench_heat)heat);
        fprintf(file, "%-10s %5d %7d %5d %4s ", at.pattern->name, at.batch, at.length, at.topk, bench_heat_names[heat]);
        if (r < 0)
            fprintf(file, "%8s ", "-");
        else
            fprintf(file, "%8.2f ", r);
        if (a < 0)
            fprintf(file, "%8s", "-");
        else
            fprintf(file, "%8.2f", a);
        fputc(first->verdict == VERDICT_FAIL ? '!' : ' ', file);
        print_ratio(a, r, read, file);
        for (size_t p = 1; p < answers->n_providers; p++) {
            const struct bench_result *other = bench_answer(answers, cell, p);
            print_ratio(a, bench_median(other, (enum bench_heat)heat), other, file);
        }
        fputc('\n', file);
    }
    fflush(file);
}

/* Of cells of one pattern and heat. */
struct tally {
    size_t n, n_fastest, n_within; /* A against the fastest other, wrong or right: at most 1.00, at most 1.30 */
    double worst;
    struct bench_cell worst_at;
};

static void count_cell(const struct bench_answers *answers, size_t cell, enum bench_heat heat, struct tally *tally)
{
    double a = bench_median(bench_answer(answers, cell, 0), heat), fastest = -1;
    for (size_t p = 1; p < answers->n_providers; p++) {
        double other = bench_median(bench_answer(answers, cell, p), heat);
        if (other > 0 && (fastest < 0 || other < fastest))
            fastest = other;
    }
    if (a <= 0 || fastest <= 0)
        return;
    tally->n++;
    tally->n_fastest += a <= fastest;
    tally->n_within += a <= 1.3 * fastest;
    if (a / fastest > tally->worst) {
        tally->worst = a / fastest;
        tally->worst_at = bench_grid_cell(answers->grid, cell);
    }
}

/* The geometric mean of A over one other, or over the yardstick. */
static double mean_ratio(const struct bench_answers *answers, size_t provider, enum bench_heat heat, size_t *n)
{
    double sum = 0;
    *n = 0;
    for (size_t cell = 0; cell < bench_grid_cells(answers->grid); cell++) {
        double a = bench_median(bench_answer(answers, cell, 0), heat);
        double b = bench_median(bench_answer(answers, cell, provider), heat);
        if (a <= 0 || b <= 0)
            continue;
        sum += log(a / b);
        (*n)++;
    }
    return *n ? exp(sum / (double)*n) : 0;
}

void bench_table_summary(const struct bench_answers *answers, FILE *file)
{
    const struct bench_grid *grid = answers->grid;
    size_t                   n_cells = bench_grid_cells(grid), a_pattern = n_cells / grid->n_patterns, n;
    fputc('\n', file);
    for (size_t pattern = 0; answers->n_providers > 1 && pattern < grid->n_patterns; pattern++)
        for (int heat = 0; heat < BENCH_N_HEATS; heat++) {
            struct tally tally = {0};
            for (size_t i = 0; grid->heats[heat] && i < a_pattern; i++)
                count_cell(answers, pattern * a_pattern + i, (enum bench_heat)heat, &tally);
            if (tally.n)
                fprintf(file, "%-10s %s: A fastest in %zu of %zu cells, within 1.30 in %zu; worst %.2f at %d x %d, topk %d\n", grid->patterns[pattern]->name, bench_heat_names[heat], tally.n_fastest,
                        tally.n, tally.n_within, tally.worst, tally.worst_at.batch, tally.worst_at.length,
                        tally.worst_at.topk);
        }
    for (int heat = 0; heat < BENCH_N_HEATS; heat++)
        for (size_t p = 1; grid->heats[heat] && p <= answers->n_providers; p++) {
            double ratio = mean_ratio(answers, p, (enum bench_heat)heat, &n);
            if (n)
                fprintf(file, "%s: A / %s: %.3f, geometric mean of %zu cells\n", bench_heat_names[heat],
                        p == answers->n_providers ? "one read" : answers->names[p], ratio, n);
        }
}

static json_t *result_json(const struct bench_answers *answers, const struct bench_cell *at, size_t provider,
                           const struct bench_result *result)
{
    json_t *object = json_pack("{s:s, s:i, s:i, s:i, s:s, s:s, s:s, s:s, s:s}", "pattern", at->pattern->name, "batch",
                               at->batch, "length", at->length, "topk", at->topk, "provider", answers->names[provider],
                               "verdict", verdict_text(result->verdict), "reason", result->reason, "path", result->path,
                               "clock", answers->is_wall_time ? "wall" : "device");
    for (int heat = 0; object && heat < BENCH_N_HEATS; heat++) {
        char    name[32];
        json_t *samples = json_array();
        for (int32_t i = 0; i < result->n_samples[heat]; i++)
            json_array_append_new(samples, json_real(result->samples[heat][i]));
        snprintf(name, sizeof name, "%s_us", bench_heat_names[heat]);
        json_object_set_new(object, name, samples);
        snprintf(name, sizeof name, "%s_us_p50", bench_heat_names[heat]);
        json_object_set_new(object, name, result->n_samples[heat] ? json_real(bench_median(result, (enum bench_heat)heat))
                                                                  : json_null());
    }
    return object;
}

json_t *bench_table_json(const struct bench_answers *answers)
{
    json_t *list = json_array();
    for (size_t cell = 0; cell < bench_grid_cells(answers->grid); cell++) {
        struct bench_cell at = bench_grid_cell(answers->grid, cell);
        for (size_t p = 0; p <= answers->n_providers; p++)
            json_array_append_new(list, result_json(answers, &at, p, bench_answer(answers, cell, p)));
    }
    return list;
}
