/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counter-based random numbers: a number is a pure function of (key, row, column), so any score of any case can be
 * computed alone, in any order, on any machine. Nothing here has state.
 *
 * The finaliser is the one of SplitMix64 (Steele, Lea, Flood 2014), applied once per word that enters the key.
 * This file knows nothing of cases; generator.h says what goes into a key.
 */
#ifndef TOPKCTS_CASES_RANDOM_H
#define TOPKCTS_CASES_RANDOM_H

#include <stdint.h>

/* A key from a key and one more word or text. Start from any constant; the order of the words matters. */
uint64_t random_key_word(uint64_t key, uint64_t word);
uint64_t random_key_text(uint64_t key, const char *text);

/* 64 uniform bits. */
uint64_t random_bits(uint64_t key, uint64_t row, uint64_t column);

/* Maps uniform bits to 0 .. bound-1; bound >= 1. The bias is below bound / 2^32. */
uint32_t random_below(uint64_t bits, uint32_t bound);

/* A keyed permutation of 0 .. size-1 that is evaluated place by place and stores no table. */
struct random_permutation {
    uint32_t size;
    uint32_t mask; /* of the smallest power of two that holds `size` values */
    uint32_t shift;
    uint32_t multiplier[3];
    uint32_t addend[3];
};

/* size: 1 .. 2^31. */
void random_permutation_init(struct random_permutation *permutation, uint64_t key, uint32_t size);

/* The image of `place`; place < size. */
uint32_t random_permutation_at(const struct random_permutation *permutation, uint32_t place);

#endif
