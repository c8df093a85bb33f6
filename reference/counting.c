/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second reference: finds the cut by counting digits; no two scores are ever compared.
 *
 * Owns the other answer to the question of reference.h. It must not call reference_key or reference_selectable: its own
 * ordering of bit patterns is derived here, by another route, so that a mistake in one is not a mistake in both.
 *
 * Algorithm: a float32 is a sign and a magnitude, hence a whole number between -(2^31 - 1) and 2^31 - 1; shifted up by
 * 2^31 it is a rank without sign. Counting the ranks' digits to base 256 from the most significant one finds, digit by
 * digit, the rank at which the topk-th place lies. Everything above that rank is selected, and of those at the rank the
 * first ones that still fit. It allocates nothing and never fails.
 */
#include "reference/reference.h"

#define DIGIT_BITS 8
#define N_DIGITS (1 << DIGIT_BITS)

/* Sets *rank (a larger rank comes earlier); false when the score takes no part. */
static bool rank_of(uint32_t score_bits, const struct reference_rules *rules, uint64_t *rank)
{
    bool     negative = score_bits >> 31 == 1;
    uint32_t exponent = score_bits >> 23 & 0xff;
    uint32_t fraction = score_bits & 0x7fffff;
    int64_t  magnitude = (int64_t)exponent << 23 | fraction;

    if (exponent == 0xff && fraction != 0) {
        if (rules->nan == REFERENCE_NAN_NEVER) {
            return false;
        }
        if (rules->nan == REFERENCE_NAN_LARGEST) {
            /* One rank for every NaN, above +inf. */
            negative = false;
            magnitude = INT64_C(0x7fffffff);
        }
    }
    if (negative && exponent == 0xff && fraction == 0 && rules->neg_inf_is_hole) {
        return false;
    }
    int64_t number = negative ? -magnitude : magnitude;
    if (negative && rules->zeros_by_bits) {
        number--; /* makes room for -0 between the negative numbers and +0 */
    }
    *rank = (uint64_t)(number + (INT64_C(1) << 31));
    return true;
}

/* The rank at which place `wanted` of the row lies; *wanted becomes how many of that rank are still selected (>= 1).
 * The row has at least *wanted scores that take part. */
static uint64_t rank_at_the_cut(const uint32_t *scores, int32_t n, const struct reference_rules *rules, int32_t *wanted)
{
    uint64_t leading = 0; /* the digits found so far */
    for (int shift = 32 - DIGIT_BITS; shift >= 0; shift -= DIGIT_BITS) {
        int32_t seen[N_DIGITS] = {0};
        for (int32_t i = 0; i < n; i++) {
            uint64_t rank = 0;
            if (rank_of(scores[i], rules, &rank) && rank >> (shift + DIGIT_BITS) == leading) {
                seen[rank >> shift & (N_DIGITS - 1)]++;
            }
        }
        unsigned digit = N_DIGITS - 1;
        while (seen[digit] < *wanted) {
            *wanted -= seen[digit];
            digit--;
        }
        leading = leading << DIGIT_BITS | digit;
    }
    return leading;
}

int32_t reference_select_by_counting(const uint32_t *scores, int32_t n, int32_t topk,
                                     const struct reference_rules *rules, int32_t *indices)
{
    int32_t participants = 0;
    for (int32_t i = 0; i < n; i++) {
        uint64_t rank = 0;
        participants += rank_of(scores[i], rules, &rank) ? 1 : 0;
    }

    uint64_t cut = 0;
    int32_t  at_the_cut = n; /* everything fits: rank 0 and what is above it */
    if (participants > topk && topk > 0) {
        at_the_cut = topk;
        cut = rank_at_the_cut(scores, n, rules, &at_the_cut);
    }

    int32_t count = 0;
    for (int32_t i = 0; i < n && topk > 0; i++) {
        uint64_t rank = 0;
        if (!rank_of(scores[i], rules, &rank) || rank < cut) {
            continue;
        }
        if (rank == cut && at_the_cut-- <= 0) {
            continue;
        }
        indices[count++] = i;
    }
    for (int32_t slot = count; slot < topk; slot++) {
        indices[slot] = -1;
    }
    return count;
}
