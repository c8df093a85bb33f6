/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generator `overflow`: many different scores inside one coarse bin of the float16 key, more than a bounded candidate
 * buffer holds. By rank: scores above the bin, its members, scores below. Members are all different as long as the bin
 * has values, so clipping any winner is a wrong answer and not another choice among equals. `order: best-last` makes a
 * buffer that fills in arrival order lose the best of them; `best-first` does the same to a scan from the end.
 * `normal-1e8` and `normal-1e-9` are plain normal rows of that scale; the other parameters have no part in them.
 * Scores above the bins `integers` and `huge` share float16's infinity with the members.
 */
#include "cases/count_choice.h"
#include "cases/distribution.h"
#include "cases/float_bits.h"
#include "cases/generator.h"
#include "cases/row_order.h"

enum overflow_param { PARAM_ABOVE, PARAM_BIN, PARAM_BITS, PARAM_MEMBERS, PARAM_ORDER, PARAM_SPACING };

enum overflow_bin { BIN_ONE, BIN_MINUS_ONE, BIN_INTEGERS, BIN_HUGE, BIN_TINY, BIN_NORMAL_1E8, BIN_NORMAL_1E_9 };
enum overflow_spacing { SPACING_EVEN, SPACING_ULP };

static const char *const bin_choices[]     = {"one",  "minus-one",  "integers",    "huge",
                                              "tiny", "normal-1e8", "normal-1e-9", NULL};
static const char *const spacing_choices[] = {"even", "ulp", NULL};

static const struct case_param_spec params[] = {
    {.name = "above", .choices = count_choices, .fallback = "none", .meaning = "scores above the bin, of topk"},
    {.name     = "bin",
     .choices  = bin_choices,
     .fallback = "one",
     .meaning  = "the bin of 1.1 or -1.1; whole numbers from 65520 up; all above 65520; all that round to +0 in "
                 "float16; or normal scores so large or small that float16 tells few apart"},
    {.name = "bits", .low = 1, .high = 16, .fallback = "8", .meaning = "of the coarse key, for bins one, minus-one"},
    {.name = "members", .low = 1, .high = INT32_MAX, .fallback = "auto", .meaning = "scores inside the bin"},
    {.name = "order", .choices = row_order_choices, .fallback = "shuffled", .meaning = "where the ranks stand"},
    {.name     = "spacing",
     .choices  = spacing_choices,
     .fallback = "even",
     .meaning  = "members spread over the bin, or neighbours in the last place"},
    {.name = NULL},
};

/* Order codes of the bin's ends, both inside. */
struct bin_range {
    uint32_t low;
    uint32_t high;
};

static struct bin_range range_of_bin(const struct generator_row *row)
{
    const int        bits  = (int)row->values[PARAM_BITS];
    const uint32_t   plus  = float_coarse_bin(0x3F8CCCCD, bits); /* 1.1 */
    const uint32_t   minus = float_coarse_bin(0xBF8CCCCD, bits);
    struct bin_range range = {0, 0};
    switch ((enum overflow_bin)row->values[PARAM_BIN]) {
    case BIN_ONE: float_coarse_bin_range(plus, bits, &range.low, &range.high); break;
    case BIN_MINUS_ONE: float_coarse_bin_range(minus, bits, &range.low, &range.high); break;
    case BIN_INTEGERS: /* 65520 to 2^24, the last run of whole numbers; float16 has +inf for all of them */
        range.low  = float_code(float_bits_from_scaled(65520, 0));
        range.high = float_code(float_bits_from_scaled(1 << 24, 0));
        break;
    case BIN_HUGE:
        range.low  = float_code(float_bits_from_scaled(65520, 0));
        range.high = float_code(FLOAT_BITS_LARGEST);
        break;
    case BIN_TINY: /* above 0 up to 2^-25, which rounds to even: down */
        range.low  = FLOAT_CODE_PLUS_ZERO + 1;
        range.high = float_code(float_bits_from_scaled(1, -25));
        break;
    case BIN_NORMAL_1E8:
    case BIN_NORMAL_1E_9: break; /* no single bin; see fill */
    }
    /* A bin of one or two bits reaches the infinities, which are not members. */
    range.low  = range.low <= FLOAT_CODE_MINUS_INFINITY ? FLOAT_CODE_MINUS_INFINITY + 1 : range.low;
    range.high = range.high >= FLOAT_CODE_PLUS_INFINITY ? FLOAT_CODE_PLUS_INFINITY - 1 : range.high;
    return range;
}

/* The member of rank `rank` (0 is the best) of `members`. */
static uint32_t member(const struct generator_row *row, const struct bin_range *range, int32_t rank, int32_t members)
{
    const int64_t from_worst = (int64_t)members - 1 - rank;
    const int64_t values     = (int64_t)range->high - range->low + 1;
    if (row->values[PARAM_BIN] == BIN_INTEGERS) {
        const int64_t whole = (1 << 24) - 65520 + 1;
        return float_bits_from_scaled(65520 + from_worst % whole, 0);
    }
    if (row->values[PARAM_SPACING] == SPACING_ULP) {
        return float_bits_from_code(range->low + (uint32_t)(from_worst % values));
    }
    return float_bits_from_code(range->low + (uint32_t)(from_worst * values / members));
}

/* `step` values out of the bin, from 1 on: upwards stops at +inf, downwards at -FLT_MAX. */
static uint32_t outside(const struct bin_range *range, bool up, int64_t step)
{
    const int64_t apart = 4096;
    int64_t       code  = up ? range->high + 1 + (step - 1) * apart : range->low - 1 - (step - 1) * apart;
    code                = code > FLOAT_CODE_PLUS_INFINITY ? FLOAT_CODE_PLUS_INFINITY : code;
    code                = code <= FLOAT_CODE_MINUS_INFINITY ? FLOAT_CODE_MINUS_INFINITY + 1 : code;
    return float_bits_from_code((uint32_t)code);
}

static void fill_normal(const struct generator_row *row, enum distribution_scale scale, uint32_t *scores)
{
    for (int32_t column = 0; column < row->length; column++) {
        scores[column] = distribution_score(row, column, DISTRIBUTION_NORMAL, scale);
    }
}

static void fill(const struct generator_row *row, uint32_t *scores)
{
    if (row->values[PARAM_BIN] == BIN_NORMAL_1E8 || row->values[PARAM_BIN] == BIN_NORMAL_1E_9) {
        fill_normal(row, row->values[PARAM_BIN] == BIN_NORMAL_1E8 ? SCALE_1E8 : SCALE_1E_9, scores);
        return;
    }
    const struct bin_range range = range_of_bin(row);
    const int32_t          above = count_choice((enum count_choice)row->values[PARAM_ABOVE], row->topk, row->length);
    const int32_t          rest  = row->length - above;
    const int64_t          asked = row->values[PARAM_MEMBERS];
    const int32_t          members = asked == GENERATOR_AUTO || asked > rest ? rest : (int32_t)asked;

    struct row_placement placement;
    row_placement_init(&placement, (enum row_order)row->values[PARAM_ORDER], row->key, row->row, row->length);
    for (int32_t rank = 0; rank < row->length; rank++) {
        uint32_t bits;
        if (rank < above) {
            bits = outside(&range, true, (int64_t)above - rank);
        } else if (rank < above + members) {
            bits = member(row, &range, rank - above, members);
        } else {
            bits = outside(&range, false, (int64_t)rank - above - members + 1);
        }
        scores[row_placement_column(&placement, (uint32_t)rank)] = bits;
    }
}

const struct case_generator generator_overflow = {
    .name      = "overflow",
    .summary   = "more different scores in one coarse bin than a candidate buffer holds",
    .uses_topk = true,
    .params    = params,
    .fill      = fill,
};
