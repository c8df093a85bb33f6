/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generator `signed-zeroes`: a plateau of -0.0 and +0.0, which are one score. By rank: positives, zeroes, negatives.
 * The signs of the zeroes go by column, because a kernel that ranks -0.0 below +0.0 is wrong only where a -0.0 stands
 * before a +0.0. `zeroes: few` puts the cut below the zeroes, `above: exactly` puts it above them. With `neighbours:
 * tiny` the other scores round to a zero of their own sign in float16, so that only the full key tells them apart; with
 * `neighbours: denormal` the next score on either side of the zeroes is the smallest that float32 has.
 */
#include "cases/count_choice.h"
#include "cases/float_bits.h"
#include "cases/generator.h"
#include "cases/random.h"
#include "cases/row_order.h"

enum zeroes_param { PARAM_ABOVE, PARAM_NEIGHBOURS, PARAM_ORDER, PARAM_SIGNS, PARAM_ZEROES };

enum zeroes_signs { SIGNS_ALTERNATING, SIGNS_NEGATIVE, SIGNS_NEGATIVE_FIRST, SIGNS_NEGATIVE_LAST, SIGNS_RANDOM };
enum zeroes_share { SHARE_REST, SHARE_MOST, SHARE_FEW };
enum zeroes_neighbours { NEIGHBOURS_ORDINARY, NEIGHBOURS_TINY, NEIGHBOURS_DENORMAL };

static const char *const signs_choices[] = {"alternating",   "all-negative", "negative-first",
                                            "negative-last", "random",       NULL};
static const char *const share_choices[]      = {"rest", "most", "few", NULL};
static const char *const neighbours_choices[] = {"ordinary", "tiny", "denormal", NULL};

static const struct case_param_spec params[] = {
    {.name = "above", .choices = count_choices, .fallback = "none", .meaning = "positive scores, relative to topk"},
    {.name     = "neighbours",
     .choices  = neighbours_choices,
     .fallback = "ordinary",
     .meaning  = "size of the other scores: about 1; below 2^-25; or multiples of 2^-149 from 1 on"},
    {.name = "order", .choices = row_order_choices, .fallback = "shuffled", .meaning = "where the ranks stand"},
    {.name = "signs", .choices = signs_choices, .fallback = "alternating", .meaning = "the sign of a zero by column"},
    {.name     = "zeroes",
     .choices  = share_choices,
     .fallback = "rest",
     .meaning  = "all scores that are not positive; three in four of them; or fewer than slots are left"},
    {.name = NULL},
};

static bool zero_is_negative(const struct generator_row *row, uint32_t column)
{
    switch ((enum zeroes_signs)row->values[PARAM_SIGNS]) {
    case SIGNS_NEGATIVE: return true;
    case SIGNS_NEGATIVE_FIRST: return column < (uint32_t)row->length / 2;
    case SIGNS_NEGATIVE_LAST: return column >= (uint32_t)row->length / 2;
    case SIGNS_RANDOM: return (random_bits(row->key, (uint64_t)row->row, column) & 1) != 0;
    case SIGNS_ALTERNATING: break;
    }
    return column % 2 == 0;
}

/* The step-th smallest positive neighbour, from 1 on; they are all different. */
static uint32_t neighbour(const struct generator_row *row, uint32_t step)
{
    if (row->values[PARAM_NEIGHBOURS] == NEIGHBOURS_DENORMAL) {
        return step;
    }
    if (row->values[PARAM_NEIGHBOURS] == NEIGHBOURS_TINY) {
        return 0x31000000 + step; /* from 2^-29 up; 2^-25, where float16 rounds up to a denormal, is 2^25 steps away */
    }
    return float_bits_step(0x3F000000, (int64_t)step * 64);
}

static void fill(const struct generator_row *row, uint32_t *scores)
{
    const int32_t above = count_choice((enum count_choice)row->values[PARAM_ABOVE], row->topk, row->length);
    const int32_t rest  = row->length - above;
    int32_t       zeroes = rest;
    if (row->values[PARAM_ZEROES] == SHARE_MOST) {
        zeroes = rest - rest / 4;
    } else if (row->values[PARAM_ZEROES] == SHARE_FEW) {
        const int32_t slots = row->topk > above ? row->topk - above : 0;
        zeroes              = slots / 2 < rest ? slots / 2 : rest;
    }
    struct row_placement placement;
    row_placement_init(&placement, (enum row_order)row->values[PARAM_ORDER], row->key, row->row, row->length);

    for (int32_t rank = 0; rank < row->length; rank++) {
        const uint32_t column = row_placement_column(&placement, (uint32_t)rank);
        if (rank < above) {
            scores[column] = neighbour(row, (uint32_t)(above - rank));
        } else if (rank < above + zeroes) {
            scores[column] = zero_is_negative(row, column) ? FLOAT_BITS_MINUS_ZERO : 0;
        } else {
            scores[column] = FLOAT_BITS_MINUS_ZERO | neighbour(row, (uint32_t)(rank - above - zeroes + 1));
        }
    }
}

const struct case_generator generator_signed_zeroes = {
    .name      = "signed-zeroes",
    .summary   = "-0.0 and +0.0 at, above or below the cut",
    .uses_topk = true,
    .params    = params,
    .fill      = fill,
};
