/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of a guard: how much slower is the candidate than the base, how sure is that, and what follows. Pure
 * functions of numbers; command_guard.c measures.
 *
 * A session has rounds. In each, base, candidate and copy (the base again, as a copy of its bytes) run in processes of
 * their own, in palindromic order, A B C C B A, so that a machine that drifts evenly treats all three alike. A process
 * has habits of its own (where its pages lie, which core it got): launches of one process are no independent samples,
 * however many there are. Hence the round is what is counted and what is resampled:
 *
 *     ratio of a round   median of the candidate's launches / median of the base's, both of that round
 *     ratio of a case    the median over rounds
 *     overall            the geometric mean over cases
 *     interval           percentile bootstrap (Efron 1979): rounds are drawn with replacement, the same for all cases,
 *                        since what disturbs a round disturbs all of it
 *
 * The control arm is the same arithmetic with the copy in place of the candidate. Its true ratio is 1; what it shows
 * beyond that is the machine.
 */
#ifndef TOPKCTS_GUARD_STATISTICS_H
#define TOPKCTS_GUARD_STATISTICS_H

#include "harness/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GUARD_RESAMPLES = 10000,
    GUARD_LEAST_ROUNDS = 12, /* with fewer the bootstrap's interval is too short; two turns of all orders */
    GUARD_MOST_ROUNDS = 120
};
#define GUARD_CONFIDENCE 0.99

/* The order in which the arms stand everywhere. */
enum guard_arm { GUARD_BASE, GUARD_CANDIDATE, GUARD_COPY, N_GUARD_ARMS };

enum guard_verdict {
    GUARD_WITHIN,
    GUARD_EXCEEDS,
    GUARD_CANNOT_TELL,
    GUARD_FAILED /* a provider crashed, hung or answered wrongly: there is nothing to time */
};

/* "within", "exceeds", "cannot tell", "failed": as in the store. */
const char *guard_verdict_text(enum guard_verdict verdict);

/* A ratio of times with its bootstrap interval. 1.05: 5 % slower than the base. */
struct guard_interval {
    double ratio, low, high;
};

/* The median; of an even number, the mean of the middle two. Sorts `values`. 0 when n is 0. */
double guard_median(double *values, size_t n);

/* Positions of the arms in one round: `order` gets 2 * N_GUARD_ARMS arms, a palindrome. Six rounds use all six orders,
 * so that every arm stands at every place equally often. */
void guard_order(int32_t round, enum guard_arm order[2 * N_GUARD_ARMS]);

/* ratios [n_cases][n_rounds]: the ratio of each round. All must be positive. Deterministic for a seed (SplitMix64).
 * The interval lies between the percentiles (1 - GUARD_CONFIDENCE) / 2 and its mirror of GUARD_RESAMPLES resamples.
 * STATUS_BOOKS only when memory runs out. */
enum status guard_bootstrap(const double *const *ratios, size_t n_cases, size_t n_rounds, uint64_t seed,
                            struct guard_interval *interval, struct error *err);

/* What the intervals of candidate and control say about a limit of `percent`. `reason` gets one line.
 *
 *     cannot tell   the control's interval reaches the limit, or its mirror image on the fast side: the machine does
 *                   not resolve it; or the candidate's interval holds the limit
 *     exceeds       the candidate's whole interval lies beyond the limit
 *     within        none of it does
 *
 * A control whose interval leaves out 1 shows a bias: the candidate must then clear the limit by that much more, either
 * way. A candidate that is the same build as the base never exceeds: what differs is noise by definition. */
enum guard_verdict guard_judge(const struct guard_interval *candidate, const struct guard_interval *control,
                               double percent, bool same_build, char *reason, size_t reason_size);

/* By how many percent a control's interval strays from 1, on the side where it strays further: what this machine
 * resolves. */
double guard_resolution(const struct guard_interval *control);

#endif
