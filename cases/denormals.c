/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generator `denormals`: the cut falls among float32 denormals. All scores are different values except the zeroes, so a
 * kernel that flushes denormals sees one plateau and takes the lowest indices of it, which are not the best.
 */
#include "cases/float_bits.h"
#include "cases/generator.h"
#include "cases/row_order.h"

enum denormals_param { PARAM_ORDER, PARAM_RANGE, PARAM_SPACING };

enum denormals_range { RANGE_POSITIVE, RANGE_NEGATIVE, RANGE_AROUND_ZERO, RANGE_WITH_NORMALS };
enum denormals_spacing { SPACING_ULP, SPACING_WIDE };

static const char *const range_choices[]   = {"positive", "negative", "around-zero", "with-normals", NULL};
static const char *const spacing_choices[] = {"ulp", "wide", NULL};

static const struct case_param_spec params[] = {
    {.name = "order", .choices = row_order_choices, .fallback = "shuffled", .meaning = "where the ranks stand"},
    {.name     = "range",
     .choices  = range_choices,
     .fallback = "positive",
     .meaning  = "all of one sign; the cut at zero; or the cut between the largest denormal and the smallest normal"},
    {.name = "spacing", .choices = spacing_choices, .fallback = "ulp", .meaning = "multiples of 2^-149, or farther"},
    {.name = NULL},
};

/* A multiple of 2^-149, either sign, as float32: denormals and the smallest normals are just that count. */
static uint32_t from_units(int64_t units)
{
    return units < 0 ? FLOAT_BITS_MINUS_ZERO | (uint32_t)-units : (uint32_t)units;
}

static uint32_t score_at(const struct generator_row *row, int32_t rank)
{
    /* Wide rows use the whole range: rank distances add up to less than 2^23 units. */
    const int64_t widest = FLOAT_BITS_SMALLEST_NORMAL / ((int64_t)row->length + 1);
    const int64_t step   = row->values[PARAM_SPACING] == SPACING_WIDE && widest > 1 ? widest : 1;
    const int64_t worse  = (int64_t)row->length - rank; /* >= 1 */
    const int64_t taken  = row->topk < row->length ? row->topk : row->length;
    const int64_t past   = taken - 1 - rank; /* 0 is the last winner */
    switch ((enum denormals_range)row->values[PARAM_RANGE]) {
    case RANGE_NEGATIVE: return from_units(-((int64_t)rank + 1) * step);
    case RANGE_AROUND_ZERO: return from_units(past * step);
    case RANGE_WITH_NORMALS: return from_units(FLOAT_BITS_SMALLEST_NORMAL + past * step);
    case RANGE_POSITIVE: break;
    }
    return from_units(worse * step);
}

static void fill(const struct generator_row *row, uint32_t *scores)
{
    struct row_placement placement;
    row_placement_init(&placement, (enum row_order)row->values[PARAM_ORDER], row->key, row->row, row->length);
    for (int32_t rank = 0; rank < row->length; rank++) {
        scores[row_placement_column(&placement, (uint32_t)rank)] = score_at(row, rank);
    }
}

const struct case_generator generator_denormals = {
    .name      = "denormals",
    .summary   = "denormals at the cut, alone, around zero and beside the smallest normals",
    .uses_topk = true,
    .params    = params,
    .fill      = fill,
};
