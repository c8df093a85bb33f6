/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generator `random`: independent scores. It uses neither topk nor any axis but the length, so all variants of a case
 * share their scores.
 */
#include "cases/distribution.h"
#include "cases/generator.h"

enum random_param { PARAM_DISTRIBUTION, PARAM_SCALE };

static const struct case_param_spec params[] = {
    {.name     = "distribution",
     .choices  = distribution_choices,
     .fallback = "normal",
     .meaning  = "normal; uniform in [0,1); narrow in [1,1.25); normal to 1/64; in equal groups of four; relu; bfloat16"},
    {.name = "scale", .choices = distribution_scale_choices, .fallback = "1", .meaning = "every score times this"},
    {.name = NULL},
};

static void fill(const struct generator_row *row, uint32_t *scores)
{
    for (int32_t column = 0; column < row->length; column++) {
        scores[column] = distribution_score(row, column, (enum distribution)row->values[PARAM_DISTRIBUTION],
                                            (enum distribution_scale)row->values[PARAM_SCALE]);
    }
}

const struct case_generator generator_random = {
    .name    = "random",
    .summary = "independent scores: normal, uniform, quantised, groups of four, ReLU",
    .params  = params,
    .fill    = fill,
};
