/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integer construction of float32 and float16 bit patterns. See float_bits.h.
 */
#include "cases/float_bits.h"

#include <stdbool.h>

uint32_t float_code(uint32_t bits)
{
    return (bits & FLOAT_BITS_MINUS_ZERO) != 0 ? ~bits : bits | FLOAT_BITS_MINUS_ZERO;
}

uint32_t float_bits_from_code(uint32_t code)
{
    return (code & FLOAT_CODE_PLUS_ZERO) != 0 ? code & ~FLOAT_CODE_PLUS_ZERO : ~code;
}

uint32_t float_bits_step(uint32_t bits, int64_t offset)
{
    const int64_t low  = FLOAT_CODE_MINUS_INFINITY + 1;
    const int64_t high = FLOAT_CODE_PLUS_INFINITY - 1;
    int64_t       code = (int64_t)float_code(bits) + offset;
    code               = code < low ? low : code;
    code               = code > high ? high : code;
    return float_bits_from_code((uint32_t)code);
}

/* value >> shift, to nearest, ties to even. shift: 1 .. 64. */
static uint64_t shift_right_to_even(uint64_t value, int shift)
{
    if (shift > 63) {
        return shift == 64 && value > (UINT64_C(1) << 63) ? 1 : 0;
    }
    const uint64_t kept = value >> shift;
    const uint64_t rest = value & ((UINT64_C(1) << shift) - 1);
    const uint64_t half = UINT64_C(1) << (shift - 1);
    return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
}

uint32_t float_bits_from_scaled(int64_t value, int exponent)
{
    const uint32_t sign      = value < 0 ? FLOAT_BITS_MINUS_ZERO : 0;
    const uint64_t magnitude = value < 0 ? (uint64_t)-value : (uint64_t)value;
    if (magnitude == 0) {
        return 0;
    }
    const int top = 63 - __builtin_clzll(magnitude);
    if (top + exponent > 127) {
        return sign | FLOAT_BITS_PLUS_INFINITY;
    }
    if (top + exponent < -151) {
        return sign;
    }
    /* The unit of the last place: 23 bits below the leading one, but never below the denormal unit 2^-149. */
    int unit = top + exponent - 23;
    unit     = unit < -149 ? -149 : unit;

    const int      shift  = unit - exponent;
    const uint64_t places = shift > 0 ? shift_right_to_even(magnitude, shift) : magnitude << -shift;
    /* A normal number's leading one is 2^23 and adds the exponent's last step; a rounding carry does the same. */
    return sign | (uint32_t)(((uint64_t)(unit + 149) << 23) + places);
}

int64_t float_normal_scaled(uint64_t random_a, uint64_t random_b)
{
    const int64_t steps    = __builtin_popcountll(random_a) - 32;
    const int64_t fraction = (int64_t)(random_b & UINT32_MAX) - (int64_t)(random_b >> 32);
    return steps * (INT64_C(1) << 32) + fraction;
}

uint16_t float_bits_to_half(uint32_t bits)
{
    const uint16_t sign      = (uint16_t)((bits >> 16) & 0x8000);
    const uint32_t magnitude = bits & 0x7FFFFFFF;
    if (magnitude > FLOAT_BITS_PLUS_INFINITY) {
        return (uint16_t)(sign | 0x7E00 | ((magnitude >> 13) & 0x1FF));
    }
    if (magnitude >= 0x477FF000) { /* 65520: half way to the next power of two, and even rounds up */
        return (uint16_t)(sign | 0x7C00);
    }
    const int exponent = (int)(magnitude >> 23) - 127;
    if (exponent < -25) {
        return sign;
    }
    const uint64_t significand = (magnitude & 0x7FFFFF) | 0x800000;
    const bool     normal      = exponent >= -14;
    const int      shift       = normal ? 13 : -1 - exponent;
    const uint32_t biased      = normal ? (uint32_t)(exponent + 14) << 10 : 0;
    return (uint16_t)(sign | (biased + (uint32_t)shift_right_to_even(significand, shift)));
}

uint32_t float_coarse_bin(uint32_t bits, int width)
{
    const uint16_t half    = float_bits_to_half(bits);
    const uint16_t ordered = (uint16_t)((half & 0x8000) != 0 ? ~half : half | 0x8000);
    return (uint32_t)ordered >> (16 - width);
}

/* The lowest order code, infinities included, whose bin is at least `bin`; one past +inf when there is none. */
static uint32_t lowest_code_from_bin(uint32_t bin, int width)
{
    uint32_t low  = FLOAT_CODE_MINUS_INFINITY;
    uint32_t high = FLOAT_CODE_PLUS_INFINITY + 1;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (float_coarse_bin(float_bits_from_code(middle), width) >= bin) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

void float_coarse_bin_range(uint32_t bin, int width, uint32_t *low_code, uint32_t *high_code)
{
    *low_code  = lowest_code_from_bin(bin, width);
    *high_code = lowest_code_from_bin(bin + 1, width) - 1;
}
