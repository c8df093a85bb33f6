/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generator `negative-lengths`: some rows tell the kernel a negative length, as real schedulers do for padded rows.
 * Such a row is empty: it holds nothing but the +inf beyond its end. The others are ordinary rows.
 */
#include "cases/generator.h"

enum negative_lengths_param { PARAM_ROWS, PARAM_TOLD };

enum negative_lengths_rows { ROWS_ODD, ROWS_EVEN, ROWS_EVERY, ROWS_ONE_IN_31 };

static const char *const rows_choices[] = {"odd", "even", "every", "one-in-31", NULL};

static const struct case_param_spec params[] = {
    {.name = "rows", .choices = rows_choices, .fallback = "odd", .meaning = "which rows are negative"},
    {.name = "told", .low = INT32_MIN, .high = -1, .fallback = "-1", .meaning = "the length the kernel is given"},
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
    (void)width;
    if (row->values[PARAM_ROWS] == ROWS_ONE_IN_31) {
        return row->row % 31 == 30 ? (int32_t)row->values[PARAM_TOLD] : row->length;
    }
    const int32_t parity = row->values[PARAM_ROWS] == ROWS_ODD ? 1 : 0;
    if (row->values[PARAM_ROWS] == ROWS_EVERY || row->row % 2 == parity) {
        return (int32_t)row->values[PARAM_TOLD];
    }
    return row->length;
}

const struct case_generator generator_negative_lengths = {
    .name        = "negative-lengths",
    .summary     = "rows with a negative length beside ordinary ones",
    .params      = params,
    .fill        = fill,
    .told_length = told_length,
};
