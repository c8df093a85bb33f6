/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A count relative to topk, as a parameter: how many scores stand above a plateau, are infinite, are NaN, ...
 */
#ifndef TOPKCTS_CASES_COUNT_CHOICE_H
#define TOPKCTS_CASES_COUNT_CHOICE_H

#include <stdint.h>

/* 0; 1; 10; topk/2; topk-1; topk; topk+1; the whole row. */
enum count_choice {
    COUNT_NONE,
    COUNT_ONE,
    COUNT_THREE,
    COUNT_TEN,
    COUNT_HALF,
    COUNT_ALL_BUT_ONE,
    COUNT_EXACTLY,
    COUNT_ONE_MORE,
    COUNT_WHOLE_ROW
};

/* The names of the enum, in its order: none, one, ten, half, all-but-one, exactly, one-more, whole-row. */
extern const char *const count_choices[];

/* The count, cut to the row: 0 .. length. */
int32_t count_choice(enum count_choice choice, int32_t topk, int32_t length);

#endif
