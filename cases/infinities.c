/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generator `infinities`: +inf above ordinary scores, -inf below them, or both. For `sign: positive`, `count` is the
 * number of +inf; for `negative`, the number of scores that are *not* -inf (masked rows leave few); for `both`, the
 * number of +inf and again of -inf. `finite: extreme` makes every other finite score FLT_MAX or -FLT_MAX, the values
 * that kernels use as sentinels.
 */
#include "cases/count_choice.h"
#include "cases/float_bits.h"
#include "cases/generator.h"
#include "cases/row_order.h"

enum infinities_param { PARAM_COUNT, PARAM_FINITE, PARAM_ORDER, PARAM_SIGN };

enum infinities_sign { SIGN_POSITIVE, SIGN_NEGATIVE, SIGN_BOTH };
enum infinities_finite { FINITE_ORDINARY, FINITE_EXTREME };

static const char *const sign_choices[]   = {"positive", "negative", "both", NULL};
static const char *const finite_choices[] = {"ordinary", "extreme", NULL};

static const struct case_param_spec params[] = {
    {.name     = "count",
     .choices  = count_choices,
     .fallback = "one",
     .meaning  = "+inf in the row, or finite scores beside -inf, relative to topk"},
    {.name = "finite", .choices = finite_choices, .fallback = "ordinary", .meaning = "normal, or half of them FLT_MAX"},
    {.name = "order", .choices = row_order_choices, .fallback = "shuffled", .meaning = "where the infinities stand"},
    {.name = "sign", .choices = sign_choices, .fallback = "positive", .meaning = "which infinities the row has"},
    {.name = NULL},
};

static uint32_t finite_score(const struct generator_row *row, uint32_t column)
{
    if (row->values[PARAM_FINITE] == FINITE_EXTREME && column % 2 == 0) {
        return row->values[PARAM_SIGN] == SIGN_POSITIVE ? FLOAT_BITS_LARGEST : FLOAT_BITS_MINUS_LARGEST;
    }
    return generator_normal(row, column);
}

static void fill(const struct generator_row *row, uint32_t *scores)
{
    const int32_t count   = count_choice((enum count_choice)row->values[PARAM_COUNT], row->topk, row->length);
    int32_t       plus    = count; /* ranks below this are +inf */
    int32_t       finite  = row->length;
    if (row->values[PARAM_SIGN] == SIGN_NEGATIVE) {
        plus   = 0;
        finite = count;
    } else if (row->values[PARAM_SIGN] == SIGN_BOTH) {
        finite = row->length - count > count ? row->length - count : count;
    }
    struct row_placement placement;
    row_placement_init(&placement, (enum row_order)row->values[PARAM_ORDER], row->key, row->row, row->length);

    for (int32_t rank = 0; rank < row->length; rank++) {
        const uint32_t column = row_placement_column(&placement, (uint32_t)rank);
        if (rank < plus) {
            scores[column] = FLOAT_BITS_PLUS_INFINITY;
        } else {
            scores[column] = rank < finite ? finite_score(row, column) : FLOAT_BITS_MINUS_INFINITY;
        }
    }
}

const struct case_generator generator_infinities = {
    .name      = "infinities",
    .summary   = "+inf and -inf among ordinary scores",
    .uses_topk = true,
    .params    = params,
    .fill      = fill,
};
