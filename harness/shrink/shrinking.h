/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a failing trial small. Delta debugging: remove a part, see whether the same failure is still there, keep what
 * is smaller; parts halve from passes over halves down to single elements (A. Zeller, R. Hildebrandt, "Simplifying and
 * isolating failure-inducing input", IEEE Transactions on Software Engineering 28(2), 2002). What a part is comes from
 * the problem: launches of the sequence, rows, columns with or without their places in the top k, classes of rank (above,
 * at and below the cut), values, bits.
 *
 *     shrinking.c       whether a candidate fails in the same way; the order of passes; the end
 *     shrink_cost.c     which of two trials is smaller
 *     shrink_shape.c    passes over launches, rows, columns, topk, layout
 *     shrink_values.c   passes over values and their order
 *
 * Every candidate that is tried is smaller than the trial it comes from, so that passes end; nothing is random.
 */
#ifndef TOPKCTS_SHRINKING_H
#define TOPKCTS_SHRINKING_H

#include "harness/shrink/literal_problem.h"
#include "harness/trial.h"
#include "harness/trial_session.h"

#include <stdbool.h>
#include <stdint.h>

/* The failure that must stay: for a crash or a timeout the verdict alone counts. */
struct failure {
    enum verdict    verdict;
    enum topk_level level;
    char            kind[TRIAL_KIND_BYTES];
    char            reason[JUDGE_REASON_BYTES];
};

struct shrinking {
    struct trial_session *session;
    const char           *id;     /* of the family that it becomes; part of what fills unused page table entries */
    struct small_trial    now;    /* the smallest that fails so far */
    enum trial_plan       plan;
    int32_t               repeats;
    uint32_t              relations;
    uint64_t              seed;
    struct failure        failure;
    bool                  fresh;  /* a new worker for every trial: what ran before decides */
    int32_t               votes;  /* a trial that never fails in so many attempts does not fail */
    int64_t               deadline; /* in milliseconds of the monotonic clock */
    int64_t               tried, failed;
    int64_t               bound;  /* of `tried`, for the pass that runs; then it ends */
    bool                  out_of_time;
    struct error         *err;
};

/* Runs a trial once and says whether it fails as it must; *judgement (may be NULL) is what came of it. */
bool shrink_fails(struct shrinking *shrinking, const struct small_trial *trial, struct judgement *judgement);

/* Takes over the candidate: it becomes `now` if it is smaller and fails in the same way, and is freed otherwise. */
bool shrink_try(struct shrinking *shrinking, struct small_trial *candidate);

/* A copy of `now` to change; false when there is no memory or no time for another attempt. */
bool shrink_candidate(struct shrinking *shrinking, struct small_trial *candidate);

/* Makes `now` as small as passes can. STATUS_BOOKS when no worker can be had. */
enum status shrink_run(struct shrinking *shrinking);

/* Which of two trials is smaller: fewer launches, rows, columns, topk, plainer layout, fewer values and runs, simpler
 * values, in this order. Negative: a. */
int shrink_compare(const struct small_trial *a, const struct small_trial *b);

/* How much there is to say about a score: 0 for 0, then 1, 2, -1, small whole numbers, few bits, any bits. */
int64_t shrink_score_cost(uint32_t bits);

/* Passes; each says whether it made anything smaller. */
bool shrink_layout(struct shrinking *shrinking);
bool shrink_launches(struct shrinking *shrinking);
bool shrink_rows(struct shrinking *shrinking);
bool shrink_halves(struct shrinking *shrinking);
bool shrink_columns(struct shrinking *shrinking);
bool shrink_topk(struct shrinking *shrinking);
bool shrink_winners(struct shrinking *shrinking);
bool shrink_run_lengths(struct shrinking *shrinking);
bool shrink_to_classes(struct shrinking *shrinking);
bool shrink_values(struct shrinking *shrinking);
bool shrink_order(struct shrinking *shrinking);

/* ---- classes of rank ------------------------------------------------------------------------------------------ */

enum rank_class { RANK_ABOVE, RANK_TIED, RANK_BELOW };

/* The class of every score within a row's length under topk, by the base key; NaN by bits. classes: [length]. A row that
 * is not cut is all above. Needs memory of its own; false without. */
bool shrink_classes(const struct small_row *row, int32_t topk, enum rank_class *classes);

/* Takes columns [from, from + n) out of a row. */
void shrink_remove_columns(struct small_row *row, int64_t from, int64_t n);

/* What no longer fits after rows became shorter: columns and entries beyond the strides. */
void shrink_settle(struct small_problem *problem);

#endif
