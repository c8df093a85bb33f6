/* SPDX-License-Identifier: Apache-2.0 */
/*
 * __half on the simulator against an oracle that knows no bits: the value of a half is a number of steps times a power of
 * two, and rounding is a search among all of them.
 */
#include <hip/hip_fp16.h>

#include <cmath>
#include <criterion/criterion.h>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

constexpr unsigned n_magnitudes = 0x7c00; /* finite ones, zero among them */

/* What the bits of a magnitude below 0x7c00 mean. */
double value_of(unsigned magnitude)
{
    const int exponent = static_cast<int>(magnitude / 1024);
    const int steps = static_cast<int>(magnitude % 1024);
    return exponent == 0 ? std::ldexp(steps, -24) : std::ldexp(1024 + steps, exponent - 25);
}

/* All finite magnitudes in order, then where infinity begins to be meant. */
const std::vector<double> &magnitudes()
{
    static const std::vector<double> all = [] {
        std::vector<double> values;
        for (unsigned i = 0; i < n_magnitudes; i++) values.push_back(value_of(i));
        values.push_back(65536);
        return values;
    }();
    return all;
}

enum class rounding { nearest, down, up, zero };

/* The bits of the half that the number rounds to. */
unsigned oracle(double value, rounding how)
{
    const unsigned             sign = std::signbit(value) ? 0x8000u : 0;
    const double               magnitude = std::fabs(value);
    const std::vector<double> &all = magnitudes();
    if (std::isinf(value)) return sign | 0x7c00u;
    unsigned below = 0;
    for (unsigned step = 0x4000; step > 0; step /= 2)
        if (below + step < n_magnitudes && all[below + step] <= magnitude) below += step;
    if (all[below] == magnitude) return sign | below;
    const bool away = how == rounding::nearest
                          ? magnitude - all[below] > all[below + 1] - magnitude ||
                                (magnitude - all[below] == all[below + 1] - magnitude && below % 2 == 1)
                          : how == rounding::zero ? false : (how == rounding::up) == (sign == 0);
    return sign | (away ? below + 1 : below); /* 0x7c00, infinity, comes after the largest */
}

void expect_bits(double value, const __half &half, rounding how, const char *name)
{
    cr_assert_eq(half.x, oracle(value, how), "%s(%a): 0x%04x instead of 0x%04x", name, value, half.x, oracle(value, how));
}

void check_float(float value)
{
    expect_bits(value, __float2half(value), rounding::nearest, "__float2half");
    expect_bits(value, __float2half_rn(value), rounding::nearest, "__float2half_rn");
    expect_bits(value, __half(value), rounding::nearest, "__half");
    expect_bits(value, __float2half_rd(value), rounding::down, "__float2half_rd");
    expect_bits(value, __float2half_ru(value), rounding::up, "__float2half_ru");
    expect_bits(value, __float2half_rz(value), rounding::zero, "__float2half_rz");
    expect_bits(value, __double2half(value), rounding::nearest, "__double2half");
}

void check_both_signs(float value)
{
    check_float(value);
    check_float(-value);
}

__half half_of(unsigned bits) { return __ushort_as_half(static_cast<unsigned short>(bits)); }

uint64_t random_bits(uint64_t i)
{
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

} // namespace

Test(simulator_half, every_half_has_its_value_and_comes_back)
{
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        const float    value = __half2float(half_of(bits));
        const unsigned magnitude = bits & 0x7fffu;
        if (magnitude > 0x7c00) {
            cr_assert(std::isnan(value), "0x%04x", bits);
            cr_assert(__hisnan(half_of(bits)));
            cr_assert(__hisnan(__float2half(value)), "NaN 0x%04x is lost", bits);
            cr_assert_eq(__float2half(value).x & 0x8000u, bits & 0x8000u);
            continue;
        }
        const double expected = magnitude == 0x7c00 ? std::numeric_limits<double>::infinity() : value_of(magnitude);
        cr_assert_eq(std::signbit(value), bits >> 15 != 0, "0x%04x", bits);
        cr_assert_eq(std::fabs(static_cast<double>(value)), expected, "0x%04x is %a", bits, static_cast<double>(value));
        check_float(value);
        cr_assert_eq(__float2half(value).x, bits);
    }
}

Test(simulator_half, ties_and_their_neighbours_round_right)
{
    for (unsigned i = 0; i < n_magnitudes; i++) {
        const double middle = (magnitudes()[i] + magnitudes()[i + 1]) / 2; /* 65520 at the end */
        const float  tie = static_cast<float>(middle);
        cr_assert_eq(static_cast<double>(tie), middle);
        check_both_signs(tie);
        check_both_signs(std::nextafter(tie, 0.0f));
        check_both_signs(std::nextafter(tie, 1e30f));
        /* Doubles next to the tie that are the tie as floats. */
        for (const double beside : {std::nextafter(middle, 0.0), std::nextafter(middle, 1e30)}) {
            expect_bits(beside, __double2half(beside), rounding::nearest, "__double2half");
            expect_bits(-beside, __double2half(-beside), rounding::nearest, "__double2half");
        }
    }
}

Test(simulator_half, the_ends_of_the_range)
{
    for (const float value : {0.0f, 0x1p-149f, 0x1p-126f, 0x1p-25f, 0x1.000002p-25f, 0x1.fffffep-26f, 0x1p-24f, 0x1.8p-24f,
                              0x1.ffcp-15f, 0x1.ffep-15f, 0x1p-14f, 65504.0f, 65519.996f, 65520.0f, 65535.0f, 65536.0f,
                              1e10f, std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity()})
        check_both_signs(value);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const __half half : {__float2half(nan), __float2half_rd(nan), __float2half_ru(nan), __float2half_rz(nan),
                              __double2half(static_cast<double>(nan))})
        cr_assert(__hisnan(half));
    cr_assert_eq(__int2half_rn(65519).x, 0x7bffu);
    cr_assert_eq(__int2half_rn(65520).x, 0x7c00u);
    cr_assert_eq(__int2half_rn(2049).x, oracle(2049, rounding::nearest));
    cr_assert_eq(__uint2half_rn(0xffffffffu).x, 0x7c00u);
}

Test(simulator_half, random_numbers_and_sums_round_once)
{
    for (uint64_t i = 0; i < 200000; i++) {
        const uint64_t random = random_bits(i);
        /* Floats whose exponents reach a little beyond the halves' at both ends. */
        const uint32_t exponent = 90 + static_cast<uint32_t>(random >> 32) % 60;
        check_both_signs(__uint_as_float(exponent << 23 | (static_cast<uint32_t>(random) & 0x7fffffu)));
        const __half a = half_of(static_cast<unsigned>(random) & 0xffffu), b = half_of(random >> 16 & 0xffffu),
                     c = half_of(random >> 32 & 0xffffu);
        const double x = __half2float(a), y = __half2float(b), z = __half2float(c);
        if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z)) continue;
        /* Zeros of sums have signs of their own; numbers here are exact. */
        if (x + y != 0) expect_bits(x + y, __hadd(a, b), rounding::nearest, "__hadd");
        if (x - y != 0) expect_bits(x - y, __hsub(a, b), rounding::nearest, "__hsub");
        expect_bits(x * y, __hmul(a, b), rounding::nearest, "__hmul");
        cr_assert_eq(__hlt(a, b), x < y);
        cr_assert_eq(__hge(a, b), x >= y);
        const long double exact = static_cast<long double>(x) * static_cast<long double>(y) + static_cast<long double>(z);
        if (static_cast<long double>(static_cast<double>(exact)) == exact && exact != 0)
            expect_bits(static_cast<double>(exact), __hfma(a, b, c), rounding::nearest, "__hfma");
    }
}

/* A tie between halves, and the same with the smallest half added: only one rounding sees the difference. */
Test(simulator_half, a_fused_sum_rounds_once)
{
    const __half tiny = half_of(1), a = __float2half(683.0f), b = __float2half(24.0f);
    cr_assert_eq(__half2float(__hfma(a, b, __float2half(0.0f))), 16384.0f);
    cr_assert_eq(__half2float(__hfma(a, b, tiny)), 16400.0f);
    cr_assert_eq(__half2float(__hfma(a, b, __hneg(tiny))), 16384.0f);
    cr_assert_eq(__half2float(__hfma(tiny, tiny, half_of(0x7bff))), 65504.0f);
}

Test(simulator_half, pairs_do_both_halves)
{
    const __half2 a = __floats2half2_rn(1.5f, -2.0f), b = __halves2half2(__float2half(0.5f), __float2half(8.0f));
    cr_assert_eq(__low2float(__hadd2(a, b)), 2.0f);
    cr_assert_eq(__high2float(__hadd2(a, b)), 6.0f);
    cr_assert_eq(__low2float(__hmul2(a, b)), 0.75f);
    cr_assert_eq(__high2float(__hfma2(a, b, a)), -18.0f);
    cr_assert_eq(__low2float(__hmax2(a, b)), 1.5f);
    cr_assert_eq(__high2float(__hmin2(a, b)), -2.0f);
    cr_assert_eq(__low2float(__hgt2(a, b)), 1.0f);
    cr_assert_eq(__high2float(__hgt2(a, b)), 0.0f);
    cr_assert_not(__hbgt2(a, b));
    cr_assert(__hbne2(a, b));
    cr_assert_eq(__high2float(__lowhigh2highlow(a)), 1.5f);
    cr_assert_eq(__half22float2(__lows2half2(a, b)).y, 0.5f);
}
