/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of generators. A new one is a C file of its own, a declaration and a line here.
 */
#include <string.h>

#include "cases/float_bits.h"
#include "cases/generator.h"
#include "cases/random.h"

extern const struct case_generator generator_bin_edges;
extern const struct case_generator generator_captured;
extern const struct case_generator generator_denormals;
extern const struct case_generator generator_infinities;
extern const struct case_generator generator_literal;
extern const struct case_generator generator_nan;
extern const struct case_generator generator_negative_lengths;
extern const struct case_generator generator_overflow;
extern const struct case_generator generator_overlong_lengths;
extern const struct case_generator generator_random;
extern const struct case_generator generator_range_edges;
extern const struct case_generator generator_signed_zeroes;
extern const struct case_generator generator_sorted;
extern const struct case_generator generator_ties;

const struct case_generator *const case_generators[] = {
    &generator_bin_edges,
    &generator_captured,
    &generator_denormals,
    &generator_infinities,
    &generator_literal,
    &generator_nan,
    &generator_negative_lengths,
    &generator_overflow,
    &generator_overlong_lengths,
    &generator_random,
    &generator_range_edges,
    &generator_signed_zeroes,
    &generator_sorted,
    &generator_ties,
    NULL,
};

const struct case_generator *case_generator_find(const char *name)
{
    for (size_t i = 0; case_generators[i] != NULL; i++) {
        if (strcmp(case_generators[i]->name, name) == 0) {
            return case_generators[i];
        }
    }
    return NULL;
}

uint32_t generator_normal(const struct generator_row *row, uint32_t column)
{
    const uint64_t a = random_bits(row->key, (uint64_t)row->row, 2 * (uint64_t)column);
    const uint64_t b = random_bits(row->key, (uint64_t)row->row, 2 * (uint64_t)column + 1);
    return float_bits_from_scaled(float_normal_scaled(a, b), FLOAT_NORMAL_EXPONENT);
}
