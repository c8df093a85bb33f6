/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generator `bin-edges`: scores where the coarse float16 key and the full float32 key meet badly.
 *
 *   drift, one   consecutive bit patterns from 0x3805ED27 and from 1.0: a threshold that is rebuilt from a coarse byte
 *                and a fine byte of different keys drifts (flashinfer-ai/flashinfer#2605)
 *   every-edge   the lowest score of a random 12-bit bin, or the highest of the bin below it
 *   exact-fit    the bins above the cut hold exactly topk scores: nothing is left to pick from the bin at the cut
 *   low-byte     256 values that differ in the lowest byte of the key only; middle-byte, high-byte: in that byte
 */
#include "cases/float_bits.h"
#include "cases/generator.h"
#include "cases/random.h"
#include "cases/row_order.h"

enum bin_edges_param { PARAM_ORDER, PARAM_PATTERN, PARAM_SIGN };

enum bin_edges_pattern {
    PATTERN_DRIFT,
    PATTERN_ONE,
    PATTERN_EVERY_EDGE,
    PATTERN_EXACT_FIT,
    PATTERN_LOW_BYTE,
    PATTERN_MIDDLE_BYTE,
    PATTERN_HIGH_BYTE
};
enum bin_edges_sign { SIGN_POSITIVE, SIGN_NEGATIVE };

static const char *const pattern_choices[] = {"drift",    "one",         "every-edge", "exact-fit",
                                              "low-byte", "middle-byte", "high-byte",  NULL};
static const char *const sign_choices[]    = {"positive", "negative", NULL};

static const struct case_param_spec params[] = {
    {.name = "order", .choices = row_order_choices, .fallback = "shuffled", .meaning = "where the ranks stand"},
    {.name = "pattern", .choices = pattern_choices, .fallback = "drift", .meaning = "which edge; see the file"},
    {.name = "sign", .choices = sign_choices, .fallback = "positive", .meaning = "of all scores"},
    {.name = NULL},
};

#define EDGE_BITS 12
#define FINITE_BINS (0x7C00u >> (16 - EDGE_BITS)) /* of one sign: float16 patterns below infinity */

/* A score at the lower edge of a random bin of positive scores, or the last one below that edge. */
static uint32_t random_edge(const struct generator_row *row, int32_t rank)
{
    const uint64_t bits = random_bits(row->key, (uint64_t)row->row, (uint64_t)rank);
    const uint32_t bin  = (1u << (EDGE_BITS - 1)) + 1 + random_below(bits, FINITE_BINS - 1);
    uint32_t       low  = 0;
    uint32_t       high = 0;
    float_coarse_bin_range(bin, EDGE_BITS, &low, &high);
    return float_bits_from_code(low - (uint32_t)(bits & 1));
}

/* Places above the edge go to the worst rank that still wins, places below to the best that does not. */
static uint32_t exact_fit(const struct generator_row *row, int32_t rank)
{
    uint32_t       low  = 0;
    uint32_t       high = 0;
    const uint32_t like = row->values[PARAM_SIGN] == SIGN_NEGATIVE ? 0xBF8CCCCD : 0x3F8CCCCD; /* +-1.1 */
    float_coarse_bin_range(float_coarse_bin(like, EDGE_BITS), EDGE_BITS, &low, &high);
    return float_bits_step(float_bits_from_code(low), (int64_t)row->topk - 1 - rank);
}

static uint32_t score_at(const struct generator_row *row, int32_t rank)
{
    const int64_t  worse = (int64_t)row->length - 1 - rank;
    const uint32_t level = (uint32_t)(worse * 256 / row->length); /* 0 .. 255, higher is better */
    switch ((enum bin_edges_pattern)row->values[PARAM_PATTERN]) {
    case PATTERN_DRIFT: return float_bits_step(0x3805ED27, worse);
    case PATTERN_ONE: return float_bits_step(0x3F800000, worse);
    case PATTERN_EVERY_EDGE: return random_edge(row, rank);
    case PATTERN_EXACT_FIT: break; /* has its own sign, see fill */
    case PATTERN_LOW_BYTE: return 0x3F8CCC00 | level;
    case PATTERN_MIDDLE_BYTE: return 0x3F8C00CD | level << 8;
    case PATTERN_HIGH_BYTE: break;
    }
    return 0x3F00CCCD | level << 16;
}

static void fill(const struct generator_row *row, uint32_t *scores)
{
    const uint32_t       sign = row->values[PARAM_SIGN] == SIGN_NEGATIVE ? FLOAT_BITS_MINUS_ZERO : 0;
    struct row_placement placement;
    row_placement_init(&placement, (enum row_order)row->values[PARAM_ORDER], row->key, row->row, row->length);
    for (int32_t rank = 0; rank < row->length; rank++) {
        uint32_t *score = &scores[row_placement_column(&placement, (uint32_t)rank)];
        if (row->values[PARAM_PATTERN] == PATTERN_EXACT_FIT) {
            *score = exact_fit(row, rank);
        } else {
            /* A negated score is better the smaller it is: the ranks run the other way. */
            *score = sign | score_at(row, sign != 0 ? row->length - 1 - rank : rank);
        }
    }
}

const struct case_generator generator_bin_edges = {
    .name      = "bin-edges",
    .summary   = "scores on and next to the edges of coarse bins",
    .uses_topk = true,
    .params    = params,
    .fill      = fill,
};
