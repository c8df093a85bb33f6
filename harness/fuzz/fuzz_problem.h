/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The n-th problem of a seed: one trial, made of shapes and row patterns that selection kernels are known to trip over.
 * A pure function of (seed, number, the generator's settings): the same on every machine.
 *
 * A generator knows three things of the provider, which a replay has to give it again: its claims (what may be asked),
 * its declared limits, and limits that were suspected (found by fuzz_probe.h or given with --limit). Only every
 * FUZZ_LIMIT_EVERY-th problem looks at limits, so that all others do not change with them.
 */
#ifndef TOPKCTS_FUZZ_PROBLEM_H
#define TOPKCTS_FUZZ_PROBLEM_H

#include "harness/fuzz/fuzz_scores.h"
#include "harness/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FUZZ_LIMIT_EVERY = 4, FUZZ_MAX_LIMITS = 64, FUZZ_SHAPE_BYTES = 96 };

/* Row lengths as classes. */
#define FUZZ_LENGTH_LIST(X)                                                                                          \
    X(EMPTY, "empty")                                                                                                \
    X(SHORT, "shorter than topk")                                                                                    \
    X(EXACT, "as long as topk")                                                                                      \
    X(NEXT, "just longer than topk")                                                                                 \
    X(MEDIUM, "up to 4096")                                                                                          \
    X(LONG, "up to 65535")                                                                                           \
    X(HUGE, "beyond 65535")                                                                                          \
    X(ODD, "negative or overlong")

/* Who stands in the batch. */
#define FUZZ_BATCH_LIST(X)                                                                                           \
    X(ALONE, "one row")                                                                                              \
    X(ALIKE, "rows alike")                                                                                           \
    X(MIXED, "short and long rows")                                                                                  \
    X(MANY, "32 rows or more")

enum fuzz_length {
#define FUZZ_LENGTH_ENUM(name, text) FUZZ_LENGTH_##name,
    FUZZ_LENGTH_LIST(FUZZ_LENGTH_ENUM)
#undef FUZZ_LENGTH_ENUM
    N_FUZZ_LENGTHS
};

enum fuzz_batch {
#define FUZZ_BATCH_ENUM(name, text) FUZZ_BATCH_##name,
    FUZZ_BATCH_LIST(FUZZ_BATCH_ENUM)
#undef FUZZ_BATCH_ENUM
    N_FUZZ_BATCHES
};

/* What a problem is about, for coverage and for telling findings apart. */
struct fuzz_shape {
    enum fuzz_pattern pattern; /* of the main row */
    enum fuzz_length  length;  /* of the main row */
    enum fuzz_batch   batch;
    bool              is_sequence; /* launches before it share its workspace */
};

/* How many shapes there are, and the number of one. */
enum { N_FUZZ_SHAPES = N_FUZZ_PATTERNS * N_FUZZ_LENGTHS * N_FUZZ_BATCHES * 2 };
int32_t fuzz_shape_number(const struct fuzz_shape *shape);

/* "ties across the cut, up to 4096, one row, in a sequence" */
void fuzz_shape_text(const struct fuzz_shape *shape, char text[FUZZ_SHAPE_BYTES]);

/* Everything that determines the problems beside their numbers. */
struct fuzz_generator {
    uint64_t           seed;
    struct topk_claims claims;
    int32_t            max_length; /* no row is longer */
    bool               is_slow;    /* a simulator: fewer and shorter rows */
    bool               has_beside; /* every second problem is put to relation `beside`; nothing else changes */
    int32_t            limits[FUZZ_MAX_LIMITS]; /* declared and suspected; ascending, distinct */
    size_t             n_limits;
};

/* Adds a limit; those below 2, beyond max_length, or more than there is room for are left out. */
void fuzz_add_limit(struct fuzz_generator *generator, int64_t limit);

/* One problem, owned by itself. */
struct fuzz_problem {
    int64_t            number;
    struct fuzz_shape  shape;
    struct trial       trial;
    struct case_inputs inputs[TRIAL_MAX_PROBLEMS];
};

/* Makes problem `number`. STATUS_BOOKS when memory runs out; *problem is then empty. Zero it or clear it first. */
enum status fuzz_problem_make(const struct fuzz_generator *generator, int64_t number, struct fuzz_problem *problem,
                              struct error *err);
void        fuzz_problem_clear(struct fuzz_problem *problem);

#endif
