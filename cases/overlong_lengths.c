/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generator `overlong-lengths`: some rows tell the kernel a length beyond the row width. Such a row is as long as the
 * width; +inf stands beyond it, up to the stride. The others are ordinary rows.
 */
#include "cases/generator.h"

enum overlong_lengths_param { PARAM_EXCESS, PARAM_ROWS };

enum overlong_lengths_rows { ROWS_ODD, ROWS_EVEN, ROWS_EVERY };

static const char *const rows_choices[] = {"odd", "even", "every", NULL};

static const struct case_param_spec params[] = {
    {.name     = "excess",
     .low      = 1,
     .high     = INT32_MAX,
     .fallback = "1",
     .meaning  = "told length less the row width; stops at INT32_MAX"},
    {.name = "rows", .choices = rows_choices, .fallback = "odd", .meaning = "which rows are overlong"},
    {.name = NULL},
};

static void fill(const struct generator_row *row, uint32_t *scores)
{
    for (int32_t column = 0; column < row->length; column++) {
        scores[column] = generator_normal(row, (uint32_t)column);
    }
}

static int32_t told_length(const struct generator_row *row, int32_t width)
{
    const int32_t parity = row->values[PARAM_ROWS] == ROWS_ODD ? 1 : 0;
    if (row->values[PARAM_ROWS] != ROWS_EVERY && row->row % 2 != parity) {
        return row->length;
    }
    const int64_t told = width + row->values[PARAM_EXCESS];
    return told > INT32_MAX ? INT32_MAX : (int32_t)told;
}

const struct case_generator generator_overlong_lengths = {
    .name        = "overlong-lengths",
    .summary     = "rows told to be longer than the row width",
    .params      = params,
    .fill        = fill,
    .told_length = told_length,
};
