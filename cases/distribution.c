/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Distributions of independent scores, in integers. See distribution.h.
 */
#include "cases/distribution.h"

#include "cases/float_bits.h"
#include "cases/random.h"

const char *const distribution_choices[]       = {"normal",    "uniform", "narrow",
                                                  "quantised", "groups",  "relu",   "bfloat16", NULL};
const char *const distribution_scale_choices[] = {"1", "1e4", "1e8", "1e-9", NULL};

/* factor * 2^exponent; the factor is below 2^27, so that it fits beside a score of 36 bits. */
static const struct {
    int64_t factor;
    int     exponent;
} scales[] = {{1, 0}, {10000, 0}, {100000000, 0}, {72057594, -56}};

/* A score before scaling, as *value * 2^result; |*value| < 2^36. */
static int unscaled(const struct generator_row *row, int32_t column, enum distribution distribution, int64_t *value)
{
    const uint64_t source = (uint64_t)(distribution == DISTRIBUTION_GROUPS ? column / 4 : column);
    const uint64_t a      = random_bits(row->key, (uint64_t)row->row, 2 * source);
    const uint64_t b      = random_bits(row->key, (uint64_t)row->row, 2 * source + 1);
    const int64_t  normal = float_normal_scaled(a, b) / 8; /* 2^-31 */
    switch (distribution) {
    case DISTRIBUTION_UNIFORM: *value = (int64_t)(a >> 40); return -24;
    case DISTRIBUTION_NARROW: *value = (1 << 24) + (int64_t)(a >> 42); return -24;
    case DISTRIBUTION_QUANTISED: *value = normal / (1 << 25); return -6;
    case DISTRIBUTION_RELU: *value = normal - INT64_C(2748779069); break; /* 1.28 * 2^31 */
    case DISTRIBUTION_NORMAL:
    case DISTRIBUTION_BFLOAT16:
    case DISTRIBUTION_GROUPS: *value = normal; return FLOAT_NORMAL_EXPONENT + 3;
    }
    *value = *value > 0 ? *value : 0;
    return FLOAT_NORMAL_EXPONENT + 3;
}

/* The nearest float32 that bfloat16 has, ties to even; of a finite score far from the largest. */
static uint32_t to_bfloat16(uint32_t bits)
{
    return (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000;
}

uint32_t distribution_score(const struct generator_row *row, int32_t column, enum distribution distribution,
                            enum distribution_scale scale)
{
    int64_t   value = 0;
    const int unit  = unscaled(row, column, distribution, &value);
    const uint32_t bits = float_bits_from_scaled(value * scales[scale].factor, unit + scales[scale].exponent);
    return distribution == DISTRIBUTION_BFLOAT16 ? to_bfloat16(bits) : bits;
}
