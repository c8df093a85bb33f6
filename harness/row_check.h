/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict on one row of one launch: is it a valid answer, is it the reference's set, is it the reference's bytes;
 * and in words, what is wrong with it.
 */
#ifndef TOPKCTS_ROW_CHECK_H
#define TOPKCTS_ROW_CHECK_H

#include "harness/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ROW_TEXT_BYTES = 256, ROW_LISTED_INDICES = 8 };

/* One row's outputs; either may be NULL when it was not asked for. [topk] each. */
struct row_outputs {
    const int32_t *pages;
    const int32_t *raw;
};

struct row_check {
    bool written;   /* no promised slot still holds the poison */
    bool valid;     /* level valid */
    bool exact_set; /* the reference's set */
    bool canonical; /* the reference's bytes in every promised slot */
    char text[ROW_TEXT_BYTES]; /* the first thing that is wrong, up to canonical; "" when nothing is */
};

/* What differs from the reference, for people. */
struct row_difference {
    int32_t row, length, topk;
    char    cut_value[48]; /* "1.25 (0x3fa00000)", "none" for a row that is not cut */
    int64_t cut_equal;     /* how many scores of the row equal it */
    int64_t n_missing, n_extra;
    int32_t missing[ROW_LISTED_INDICES], extra[ROW_LISTED_INDICES]; /* the first ones, ascending */
    char    text[ROW_TEXT_BYTES];
};

/* Checks row `row` of the problem. `poison` is what the outputs were filled with. `scratch` holds 4 * topk int32. */
struct row_check row_check(const struct problem *problem, int32_t row, struct row_outputs outputs, uint32_t poison,
                           int32_t *scratch);

/* The logical indices behind a row's outputs, sorted ascending, into sorted[0 .. count-1] for the first `count` slots;
 * -1 where a slot maps to nothing. */
void row_sorted_set(const struct problem *problem, int32_t row, struct row_outputs outputs, int32_t *sorted);

/* Fills *difference for a row that was found wrong. `scratch`: topk int32. */
void row_explain(const struct problem *problem, int32_t row, struct row_outputs outputs, const char *text,
                 int32_t *scratch, struct row_difference *difference);

#endif
