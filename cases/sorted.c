/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generator `sorted`: rows whose order is regular, which random rows never are: a bounded buffer fills with the worst
 * scores first, a running threshold rises with every score or never, one wave meets all winners.
 */
#include "cases/float_bits.h"
#include "cases/generator.h"

enum sorted_param { PARAM_PERIOD, PARAM_SHAPE, PARAM_STEP };

enum sorted_shape { SHAPE_ASCENDING, SHAPE_DESCENDING, SHAPE_ORGAN_PIPE, SHAPE_VALLEY, SHAPE_SAWTOOTH };
enum sorted_step { STEP_ULP, STEP_WIDE };

static const char *const shape_choices[] = {"ascending", "descending", "organ-pipe", "valley", "sawtooth", NULL};
static const char *const step_choices[]  = {"ulp", "wide", NULL};

static const struct case_param_spec params[] = {
    {.name = "period", .low = 1, .high = 1 << 20, .fallback = "64", .meaning = "columns of one tooth of a sawtooth"},
    {.name = "shape", .choices = shape_choices, .fallback = "ascending", .meaning = "how the scores run"},
    {.name = "step", .choices = step_choices, .fallback = "wide", .meaning = "between levels: one ulp, or across bins"},
    {.name = NULL},
};

static int32_t level_at(const struct generator_row *row, int32_t column)
{
    const int32_t from_end = row->length - 1 - column;
    switch ((enum sorted_shape)row->values[PARAM_SHAPE]) {
    case SHAPE_ASCENDING: break;
    case SHAPE_DESCENDING: return from_end;
    case SHAPE_ORGAN_PIPE: return column < from_end ? column : from_end;
    case SHAPE_VALLEY: return column > from_end ? column : from_end;
    case SHAPE_SAWTOOTH: return (int32_t)(column % row->values[PARAM_PERIOD]);
    }
    return column;
}

static void fill(const struct generator_row *row, uint32_t *scores)
{
    /* Wide rows start at -2 and, from 2048 columns on, end at 2; a level is at most an eighth of an octave. */
    const int64_t widest = (INT64_C(1) << 31) / row->length;
    const int64_t wide   = widest < (1 << 20) ? widest : 1 << 20;
    const bool    is_ulp = row->values[PARAM_STEP] == STEP_ULP;
    /* Rows differ in where they start. */
    const uint32_t start = float_bits_step(is_ulp ? 0x3F8CCCCD : 0xC0000000, (int64_t)row->row * 17);
    for (int32_t column = 0; column < row->length; column++) {
        scores[column] = float_bits_step(start, level_at(row, column) * (is_ulp ? 1 : wide));
    }
}

const struct case_generator generator_sorted = {
    .name    = "sorted",
    .summary = "ascending, descending and periodic rows",
    .params  = params,
    .fill    = fill,
};
