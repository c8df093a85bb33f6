/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fuzzing run: problems by number, to several workers at once, and what came of them.
 *
 * What is found is told apart by kind (verdict, level, kind of reason) and, within a kind, by shape. Each is tried again
 * in a fresh worker when the search is over: alone, behind the problems that were launched before it, and many times.
 */
#ifndef TOPKCTS_FUZZ_RUN_H
#define TOPKCTS_FUZZ_RUN_H

#include "harness/fuzz/fuzz_problem.h"
#include "harness/trial_session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FUZZ_MAX_KINDS = 64, FUZZ_MAX_SHAPES = 6, FUZZ_BEFORE = 31 };

/* How a finding could be had again. */
enum fuzz_again {
    FUZZ_AGAIN_UNTRIED,
    FUZZ_AGAIN_ALONE,    /* each time, alone in a fresh worker */
    FUZZ_AGAIN_BEHIND,   /* behind other problems */
    FUZZ_AGAIN_REPEATED, /* in one of many launches */
    FUZZ_AGAIN_NEVER
};

/* "each time, alone in a fresh worker", ... */
const char *fuzz_again_text(enum fuzz_again again);

/* The first problem of a kind with a shape. */
struct fuzz_example {
    int64_t           number;
    int64_t           times;
    struct fuzz_shape shape;
    struct judgement  judgement;
    int64_t           before[FUZZ_BEFORE]; /* problems that its worker had before it, the nearest first */
    size_t            n_before;
    enum fuzz_again   again;
    int32_t           n_needed;  /* BEHIND: how many of those; REPEATED: launches */
    char              file[512]; /* where it was written; "" */
};

struct fuzz_kind {
    enum verdict        verdict;
    enum topk_level     level;
    char                kind[TRIAL_KIND_BYTES];
    int64_t             times;
    double              seconds; /* when it was first seen */
    struct fuzz_example examples[FUZZ_MAX_SHAPES];
    size_t              n_examples;
    int64_t             n_other_shapes; /* sightings of shapes for which there was no room */
};

/* What to do, and what came of it. */
struct fuzz_run {
    const struct settings *settings;
    const char            *provider, *device; /* as named; device may be NULL */
    struct fuzz_generator  generator;
    int64_t                first, count;      /* problems first .. first + count - 1; count 0: until the time is up */
    double                 seconds;           /* 0: no limit */
    bool                   fail_fast;

    int64_t           problems, judged, skipped, errors, launches, crashes, timeouts;
    int64_t           relations[N_TRIAL_RELATIONS];
    int64_t           full_plans, sequences;
    double            elapsed, cpu_seconds; /* of the search; processor time of its workers and of this process */
    struct fuzz_kind  kinds[FUZZ_MAX_KINDS];
    size_t            n_kinds;
    int64_t           n_other_kinds;
    unsigned char     seen[N_FUZZ_SHAPES];
    char              skip_reason[256], error_reason[256], close_cause[256];
    const char       *stopped; /* why before the time was up; NULL */
    bool              is_interrupted; /* by a signal: what was not searched is not known to be right */
};

/* Searches. `session`: one that is open on the provider; others are opened beside it as settings->jobs says, on host and
 * sim. They are closed again, `session` is not. */
enum status fuzz_search(struct fuzz_run *run, struct trial_session *session, struct error *err);

/* Tries every example again in fresh workers of `session`, and says how it can be had. */
enum status fuzz_confirm(struct fuzz_run *run, struct trial_session *session, struct error *err);

/* The trial of an example as it can be had again: alone, or behind others; *problem owns its inputs. */
enum status fuzz_example_trial(const struct fuzz_run *run, const struct fuzz_example *example,
                               struct fuzz_problem *problem, struct error *err);

/* Shapes that were seen. */
int32_t fuzz_shapes_seen(const struct fuzz_run *run);

#endif
