/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bit patterns against float arithmetic: the tests may use what the code under test must not.
 */
#include <criterion/criterion.h>

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "cases/float_bits.h"
#include "cases/random.h"

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float value_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Another route to float16: scale by a power of two in double, round in hardware, add the exponent. */
static uint16_t half_by_arithmetic(uint32_t bits, double scale, int unit_exponent)
{
    const long q    = lrint((double)value_of(bits) * scale);
    const long half = q + ((long)(unit_exponent + 24) << 10);
    return (uint16_t)(half > 0x7C00 ? 0x7C00 : half);
}

Test(float_bits, half_rounding_agrees_with_hardware_rounding_on_every_pattern_that_can_round)
{
    for (int exponent = -27; exponent <= 16; exponent++) {
        const int      unit  = exponent - 10 < -24 ? -24 : exponent - 10;
        const double   scale = ldexp(1.0, -unit);
        const uint32_t first = (uint32_t)(exponent + 127) << 23;
        uint32_t       wrong = 0;
        for (uint32_t bits = first; bits < first + 0x800000; bits++) {
            wrong += float_bits_to_half(bits) != half_by_arithmetic(bits, scale, unit) ? 1 : 0;
        }
        cr_assert_eq(wrong, 0, "%u patterns with exponent %d round differently", wrong, exponent);
    }
}

Test(float_bits, half_of_special_patterns)
{
    cr_assert_eq(float_bits_to_half(0), 0);
    cr_assert_eq(float_bits_to_half(0x80000000), 0x8000);
    cr_assert_eq(float_bits_to_half(0xB2C00000), 0x8000, "-2^-26 * 1.5 rounds to -0");
    cr_assert_eq(float_bits_to_half(1), 0);
    cr_assert_eq(float_bits_to_half(0x7F800000), 0x7C00);
    cr_assert_eq(float_bits_to_half(0xFF800000), 0xFC00);
    cr_assert_eq(float_bits_to_half(0x7F7FFFFF), 0x7C00);
    cr_assert_gt(float_bits_to_half(0x7F800001), 0x7C00, "a NaN stays a NaN");
    cr_assert_gt(float_bits_to_half(0xFFFFFFFF), 0xFC00);
    cr_assert_eq(float_bits_to_half(0xBF800000), 0xBC00);
}

Test(float_bits, codes_are_in_the_order_of_values)
{
    static const uint32_t ascending[] = {0xFF800000, 0xFF7FFFFF, 0xBF800000, 0x80800000, 0x80000001, 0x80000000,
                                         0,          1,          0x00800000, 0x3F800000, 0x7F7FFFFF, 0x7F800000};
    for (size_t i = 0; i < sizeof ascending / sizeof ascending[0]; i++) {
        cr_assert_eq(float_bits_from_code(float_code(ascending[i])), ascending[i]);
        if (i > 0) {
            cr_assert_lt(float_code(ascending[i - 1]), float_code(ascending[i]), "at %zu", i);
        }
    }
    cr_assert_eq(float_code(0), FLOAT_CODE_PLUS_ZERO);
    cr_assert_eq(float_code(0x80000000), FLOAT_CODE_MINUS_ZERO);
    cr_assert_eq(float_code(0x7F800000), FLOAT_CODE_PLUS_INFINITY);
    cr_assert_eq(float_code(0xFF800000), FLOAT_CODE_MINUS_INFINITY);
}

Test(float_bits, steps_are_nextafter_and_stop_at_the_largest)
{
    cr_assert_eq(float_bits_step(bits_of(1.0F), 1), bits_of(nextafterf(1.0F, 2.0F)));
    cr_assert_eq(float_bits_step(bits_of(-1.0F), 1), bits_of(nextafterf(-1.0F, 0.0F)));
    cr_assert_eq(float_bits_step(bits_of(1.0F), INT64_C(1) << 40), 0x7F7FFFFF);
    cr_assert_eq(float_bits_step(bits_of(1.0F), -(INT64_C(1) << 40)), 0xFF7FFFFF);
}

Test(float_bits, scaled_integers_round_as_the_hardware_does)
{
    for (uint64_t i = 0; i < 200000; i++) {
        /* Any magnitude: the shift thins the bits out. */
        const uint64_t random = random_bits(1, 2, i);
        const int64_t  value  = (int64_t)(random >> 1 >> (i % 62)) * ((i & 1) != 0 ? -1 : 1);
        cr_assert_eq(float_bits_from_scaled(value, 0), bits_of((float)value), "%lld", (long long)value);

        const int64_t small    = value >> 11; /* exact in double, so there is one rounding on either side */
        const int     exponent = (int)(random % 360) - 210;
        const float   expected = (float)ldexp((double)small, exponent);
        const uint32_t got     = float_bits_from_scaled(small, exponent);
        cr_assert_eq(got, small == 0 ? 0 : bits_of(expected), "%lld * 2^%d", (long long)small, exponent);
    }
    cr_assert_eq(float_bits_from_scaled(1, -149), 1);
    cr_assert_eq(float_bits_from_scaled(1, -150), 0, "half the smallest denormal is a tie and goes to even");
    cr_assert_eq(float_bits_from_scaled(3, -151), 1);
    cr_assert_eq(float_bits_from_scaled(INT64_MAX, -212), 1);
    cr_assert_eq(float_bits_from_scaled(INT64_MAX, -213), 0);
    cr_assert_eq(float_bits_from_scaled((1 << 25) - 1, 103), 0x7F800000);
}

Test(float_bits, normal_variates_have_the_moments_of_a_normal)
{
    const int n       = 200000;
    double    sum     = 0;
    double    squares = 0;
    double    fourth  = 0;
    int       beyond  = 0;
    for (int i = 0; i < n; i++) {
        const uint64_t a = random_bits(7, 0, 2 * (uint64_t)i);
        const uint64_t b = random_bits(7, 0, 2 * (uint64_t)i + 1);
        const double   x = ldexp((double)float_normal_scaled(a, b), FLOAT_NORMAL_EXPONENT);
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
        beyond += fabs(x) > 3 ? 1 : 0;
    }
    cr_assert_lt(fabs(sum / n), 0.01);
    cr_assert_float_eq(squares / n, 1.0104, 0.015);
    cr_assert_float_eq(fourth / n / (squares / n) / (squares / n), 2.97, 0.08, "kurtosis");
    cr_assert_float_eq(beyond, 0.0029 * n, 0.0008 * n);
}

Test(float_bits, coarse_bins_have_the_published_edges)
{
    uint32_t low;
    uint32_t high;
    float_coarse_bin_range(float_coarse_bin(bits_of(1.1F), 8), 8, &low, &high);
    cr_assert_float_eq(value_of(float_bits_from_code(low)), 0.999756F, 1e-6);
    cr_assert_float_eq(value_of(float_bits_from_code(high)), 1.249512F, 1e-6);
    cr_assert_float_eq((double)high - low, 2097152, 2, "8-bit bin of 1.1 spans 2^21 codes");
    float_coarse_bin_range(float_coarse_bin(bits_of(1.1F), 12), 12, &low, &high);
    cr_assert_float_eq(value_of(float_bits_from_code(low)), 1.0933F, 1e-4);
    cr_assert_float_eq(value_of(float_bits_from_code(high)), 1.1089F, 1e-4);
    cr_assert_eq(float_coarse_bin(bits_of(-0.0F), 8), 0x7F);
    cr_assert_eq(float_coarse_bin(bits_of(0.0F), 8), 0x80);
    /* Every finite 12-bit bin: its ends are inside, what follows is not. */
    for (uint32_t bin = 0x400; bin < 0xC00; bin++) {
        float_coarse_bin_range(bin, 12, &low, &high);
        cr_assert_eq(float_coarse_bin(float_bits_from_code(low), 12), bin);
        cr_assert_eq(float_coarse_bin(float_bits_from_code(high), 12), bin);
        cr_assert_eq(float_coarse_bin(float_bits_from_code(high + 1), 12), bin + 1);
    }
}
