/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generator `nan`: NaNs among ordinary scores. `count` NaNs, or with `cut` so many that topk-1 ordinary scores remain:
 * where NaNs rank lowest, exactly one of them gets a slot. `order` says where they stand, as if they were the best.
 * With `others: infinities` two in three of the other scores are +inf or -inf, the neighbours of NaN in the bit order.
 */
#include "cases/count_choice.h"
#include "cases/float_bits.h"
#include "cases/generator.h"
#include "cases/random.h"
#include "cases/row_order.h"

enum nan_param { PARAM_COUNT, PARAM_ORDER, PARAM_OTHERS, PARAM_PAYLOAD, PARAM_SIGN };

enum nan_others { OTHERS_ORDINARY, OTHERS_INFINITIES };
enum nan_payload { PAYLOAD_QUIET, PAYLOAD_SIGNALLING, PAYLOAD_ALL_ONES, PAYLOAD_RANDOM };
enum nan_sign { SIGN_POSITIVE, SIGN_NEGATIVE, SIGN_BOTH };

/* The names of count_choices, and one that only makes sense here. */
static const char *const nan_counts[] = {"none",        "one",     "three",    "ten",       "half",
                                         "all-but-one", "exactly", "one-more", "whole-row", "cut", NULL};
static const char *const others_choices[]  = {"ordinary", "infinities", NULL};
static const char *const payload_choices[] = {"quiet", "signalling", "all-ones", "random", NULL};
static const char *const sign_choices[]    = {"positive", "negative", "both", NULL};

#define COUNT_CUT (COUNT_WHOLE_ROW + 1)

static const struct case_param_spec params[] = {
    {.name = "count", .choices = nan_counts, .fallback = "one", .meaning = "NaNs in the row, relative to topk"},
    {.name = "order", .choices = row_order_choices, .fallback = "shuffled", .meaning = "where the NaNs stand"},
    {.name     = "others",
     .choices  = others_choices,
     .fallback = "ordinary",
     .meaning  = "the other scores: normal, or mostly infinities of both signs"},
    {.name = "payload", .choices = payload_choices, .fallback = "quiet", .meaning = "the bits below the exponent"},
    {.name = "sign", .choices = sign_choices, .fallback = "positive", .meaning = "their sign bits"},
    {.name = NULL},
};

static uint32_t nan_bits(const struct generator_row *row, uint32_t column)
{
    const uint64_t bits     = random_bits(random_key_text(row->key, "nan"), (uint64_t)row->row, column);
    uint32_t       mantissa = 0x400000;
    switch ((enum nan_payload)row->values[PARAM_PAYLOAD]) {
    case PAYLOAD_QUIET: break;
    case PAYLOAD_SIGNALLING: mantissa = 1; break;
    case PAYLOAD_ALL_ONES: mantissa = 0x7FFFFF; break;
    case PAYLOAD_RANDOM: mantissa = 1 + random_below(bits, 0x7FFFFF); break;
    }
    bool negative = row->values[PARAM_SIGN] == SIGN_NEGATIVE;
    if (row->values[PARAM_SIGN] == SIGN_BOTH) {
        negative = (bits & 1) != 0;
    }
    return (negative ? FLOAT_BITS_MINUS_ZERO : 0) | FLOAT_BITS_PLUS_INFINITY | mantissa;
}

static uint32_t other_bits(const struct generator_row *row, uint32_t column)
{
    if (row->values[PARAM_OTHERS] == OTHERS_INFINITIES && column % 3 != 2) {
        return column % 3 == 0 ? FLOAT_BITS_PLUS_INFINITY : FLOAT_BITS_MINUS_INFINITY;
    }
    return generator_normal(row, column);
}

static void fill(const struct generator_row *row, uint32_t *scores)
{
    int32_t count;
    if (row->values[PARAM_COUNT] == COUNT_CUT) {
        count = row->length >= row->topk ? row->length - row->topk + 1 : 0;
    } else {
        count = count_choice((enum count_choice)row->values[PARAM_COUNT], row->topk, row->length);
    }
    struct row_placement placement;
    row_placement_init(&placement, (enum row_order)row->values[PARAM_ORDER], row->key, row->row, row->length);

    for (int32_t rank = 0; rank < row->length; rank++) {
        const uint32_t column = row_placement_column(&placement, (uint32_t)rank);
        scores[column]        = rank < count ? nan_bits(row, column) : other_bits(row, column);
    }
}

const struct case_generator generator_nan = {
    .name      = "nan",
    .summary   = "NaNs of either sign and any payload among ordinary scores",
    .uses_topk = true,
    .params    = params,
    .fill      = fill,
};
