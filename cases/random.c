/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counter-based random numbers and permutations. Integer arithmetic only. See random.h.
 */
#include "cases/random.h"

#define GOLDEN_RATIO UINT64_C(0x9E3779B97F4A7C15)

static uint64_t finalise(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

uint64_t random_key_word(uint64_t key, uint64_t word)
{
    return finalise(finalise(key + GOLDEN_RATIO) ^ word);
}

uint64_t random_key_text(uint64_t key, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        key = random_key_word(key, (unsigned char)*c);
    }
    /* The end counts: "ab" then "c" must not be "a" then "bc". */
    return random_key_word(key, 256);
}

uint64_t random_bits(uint64_t key, uint64_t row, uint64_t column)
{
    return finalise(finalise(key + (row + 1) * GOLDEN_RATIO) + (column + 1) * GOLDEN_RATIO);
}

uint32_t random_below(uint64_t bits, uint32_t bound)
{
    return (uint32_t)(((bits >> 32) * bound) >> 32);
}

void random_permutation_init(struct random_permutation *permutation, uint64_t key, uint32_t size)
{
    uint32_t width = 0;
    while (width < 31 && (UINT32_C(1) << width) < size) {
        width++;
    }
    permutation->size  = size;
    permutation->mask  = (UINT32_C(1) << width) - 1;
    permutation->shift = width / 2 + 1;
    for (uint32_t round = 0; round < 3; round++) {
        const uint64_t bits            = random_bits(key, round, 0);
        permutation->multiplier[round] = (uint32_t)bits | 1;
        permutation->addend[round]     = (uint32_t)(bits >> 32);
    }
}

uint32_t random_permutation_at(const struct random_permutation *permutation, uint32_t place)
{
    /* Every step is a bijection of 0 .. mask: an odd factor, an addend, a right shift folded in. Walking the cycle
     * until it re-enters 0 .. size-1 makes it a bijection of those; mask < 2 * size keeps the walk short. */
    uint32_t x = place;
    do {
        for (int round = 0; round < 3; round++) {
            x = (x * permutation->multiplier[round] + permutation->addend[round]) & permutation->mask;
            x ^= x >> permutation->shift;
        }
    } while (x >= permutation->size);
    return x;
}
