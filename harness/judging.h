/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One problem being judged: every launch that is made of it, what each shows, and the lowest level missed so far. The
 * part of the judge that knows nothing of where a problem comes from: judge.c launches registry cases with it,
 * judge_trial.c problems in memory.
 */
#ifndef TOPKCTS_JUDGING_H
#define TOPKCTS_JUDGING_H

#include "harness/judge.h"
#include "harness/launch.h"
#include "harness/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JUDGING_MAX_ARRANGEMENTS = 2 };

/* Zero it, set bench, judgement and missed; everything it points to is freed by judging_clear. */
struct judging {
    struct launch_bench        *bench;
    const struct concrete_case *concrete; /* NULL: not of the registry */
    struct judgement           *judgement;
    struct problem              problem, reversed, shortened;
    struct problem             *steps; /* launched before every launch of the problem */
    size_t                      n_steps;
    struct launch_outputs       first[JUDGING_MAX_ARRANGEMENTS]; /* of the problem itself, by arrangement */
    bool                        has_first[JUDGING_MAX_ARRANGEMENTS];
    struct launch_result        last;  /* of the latest launch; its outputs are valid until the next */
    int32_t                    *rows;  /* for forms that place rows: [batch] */
    uint64_t                   *orders; /* the distinct ones seen; NULL where there are none */
    int32_t                     launches, turn;
    bool                        device_fault; /* the device is lost to this process */
    enum topk_level             missed; /* the lowest level missed so far; JUDGING_NOTHING_MISSED: none */
    struct error                error;
};

#define JUDGING_NOTHING_MISSED ((enum topk_level)(TOPK_LEVEL_CANONICAL + 1))

/* What a launch is compared with beyond the reference: nothing; the same launch before (and kept, if it is the first);
 * the problem's own first outputs, row by row. */
enum judging_comparison { COMPARE_NOTHING, COMPARE_REPEAT, COMPARE_ROWS };

/* Notes that a level was missed, unless a lower one already is; true when it is news. */
bool judging_miss(struct judging *judging, enum topk_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A problem ends when it is unsafe or wrong although more was promised. Missing a higher level does not end it: the
 * launches that follow may show that a lower one is missed too, and the level reported must be the one that was
 * reached. */
bool judging_is_decided(const struct judging *judging);

/* One launch, with the steps before it, checked and compared. False when the provider does not support this form. */
bool judging_launch(struct judging *judging, const struct problem *problem, struct launch_form form,
                    enum judging_comparison comparison);

/* What every launch must be: safe, valid, and for `canonical` the reference's bytes. For launches that are made without
 * judging_launch. */
void judging_check(struct judging *judging, const struct problem *problem, const struct launch_form *form,
                   const struct launch_result *result);

/* Whether two outputs of a row agree in every promised slot, or select the same set. */
bool judging_same_bytes(const struct problem *problem, int32_t row, struct row_outputs a, struct row_outputs b);
bool judging_same_set(struct judging *judging, int32_t row, struct row_outputs a, struct row_outputs b);

/* The problem itself, `repeats` times. False when the provider refuses it. */
bool judging_repeat(struct judging *judging, int32_t repeats);

/* The judge's plan from other contents to graphs, as judge.h lists it; for problems of any origin. */
void judging_follow_plan(struct judging *judging);

/* Looks for what was written far from every array, after all launches. */
void judging_look_afar(struct judging *judging);

/* Verdict and level from what was missed; `supported`: whether the provider took the problem at all. */
void judging_conclude(struct judging *judging, bool supported);

void judging_clear(struct judging *judging);

#endif
