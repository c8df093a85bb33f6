/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Independent scores of the distributions that real indexers, or the tests of their kernels, produce.
 */
#ifndef TOPKCTS_CASES_DISTRIBUTION_H
#define TOPKCTS_CASES_DISTRIBUTION_H

#include <stdint.h>

#include "cases/generator.h"

enum distribution {
    DISTRIBUTION_NORMAL,    /* mean 0, variance about 1 */
    DISTRIBUTION_UNIFORM,   /* 2^24 values in [0, 1) */
    DISTRIBUTION_NARROW,    /* [1, 1.25): most of it one 8-bit bin of the float16 key */
    DISTRIBUTION_QUANTISED, /* normal, to 1/64: a few hundred values, many ties */
    DISTRIBUTION_GROUPS,    /* normal, four neighbours equal: scores of blocks of four tokens */
    DISTRIBUTION_RELU,      /* normal less 1.28, negatives cut to zero: nine in ten are +0.0 */
    DISTRIBUTION_BFLOAT16   /* normal, rounded to bfloat16: of 131072 some eighty equal the one at place 2048 */
};

/* The names of the enum, in its order: normal, uniform, narrow, quantised, groups, relu. NULL-terminated. */
extern const char *const distribution_choices[];

/* A decimal scale. The names: 1, 1e4, 1e8, 1e-9. NULL-terminated. */
enum distribution_scale { SCALE_1, SCALE_1E4, SCALE_1E8, SCALE_1E_9 };
extern const char *const distribution_scale_choices[];

/* The bits of the score in `column` of the row. */
uint32_t distribution_score(const struct generator_row *row, int32_t column, enum distribution distribution,
                            enum distribution_scale scale);

#endif
