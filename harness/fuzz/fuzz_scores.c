/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of scores by rank; see fuzz_scores.h. */
#include "harness/fuzz/fuzz_scores.h"

#include "cases/float_bits.h"
#include "cases/row_order.h"

#include <stdlib.h>

/* How far from the cut the scores of a class lie. */
enum spread {
    SPREAD_STEP, /* one place apart, so that all are distinct */
    SPREAD_NEAR, /* within 2^width places */
    SPREAD_FAR,  /* anywhere on that side */
    SPREAD_SAME, /* all equal, one place away */
    N_SPREADS
};

/* A row by rank: `above` scores beyond the cut, then `tied` ones, then the rest. */
struct ranks {
    int32_t     n, above, tied;
    uint32_t    code;    /* order code of the cut */
    uint32_t    low, high; /* order codes that the others stay within */
    enum spread above_spread, below_spread;
    int32_t     width;
    bool        both_zeroes; /* the tied ones are zeroes of either sign */
};

const char *fuzz_pattern_text(enum fuzz_pattern pattern)
{
    static const char *const texts[] = {
#define FUZZ_PATTERN_TEXT(name, text) text,
        FUZZ_PATTERN_LIST(FUZZ_PATTERN_TEXT)
#undef FUZZ_PATTERN_TEXT
    };
    return pattern < N_FUZZ_PATTERNS ? texts[pattern] : "";
}

enum fuzz_pattern fuzz_draw_pattern(struct draw *draw, const struct topk_claims *claims)
{
    /* Of 64. What selects among equals or overflows bins is where kernels go wrong most. */
    static const unsigned char weights[N_FUZZ_PATTERNS] = {
        [FUZZ_PATTERN_RANDOM] = 5,   [FUZZ_PATTERN_INDEXER] = 4,       [FUZZ_PATTERN_PLATEAU] = 7,
        [FUZZ_PATTERN_BORDER] = 4,   [FUZZ_PATTERN_EQUAL] = 2,         [FUZZ_PATTERN_FEW] = 4,
        [FUZZ_PATTERN_GROUPS] = 3,   [FUZZ_PATTERN_ZERO] = 4,          [FUZZ_PATTERN_DENORMAL] = 3,
        [FUZZ_PATTERN_BIN] = 8,      [FUZZ_PATTERN_PLUS_INFINITY] = 2, [FUZZ_PATTERN_MINUS_INFINITY] = 3,
        [FUZZ_PATTERN_DENSE] = 3,    [FUZZ_PATTERN_HALF] = 3,          [FUZZ_PATTERN_NEGATIVE] = 2,
        [FUZZ_PATTERN_BYTE] = 3,     [FUZZ_PATTERN_EXTREME] = 2,       [FUZZ_PATTERN_NOT_A_NUMBER] = 2,
    };
    int32_t at = draw_below(draw, 64), pattern = 0;
    while (at >= weights[pattern])
        at -= weights[pattern++];
    if (pattern == FUZZ_PATTERN_NOT_A_NUMBER && claims->nan == TOPK_NAN_NONE)
        return FUZZ_PATTERN_PLATEAU;
    return (enum fuzz_pattern)pattern;
}

static uint32_t clamp(uint32_t code, uint32_t low, uint32_t high)
{
    return code < low ? low : code > high ? high : code;
}

static uint32_t step_code(uint32_t code, int64_t steps, uint32_t low, uint32_t high)
{
    int64_t to = (int64_t)code + steps;
    return to < (int64_t)low ? low : to > (int64_t)high ? high : (uint32_t)to;
}

/* The code of one score that is not tied; `i` counts within its class, the one next to the cut first. */
static uint32_t beside_cut(struct draw *draw, const struct ranks *ranks, enum spread spread, int32_t i, int sign)
{
    uint32_t room = sign > 0 ? ranks->high - ranks->code : ranks->code - ranks->low;
    int64_t  steps = 1;
    if (spread == SPREAD_STEP)
        steps = (int64_t)i + 1;
    else if (spread == SPREAD_NEAR)
        steps = 1 + (int64_t)(draw_bits(draw) >> (64 - ranks->width));
    else if (spread == SPREAD_FAR)
        steps = room ? 1 + (int64_t)random_below(draw_bits(draw), room) : 0;
    return step_code(ranks->code, sign * steps, ranks->low, ranks->high);
}

static void place(struct draw *draw, const struct row_placement *placement, const struct ranks *ranks, uint32_t *scores)
{
    for (int32_t rank = 0; rank < ranks->n; rank++) {
        uint32_t code = ranks->code;
        if (rank < ranks->above)
            code = beside_cut(draw, ranks, ranks->above_spread, ranks->above - 1 - rank, 1);
        else if (rank >= ranks->above + ranks->tied)
            code = beside_cut(draw, ranks, ranks->below_spread, rank - ranks->above - ranks->tied, -1);
        else if (ranks->both_zeroes)
            code = draw_bits(draw) >> 63 ? FLOAT_CODE_PLUS_ZERO : FLOAT_CODE_MINUS_ZERO;
        scores[row_placement_column(placement, (uint32_t)rank)] = float_bits_from_code(code);
    }
}

static void draw_placement(struct draw *draw, int32_t n, struct row_placement *placement)
{
    static const int32_t orders[] = {ROW_ORDER_SHUFFLED,   ROW_ORDER_SHUFFLED, ROW_ORDER_SHUFFLED,   ROW_ORDER_BEST_FIRST,
                                     ROW_ORDER_BEST_LAST,  ROW_ORDER_BEST_LAST, ROW_ORDER_OUTSIDE,   ROW_ORDER_ONE_THREAD,
                                     ROW_ORDER_BLOCK_ENDS};
    enum row_order order = (enum row_order)DRAW_FROM(draw, orders);
    row_placement_init(placement, order, draw_bits(draw), 0, n);
}

/* A finite score that something may hinge on. */
static uint32_t draw_cut(struct draw *draw)
{
    static const uint32_t landmarks[] = {
        0x3f800000, 0x3f800000, 0xbf800000, 0x40000000, 0x3f000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000,
        0x80800000, 0x7f7fffff, 0xff7fffff, 0x477fe000, 0x477ff000, 0x47800000, 0x33000000, 0x33800000, 0x38800000,
        0x387fc000, 0x3f8ccccd, 0x3fffffff, 0x40490fdb, 0x41200000, 0xc1200000, 0x4b7fffff, 0x4b800000};
    static const int32_t  bin_bits[] = {8, 10, 11, 12, 13, 16};
    uint64_t              bits = draw_bits(draw);
    uint32_t              random = (uint32_t)bits;
    if (bits >> 62 == 0)
        return landmarks[draw_below(draw, (int32_t)(sizeof landmarks / sizeof landmarks[0]))];
    if (bits >> 62 == 1) { /* the first float32 of a radix bin, or the last of the one before */
        random &= ~(UINT32_MAX >> DRAW_FROM(draw, bin_bits));
        random -= (uint32_t)draw_below(draw, 2);
    }
    if (bits >> 62 == 2) /* where scores are */
        random = (random & 0x807fffffu) | (uint32_t)draw_between(draw, 118, 134) << 23;
    if ((random & FLOAT_BITS_PLUS_INFINITY) == FLOAT_BITS_PLUS_INFINITY)
        random &= ~UINT32_C(0x40000000);
    return random;
}

/* Classes around the cut of a row of n from which topk are selected. */
static struct ranks draw_ranks(struct draw *draw, int32_t n, int32_t topk)
{
    struct ranks ranks = {.n = n,
                          .code = float_code(draw_cut(draw)),
                          .low = float_code(FLOAT_BITS_MINUS_LARGEST),
                          .high = float_code(FLOAT_BITS_LARGEST)};
    ranks.above_spread = (enum spread)draw_below(draw, N_SPREADS);
    ranks.below_spread = (enum spread)draw_below(draw, N_SPREADS);
    ranks.width = draw_between(draw, 2, 26);
    int32_t taken = topk < n ? topk : n, few = draw_between(draw, 0, 3);
    ranks.above = draw_chance(draw, 1, 3) ? draw_between(draw, 0, taken) : draw_chance(draw, 1, 2) ? taken - few : few;
    ranks.above = ranks.above < 0 ? 0 : ranks.above > taken ? taken : ranks.above;
    int32_t left = n - ranks.above;
    ranks.tied = draw_chance(draw, 1, 2) ? left : draw_between(draw, 0, left);
    return ranks;
}

/* Equal scores on both sides of the cut. */
static void make_plateau(struct draw *draw, struct ranks *ranks, int32_t topk)
{
    static const int32_t waves[] = {1, 2, 31, 32, 33, 63, 64, 65, 128, 129, 256, 257, 512, 1024, 1025, 2048};
    if (ranks->above >= topk)
        ranks->above = topk - 1;
    int32_t wanted = topk - ranks->above;
    int32_t tied = wanted + (draw_chance(draw, 1, 2) ? DRAW_FROM(draw, waves) : draw_between(draw, 1, ranks->n));
    ranks->tied = tied > ranks->n - ranks->above ? ranks->n - ranks->above : tied;
}

/* A class of equal scores that ends about where the cut is. */
static void make_border(struct draw *draw, struct ranks *ranks, int32_t topk)
{
    int32_t end = topk + draw_between(draw, -1, 1);
    end = end < 0 ? 0 : end > ranks->n ? ranks->n : end;
    if (ranks->above > end)
        ranks->above = end;
    ranks->tied = end - ranks->above;
}

/* `crowd` scores, more than topk of them at least wanted, in one coarse bin; others strictly above and below it. */
static void make_bin(struct draw *draw, struct ranks *ranks, int32_t topk, int32_t crowd)
{
    static const int32_t widths[] = {8, 8, 8, 10, 11, 12, 12, 13, 16};
    uint32_t             bits = float_bits_from_code(ranks->code), low, high;
    if (draw_chance(draw, 1, 4)) { /* the upper bits of the float32 itself */
        int32_t width = DRAW_FROM(draw, widths);
        low = ranks->code & ~(UINT32_MAX >> width);
        high = low | UINT32_MAX >> width;
    } else {
        int width = DRAW_FROM(draw, widths);
        if (draw_chance(draw, 2, 3)) /* where float16 has normal numbers */
            bits = (bits & 0x807fffffu) | (uint32_t)draw_between(draw, 114, 141) << 23;
        float_coarse_bin_range(float_coarse_bin(bits, width), width, &low, &high);
    }
    low = clamp(low, ranks->low, ranks->high);
    high = clamp(high, ranks->low, ranks->high);
    ranks->low = low;
    ranks->high = high;
    /* The cut lies in the bin, at a random place or one of its ends. */
    uint32_t room = high - low;
    ranks->code = draw_chance(draw, 1, 4) ? low : draw_chance(draw, 1, 3) ? high
                                                                         : low + (room ? random_below(draw_bits(draw), room) : 0);
    ranks->above = topk < crowd ? draw_between(draw, 0, topk) : topk;
    ranks->tied = draw_chance(draw, 1, 3) ? draw_between(draw, 0, crowd) : draw_between(draw, 0, 3);
    ranks->above = ranks->above > ranks->n ? ranks->n : ranks->above;
    ranks->tied = ranks->tied > ranks->n - ranks->above ? ranks->n - ranks->above : ranks->tied;
    if (draw_chance(draw, 1, 2))
        ranks->above_spread = ranks->below_spread = SPREAD_FAR;
}

/* A bin holds `crowd` of the scores: of the others, a few go above all of it (never topk of them), the rest below. */
static void leave_bin(struct draw *draw, int32_t n, int32_t topk, int32_t crowd, uint32_t *scores)
{
    int32_t others = n - crowd, above = draw_chance(draw, 1, 2) ? 0 : draw_between(draw, 0, topk - 1);
    struct row_placement placement;
    draw_placement(draw, n, &placement);
    for (int32_t i = 0; i < others; i++) {
        uint32_t column = row_placement_column(&placement, (uint32_t)i);
        uint32_t code = float_code(scores[column]);
        uint32_t far = UINT32_C(0x01000000) + (uint32_t)(draw_bits(draw) >> 40);
        scores[column] = float_bits_from_code(i < above ? step_code(code, far, 0, float_code(FLOAT_BITS_LARGEST))
                                                        : step_code(code, -(int64_t)far,
                                                                    float_code(FLOAT_BITS_MINUS_LARGEST), UINT32_MAX));
    }
}

static void fill_random(struct draw *draw, int32_t n, uint32_t *scores)
{
    for (int32_t i = 0; i < n; i++) {
        scores[i] = (uint32_t)draw_bits(draw);
        if ((scores[i] & FLOAT_BITS_PLUS_INFINITY) == FLOAT_BITS_PLUS_INFINITY)
            scores[i] &= ~UINT32_C(0x40000000);
    }
}

static void fill_indexer(struct draw *draw, int32_t n, uint32_t *scores)
{
    int32_t kind = draw_below(draw, 4), mask = draw_between(draw, 0, 20);
    for (int32_t i = 0; i < n; i++) {
        uint64_t first = draw_bits(draw);
        int64_t  value = float_normal_scaled(first, draw_bits(draw));
        if (kind == 1 && value < 0) /* rectified */
            value = 0;
        if (kind == 2)
            value = value / (INT64_C(1) << 30) * (INT64_C(1) << 30); /* a sixteenth apart */
        scores[i] = float_bits_from_scaled(value, FLOAT_NORMAL_EXPONENT + 3);
        if (kind == 3)
            scores[i] &= UINT32_MAX << mask;
    }
}

/* Each value several times: n / group classes, or `group` values in all. */
static void fill_from_few(struct draw *draw, int32_t n, bool groups, uint32_t *scores)
{
    int32_t              number = 1 << draw_between(draw, 1, groups ? 7 : 4);
    int32_t              values = groups ? (n + number - 1) / number : draw_between(draw, 2, number);
    uint32_t             base = float_code(draw_cut(draw)), apart = 1u << draw_between(draw, 0, 24);
    struct row_placement placement;
    draw_placement(draw, n, &placement);
    for (int32_t rank = 0; rank < n; rank++) {
        int32_t value = groups ? rank / number : draw_below(draw, values);
        scores[row_placement_column(&placement, (uint32_t)rank)] =
            float_bits_from_code(step_code(base, -(int64_t)value * apart, float_code(FLOAT_BITS_MINUS_LARGEST),
                                           float_code(FLOAT_BITS_LARGEST)));
    }
}

static void fill_byte(struct draw *draw, int32_t n, uint32_t *scores)
{
    uint32_t base = draw_cut(draw);
    int32_t  shift = draw_below(draw, 25), bits = draw_between(draw, 1, 8);
    for (int32_t i = 0; i < n; i++) {
        scores[i] = base ^ (uint32_t)(draw_bits(draw) >> (64 - bits)) << shift;
        if ((scores[i] & FLOAT_BITS_PLUS_INFINITY) == FLOAT_BITS_PLUS_INFINITY)
            scores[i] &= ~UINT32_C(0x40000000);
    }
}

static void fill_extremes(struct draw *draw, int32_t n, uint32_t *scores)
{
    static const uint32_t extremes[] = {0x7f800000, 0xff800000, 0x7f7fffff, 0xff7fffff, 0x00000000, 0x80000000,
                                        0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x3f800000,
                                        0x477fe000, 0x477ff000, 0xc77fe000, 0x33000000};
    int32_t               n_used = draw_between(draw, 2, 16), first = draw_below(draw, 16);
    for (int32_t i = 0; i < n; i++)
        scores[i] = extremes[(first + draw_below(draw, n_used)) % 16];
}

/* Counts that matter to a selection of topk: about topk, about all, a few. */
static int32_t draw_count(struct draw *draw, int32_t n, int32_t topk)
{
    const int32_t counts[] = {1, topk - 1, topk, topk + 1, n, n - topk, n - topk - 1, draw_between(draw, 0, n)};
    int32_t       count = DRAW_FROM(draw, counts);
    return count < 0 ? 0 : count > n ? n : count;
}

/* Writes NaN of both signs and several payloads over `count` scores. */
static void strew_nan(struct draw *draw, int32_t n, int32_t count, uint32_t *scores)
{
    struct row_placement placement;
    int32_t              sign = draw_below(draw, 3); /* positive, negative, both */
    draw_placement(draw, n, &placement);
    for (int32_t i = 0; i < count; i++) {
        uint64_t bits = draw_bits(draw);
        uint32_t nan = 0x7f800001u | (uint32_t)(bits & 0x7fffffu);
        scores[row_placement_column(&placement, (uint32_t)i)] =
            nan | (sign == 1 || (sign == 2 && bits >> 63) ? 0x80000000u : 0);
    }
}

/* Patterns that are classes around a cut. */
static void fill_by_rank(struct draw *draw, enum fuzz_pattern pattern, int32_t n, int32_t topk, int32_t crowd,
                         uint32_t *scores)
{
    struct ranks         ranks = draw_ranks(draw, n, topk);
    struct row_placement placement;
    bool                 is_long = n > topk;
    crowd = crowd < 1 || crowd > n ? n : crowd;
    if (pattern == FUZZ_PATTERN_PLATEAU && is_long)
        make_plateau(draw, &ranks, topk);
    else if (pattern == FUZZ_PATTERN_BORDER)
        make_border(draw, &ranks, topk);
    else if (pattern == FUZZ_PATTERN_EQUAL) {
        ranks.above = 0;
        ranks.tied = n;
    } else if (pattern == FUZZ_PATTERN_ZERO) {
        if (is_long && draw_chance(draw, 2, 3))
            make_plateau(draw, &ranks, topk);
        ranks.code = FLOAT_CODE_PLUS_ZERO;
        ranks.both_zeroes = true;
    } else if (pattern == FUZZ_PATTERN_DENORMAL) {
        uint32_t sign = draw_chance(draw, 1, 2) ? 0x80000000u : 0;
        ranks.code = float_code((uint32_t)draw_between(draw, 1, 0x7fffff) | sign);
        ranks.low = float_code(0x80900000u);
        ranks.high = float_code(0x00900000u);
    } else if (pattern == FUZZ_PATTERN_PLUS_INFINITY) {
        ranks.code = ranks.high = FLOAT_CODE_PLUS_INFINITY;
        ranks.above = 0;
        ranks.tied = draw_count(draw, n, topk);
    } else if (pattern == FUZZ_PATTERN_MINUS_INFINITY) {
        ranks.code = ranks.low = FLOAT_CODE_MINUS_INFINITY;
        ranks.above = n - draw_count(draw, n, topk);
        ranks.tied = n - ranks.above;
    } else if (pattern == FUZZ_PATTERN_BIN)
        make_bin(draw, &ranks, topk, crowd);
    else if (pattern == FUZZ_PATTERN_DENSE) {
        ranks.above_spread = ranks.below_spread = draw_chance(draw, 1, 2) ? SPREAD_STEP : SPREAD_NEAR;
        ranks.width = draw_between(draw, 1, 12);
        ranks.tied = ranks.tied < 4 ? ranks.tied : draw_below(draw, 4);
    } else if (pattern == FUZZ_PATTERN_HALF) {
        static const uint32_t places[] = {0x477fe000, 0x47800000, 0x49000000, 0x7f000000, 0x33000000, 0x32800000,
                                          0x20000000, 0x3f800000, 0x40490fdb, 0x38800000};
        uint32_t sign = draw_chance(draw, 1, 4) ? 0x80000000u : 0;
        ranks.code = float_code(places[draw_below(draw, 10)] | sign);
        ranks.width = draw_between(draw, 4, 20);
        ranks.above_spread = ranks.below_spread = draw_chance(draw, 1, 3) ? SPREAD_STEP : SPREAD_NEAR;
        ranks.tied = ranks.tied < 4 ? ranks.tied : draw_below(draw, 4);
    } else if (pattern == FUZZ_PATTERN_NEGATIVE) {
        ranks.code = float_code(float_bits_from_code(ranks.code) | 0x80000000u);
        ranks.high = FLOAT_CODE_MINUS_ZERO - 1;
        ranks.code = clamp(ranks.code, ranks.low, ranks.high);
    }
    draw_placement(draw, n, &placement);
    place(draw, &placement, &ranks, scores);
    if (pattern == FUZZ_PATTERN_BIN && crowd < n)
        leave_bin(draw, n, topk, crowd, scores);
}

void fuzz_fill_row(struct draw *draw, enum fuzz_pattern pattern, int32_t n, int32_t topk, int32_t crowd,
                   uint32_t *scores)
{
    if (n <= 0)
        return;
    switch (pattern) {
    case FUZZ_PATTERN_RANDOM:
        fill_random(draw, n, scores);
        break;
    case FUZZ_PATTERN_INDEXER:
        fill_indexer(draw, n, scores);
        break;
    case FUZZ_PATTERN_FEW:
    case FUZZ_PATTERN_GROUPS:
        fill_from_few(draw, n, pattern == FUZZ_PATTERN_GROUPS, scores);
        break;
    case FUZZ_PATTERN_BYTE:
        fill_byte(draw, n, scores);
        break;
    case FUZZ_PATTERN_EXTREME:
        fill_extremes(draw, n, scores);
        break;
    case FUZZ_PATTERN_NOT_A_NUMBER:
        if (draw_chance(draw, 1, 3))
            fill_extremes(draw, n, scores);
        else
            fill_by_rank(draw, draw_chance(draw, 1, 2) ? FUZZ_PATTERN_PLATEAU : FUZZ_PATTERN_MINUS_INFINITY, n, topk, n,
                         scores);
        strew_nan(draw, n, draw_count(draw, n, topk), scores);
        break;
    default:
        fill_by_rank(draw, pattern, n, topk, crowd, scores);
        break;
    }
}
