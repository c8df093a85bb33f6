/* SPDX-License-Identifier: Apache-2.0 */
/*
 * float32 and float16 as bit patterns, built and compared with integers only: no float arithmetic, no libm, so that
 * inputs do not depend on a compiler's contraction, rounding mode or flush-to-zero setting.
 *
 * An *order code* is a float32 renumbered so that unsigned comparison is the order of values: code + 1 is the next
 * value up. -0.0 has the code just below +0.0; NaNs lie beyond the infinities.
 */
#ifndef TOPKCTS_CASES_FLOAT_BITS_H
#define TOPKCTS_CASES_FLOAT_BITS_H

#include <stdint.h>

#define FLOAT_BITS_PLUS_INFINITY UINT32_C(0x7F800000)
#define FLOAT_BITS_MINUS_INFINITY UINT32_C(0xFF800000)
#define FLOAT_BITS_MINUS_ZERO UINT32_C(0x80000000)
#define FLOAT_BITS_LARGEST UINT32_C(0x7F7FFFFF)        /* FLT_MAX */
#define FLOAT_BITS_MINUS_LARGEST UINT32_C(0xFF7FFFFF)  /* -FLT_MAX */
#define FLOAT_BITS_SMALLEST_NORMAL UINT32_C(0x00800000) /* FLT_MIN */

/* Order codes of the same landmarks. */
#define FLOAT_CODE_PLUS_ZERO UINT32_C(0x80000000)
#define FLOAT_CODE_MINUS_ZERO UINT32_C(0x7FFFFFFF)
#define FLOAT_CODE_PLUS_INFINITY UINT32_C(0xFF800000)
#define FLOAT_CODE_MINUS_INFINITY UINT32_C(0x007FFFFF)

/* Bits to order code and back; inverse to each other for every pattern. */
uint32_t float_code(uint32_t bits);
uint32_t float_bits_from_code(uint32_t code);

/* The bits of the finite float `offset` places from `bits` in the order of values; stops at +-FLT_MAX. */
uint32_t float_bits_step(uint32_t bits, int64_t offset);

/* value * 2^exponent rounded to the nearest float32, ties to even; overflows to infinity, underflows through the
 * denormals. value: any but INT64_MIN. */
uint32_t float_bits_from_scaled(int64_t value, int exponent);

/* A variate close to N(0, 1): mean 0, variance 1.01, tails to 8 sigma, as an integer multiple of 2^-34. From the
 * population count of 64 random bits (binomial, sigma 4) plus a triangular variate that fills the steps. */
int64_t float_normal_scaled(uint64_t random_a, uint64_t random_b);
#define FLOAT_NORMAL_EXPONENT (-34)

/* The float16 that a conversion with round-to-nearest-even gives; NaNs stay NaN. */
uint16_t float_bits_to_half(uint32_t bits);

/* The coarse radix bin of a score, as the kernels in the field compute it: the upper `width` bits of the float16
 * renumbered in value order. width: 1 .. 16. */
uint32_t float_coarse_bin(uint32_t bits, int width);

/* The order codes of the lowest and highest non-NaN score in a coarse bin. The bin must not be empty. */
void float_coarse_bin_range(uint32_t bin, int width, uint32_t *low_code, uint32_t *high_code);

#endif
