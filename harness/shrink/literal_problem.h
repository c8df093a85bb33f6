/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Problems in the form in which they are made small: rows of their own lengths, and a layout as the parameters of the
 * generator `literal` have it. What is launched is made from this by that generator, so that a result put into a
 * registry is what was tried, bit for bit.
 */
#ifndef TOPKCTS_LITERAL_PROBLEM_H
#define TOPKCTS_LITERAL_PROBLEM_H

#include "cases/case.h"
#include "harness/arena.h"
#include "harness/registry.h"
#include "harness/status.h"

#include <stdbool.h>
#include <stdint.h>

struct small_row {
    uint32_t *scores;          /* [columns]; the first `length` are the row's */
    int64_t   length, columns; /* +inf stands beyond */
    int32_t   told;            /* negative, or beyond the width; else it is `length` */
    int32_t  *pages;           /* [n_pages]; NULL: made by `table` */
    int64_t   n_pages;
};

/* How page tables are made that no row gives. */
enum small_table { TABLE_IDENTITY, TABLE_REVERSED, TABLE_PER_ROW, TABLE_GIVEN };

struct small_problem {
    struct small_row *rows;
    int32_t           n_rows, topk, page_size;
    int64_t           width_slack, stride_extra, table_stride_extra;
    int32_t           base_shift;
    enum small_table  table;
};

/* The problems of a trial, the judged one last. Owned by itself. */
struct small_trial {
    struct small_problem *problems;
    int32_t               n_problems;
    enum outputs          outputs;
};

/* From inputs: with every column and every entry of the page table. STATUS_BOOKS without memory. */
enum status small_trial_from(struct small_trial *trial, const struct case_inputs *problems, int32_t n_problems,
                             enum outputs outputs, struct error *err);

/* A copy of its own. STATUS_BOOKS without memory; *to is then empty. */
enum status small_trial_copy(struct small_trial *to, const struct small_trial *from, struct error *err);
void        small_trial_clear(struct small_trial *trial);
void        small_problem_clear(struct small_problem *problem);
void        small_row_clear(struct small_row *row);

/* The parameters of generator `literal` that make this problem: at most SMALL_MAX_PARAMS, sorted by name, texts in the
 * arena. Returns how many. */
enum { SMALL_MAX_PARAMS = 8 };
size_t small_problem_params(const struct small_problem *problem, struct arena *arena,
                            struct case_param params[SMALL_MAX_PARAMS]);

/* The inputs of one problem, as the registry would make them for the family `id`. STATUS_USAGE when that is no legal
 * problem (the message is the generator's). The caller clears *inputs. */
enum status small_problem_inputs(const struct small_problem *problem, const char *id, struct case_inputs *inputs,
                                 struct error *err);

/* The longest row's length, all lengths together, and how many runs of equal scores their text has. */
int64_t small_problem_longest(const struct small_problem *problem);
int64_t small_problem_columns(const struct small_problem *problem);

#endif
