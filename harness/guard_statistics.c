/* SPDX-License-Identifier: Apache-2.0 */
/* Ratios, bootstrap intervals, verdicts; see guard_statistics.h. */
#include "harness/guard_statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const verdict_texts[] = {
    [GUARD_WITHIN] = "within",
    [GUARD_EXCEEDS] = "exceeds",
    [GUARD_CANNOT_TELL] = "cannot tell",
    [GUARD_FAILED] = "failed",
};

const char *guard_verdict_text(enum guard_verdict verdict)
{
    return verdict_texts[verdict];
}

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double guard_median(double *values, size_t n)
{
    if (n == 0)
        return 0;
    qsort(values, n, sizeof *values, by_value);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void guard_order(int32_t round, enum guard_arm order[2 * N_GUARD_ARMS])
{
    static const enum guard_arm orders[][N_GUARD_ARMS] = {
        {GUARD_BASE, GUARD_CANDIDATE, GUARD_COPY}, {GUARD_COPY, GUARD_BASE, GUARD_CANDIDATE},
        {GUARD_CANDIDATE, GUARD_COPY, GUARD_BASE}, {GUARD_COPY, GUARD_CANDIDATE, GUARD_BASE},
        {GUARD_BASE, GUARD_COPY, GUARD_CANDIDATE}, {GUARD_CANDIDATE, GUARD_BASE, GUARD_COPY},
    };
    const enum guard_arm *forth = orders[(size_t)round % (sizeof orders / sizeof orders[0])];
    for (int i = 0; i < N_GUARD_ARMS; i++)
        order[i] = order[2 * N_GUARD_ARMS - 1 - i] = forth[i];
}

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* One round's logarithm of a ratio, and which round it was. */
struct ranked {
    double log_ratio;
    size_t round;
};

static int by_ratio(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    return (a->log_ratio > b->log_ratio) - (a->log_ratio < b->log_ratio);
}

/* The median of a resample, given how often each round was drawn: a walk along the sorted rounds. */
static double drawn_median(const struct ranked *ranked, size_t n, const uint32_t *drawn)
{
    size_t seen = 0, at = 0;
    while ((seen += drawn[ranked[at].round]) < (n + 1) / 2)
        at++;
    double low = ranked[at].log_ratio;
    if (n % 2)
        return low;
    while (seen < n / 2 + 1)
        seen += drawn[ranked[++at].round];
    return (low + ranked[at].log_ratio) / 2;
}

static double mean_of_medians(const struct ranked *ranked, size_t n_cases, size_t n_rounds, const uint32_t *drawn)
{
    double sum = 0;
    for (size_t c = 0; c < n_cases; c++)
        sum += drawn_median(ranked + c * n_rounds, n_rounds, drawn);
    return sum / (double)n_cases;
}

enum status guard_bootstrap(const double *const *ratios, size_t n_cases, size_t n_rounds, uint64_t seed,
                            struct guard_interval *interval, struct error *err)
{
    struct ranked *ranked = malloc(n_cases * n_rounds * sizeof *ranked);
    uint32_t      *drawn = malloc(n_rounds * sizeof *drawn);
    double        *means = malloc(GUARD_RESAMPLES * sizeof *means);
    *interval = (struct guard_interval){0};
    if (!ranked || !drawn || !means) {
        error_no_memory(err);
        goto done;
    }
    for (size_t c = 0; c < n_cases; c++) {
        for (size_t r = 0; r < n_rounds; r++)
            ranked[c * n_rounds + r] = (struct ranked){log(ratios[c][r]), r};
        qsort(ranked + c * n_rounds, n_rounds, sizeof *ranked, by_ratio);
    }
    for (size_t r = 0; r < n_rounds; r++)
        drawn[r] = 1;
    interval->ratio = exp(mean_of_medians(ranked, n_cases, n_rounds, drawn));
    for (size_t b = 0; b < GUARD_RESAMPLES; b++) {
        memset(drawn, 0, n_rounds * sizeof *drawn);
        for (size_t r = 0; r < n_rounds; r++)
            drawn[(next_random(&seed) >> 32) * n_rounds >> 32]++;
        means[b] = mean_of_medians(ranked, n_cases, n_rounds, drawn);
    }
    qsort(means, GUARD_RESAMPLES, sizeof *means, by_value);
    size_t tail = (size_t)((1 - GUARD_CONFIDENCE) / 2 * GUARD_RESAMPLES + 0.5);
    interval->low = exp(means[tail]);
    interval->high = exp(means[GUARD_RESAMPLES - 1 - tail]);
done:
    free(ranked);
    free(drawn);
    free(means);
    return err->status;
}

double guard_resolution(const struct guard_interval *control)
{
    return 100 * (fmax(control->high, 1 / control->low) - 1);
}

static double percent_of(double ratio)
{
    return 100 * (ratio - 1);
}

enum guard_verdict guard_judge(const struct guard_interval *candidate, const struct guard_interval *control,
                               double percent, bool same_build, char *reason, size_t reason_size)
{
    double limit = 1 + percent / 100;
    double bias = control->low > 1 ? control->low : control->high < 1 ? 1 / control->high : 1;
    if (control->high >= limit || control->low <= 1 / limit) {
        snprintf(reason, reason_size, "the machine does not resolve %g %%: the base against its own copy came to %+.2f %% "
                 "(%+.2f to %+.2f)", percent, percent_of(control->ratio), percent_of(control->low), percent_of(control->high));
        return GUARD_CANNOT_TELL;
    }
    if (candidate->low > limit * bias && same_build) {
        snprintf(reason, reason_size, "the same build, so that what differs is noise by definition; yet it came to %+.2f to "
                 "%+.2f %%: this measurement tells nothing", percent_of(candidate->low), percent_of(candidate->high));
        return GUARD_CANNOT_TELL;
    }
    if (candidate->low > limit * bias) {
        snprintf(reason, reason_size, "%+.2f to %+.2f %% of the base's time, all of it beyond the limit of %g %%",
                 percent_of(candidate->low), percent_of(candidate->high), percent);
        return GUARD_EXCEEDS;
    }
    if (candidate->high * bias <= limit) {
        snprintf(reason, reason_size, "%+.2f to %+.2f %% of the base's time, at most the limit of %g %%%s",
                 percent_of(candidate->low), percent_of(candidate->high), percent,
                 same_build ? "; the same build, so that what differs is noise by definition" : "");
        return GUARD_WITHIN;
    }
    snprintf(reason, reason_size, "%+.2f to %+.2f %% of the base's time, and the limit of %g %% lies between%s",
             percent_of(candidate->low), percent_of(candidate->high), percent,
             bias > 1 ? ", given the bias that the control shows" : "");
    return GUARD_CANNOT_TELL;
}
