/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A problem with its answer: the inputs of a case in pristine host copies, and for every row what the two references
 * say. The judge launches it in many ways (rows permuted, alone, other strides) and always compares with this.
 */
#ifndef TOPKCTS_PROBLEM_H
#define TOPKCTS_PROBLEM_H

#include "cases/case.h"
#include "harness/provider.h"
#include "harness/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Owned by itself; clear with problem_clear. */
struct problem {
    struct case_inputs inputs;
    struct topk_claims claims;   /* by which the answer was made */
    int32_t           *lengths;  /* [batch]; effective: negative lengths 0, overlong ones the width */
    int32_t           *counts;   /* [batch]; how many indices the row selects */
    int32_t           *raw;      /* [batch][topk]; the canonical raw indices */
    int32_t           *pages;    /* [batch][topk]; the canonical page indices */
};

/* Takes over `inputs` and computes the answer by both references. STATUS_BOOKS when they differ (a defect of this
 * suite, named with the row) or when memory runs out; `inputs` is then cleared too. */
enum status problem_make(struct problem *problem, struct case_inputs *inputs, const struct topk_claims *claims,
                         struct error *err);

/* A copy of inputs, the caller's to clear. STATUS_BOOKS when memory runs out. */
enum status problem_copy_inputs(const struct case_inputs *from, struct case_inputs *inputs, struct error *err);

/* The same problem with every row's first `length` scores in reverse order, for a launch with other contents. */
enum status problem_reversed(const struct problem *from, struct problem *to, struct error *err);

/* The same problem with every row about half as long, for a graph that is replayed with other lengths. */
enum status problem_shortened(const struct problem *from, struct problem *to, struct error *err);

void problem_clear(struct problem *problem);

/* How many leading slots of a row's outputs the claims promise anything about: topk, or min(length, topk). */
int32_t problem_promised_slots(const struct problem *problem, int32_t row);

/* The logical index behind a page index of a row, by the inverse of its page table: -1 when it maps to no column of
 * the row's width. */
int32_t problem_index_of_page(const struct problem *problem, int32_t row, int32_t page_index);

#endif
