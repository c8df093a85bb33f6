/* SPDX-License-Identifier: Apache-2.0 */
/*
 * __half as CUDA and HIP know it, in integers: conversions round to nearest even, denormals and infinities are kept,
 * NaNs stay NaNs. Answers cuda_fp16.h and hip/hip_fp16.h. Arithmetic is done in float and rounded once.
 */
#ifndef TOPKCTS_SIMULATOR_DEVICE_HALF_H
#define TOPKCTS_SIMULATOR_DEVICE_HALF_H

#include "device.h"

SIMULATOR_INLINE unsigned short simulator_half_bits(float value)
{
    const unsigned bits = __float_as_uint(value);
    const unsigned sign = bits >> 16 & 0x8000u;
    const unsigned magnitude = bits & 0x7fffffffu;
    unsigned       half;
    if (magnitude > 0x7f800000u) half = 0x7e00u | (magnitude >> 13 & 0x3ffu);
    else if (magnitude >= 0x477ff000u) half = 0x7c00u; /* 65520 and beyond */
    else if (magnitude >= 0x38800000u) half = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    else if (magnitude < 0x33000000u) half = 0; /* below half of the smallest denormal */
    else {
        const unsigned shift = 126u - (magnitude >> 23);
        const unsigned mantissa = (magnitude & 0x7fffffu) | 0x800000u;
        half = (mantissa + (1u << (shift - 1)) - 1u + (mantissa >> shift & 1u)) >> shift;
    }
    return static_cast<unsigned short>(sign | half);
}

/* A double as a float whose last bit remembers whether anything was cut off, so that rounding once more is right. */
SIMULATOR_INLINE float simulator_rounded_to_odd(double value)
{
    const float nearest = static_cast<float>(value);
    const double back = nearest;
    if (back == value || value != value || back - back != 0) return nearest;
    unsigned bits = __float_as_uint(nearest);
    if ((back < 0 ? -back : back) > (value < 0 ? -value : value)) bits--; /* towards zero */
    return __uint_as_float(bits | 1u);
}

SIMULATOR_INLINE float simulator_half_value(unsigned short half)
{
    const unsigned sign = (half & 0x8000u) << 16;
    const unsigned exponent = half >> 10 & 0x1fu;
    unsigned       mantissa = half & 0x3ffu;
    if (exponent == 0x1f) return __uint_as_float(sign | 0x7f800000u | mantissa << 13);
    if (exponent != 0) return __uint_as_float(sign | (exponent + 112u) << 23 | mantissa << 13);
    if (mantissa == 0) return __uint_as_float(sign);
    unsigned shift = 0;
    for (; (mantissa & 0x400u) == 0; shift++) mantissa <<= 1;
    return __uint_as_float(sign | (113u - shift) << 23 | (mantissa & 0x3ffu) << 13);
}

struct __half_raw { unsigned short x; };

struct __half {
    unsigned short x;
    __half() = default;
    SIMULATOR_INLINE __half(float value) : x(simulator_half_bits(value)) {}
    SIMULATOR_INLINE __half(double value) : x(simulator_half_bits(simulator_rounded_to_odd(value))) {}
    SIMULATOR_INLINE __half(int value) : __half(static_cast<double>(value)) {}
    SIMULATOR_INLINE __half(unsigned value) : __half(static_cast<double>(value)) {}
    SIMULATOR_INLINE __half(__half_raw raw) : x(raw.x) {}
    SIMULATOR_INLINE operator float() const { return simulator_half_value(x); }
};
typedef __half half;

struct alignas(4) __half2 { __half x, y; };
typedef __half2 half2;

SIMULATOR_INLINE __half         __float2half(float a) { return __half(a); }
SIMULATOR_INLINE __half         __float2half_rn(float a) { return __half(a); }
SIMULATOR_INLINE __half         __double2half(double a) { return __half(a); }
SIMULATOR_INLINE float          __half2float(__half a) { return simulator_half_value(a.x); }
SIMULATOR_INLINE unsigned short __half_as_ushort(__half a) { return a.x; }
SIMULATOR_INLINE short          __half_as_short(__half a) { return static_cast<short>(a.x); }
SIMULATOR_INLINE __half         __ushort_as_half(unsigned short bits) { return __half(__half_raw{bits}); }
SIMULATOR_INLINE __half         __short_as_half(short bits) { return __ushort_as_half(static_cast<unsigned short>(bits)); }

/* Truncation, downward and upward: the nearest half, moved by one place when it lies on the wrong side. */
SIMULATOR_INLINE __half simulator_half_directed(float a, int direction)
{
    __half      h = __half(a);
    const float back = h;
    if (a != a || back == a) return h;
    const bool above = back > a;
    if (direction < 0 && above) h.x = static_cast<unsigned short>(h.x == 0 ? 0x8001 : (h.x & 0x8000) != 0 ? h.x + 1 : h.x - 1);
    if (direction > 0 && !above) h.x = static_cast<unsigned short>(h.x == 0x8000 ? 1 : (h.x & 0x8000) != 0 ? h.x - 1 : h.x + 1);
    return h;
}
SIMULATOR_INLINE __half __float2half_rd(float a) { return simulator_half_directed(a, -1); }
SIMULATOR_INLINE __half __float2half_ru(float a) { return simulator_half_directed(a, 1); }
SIMULATOR_INLINE __half __float2half_rz(float a) { return simulator_half_directed(a, a < 0 ? 1 : -1); }

SIMULATOR_INLINE __half __int2half_rn(int a) { return __half(a); }
SIMULATOR_INLINE __half __uint2half_rn(unsigned a) { return __half(a); }
SIMULATOR_INLINE __half __short2half_rn(short a) { return __half(static_cast<int>(a)); }
SIMULATOR_INLINE __half __ushort2half_rn(unsigned short a) { return __half(static_cast<int>(a)); }
SIMULATOR_INLINE int    __half2int_rn(__half a) { return __float2int_rn(a); }
SIMULATOR_INLINE int    __half2int_rz(__half a) { return __float2int_rz(a); }
SIMULATOR_INLINE int    __half2int_rd(__half a) { return __float2int_rd(a); }
SIMULATOR_INLINE int    __half2int_ru(__half a) { return __float2int_ru(a); }
SIMULATOR_INLINE unsigned __half2uint_rn(__half a) { return __float2uint_rn(a); }
SIMULATOR_INLINE unsigned __half2uint_rz(__half a) { return __float2uint_rz(a); }

SIMULATOR_INLINE __half __hadd(__half a, __half b) { return __half(static_cast<float>(a) + static_cast<float>(b)); }
SIMULATOR_INLINE __half __hsub(__half a, __half b) { return __half(static_cast<float>(a) - static_cast<float>(b)); }
SIMULATOR_INLINE __half __hmul(__half a, __half b) { return __half(static_cast<float>(a) * static_cast<float>(b)); }
SIMULATOR_INLINE __half __hdiv(__half a, __half b) { return __half(static_cast<float>(a) / static_cast<float>(b)); }
SIMULATOR_INLINE __half __hneg(__half a) { return __ushort_as_half(static_cast<unsigned short>(a.x ^ 0x8000)); }
SIMULATOR_INLINE __half __habs(__half a) { return __ushort_as_half(static_cast<unsigned short>(a.x & 0x7fff)); }
SIMULATOR_INLINE bool   __heq(__half a, __half b) { return static_cast<float>(a) == static_cast<float>(b); }
SIMULATOR_INLINE bool   __hne(__half a, __half b) { return static_cast<float>(a) != static_cast<float>(b); }
SIMULATOR_INLINE bool   __hlt(__half a, __half b) { return static_cast<float>(a) < static_cast<float>(b); }
SIMULATOR_INLINE bool   __hle(__half a, __half b) { return static_cast<float>(a) <= static_cast<float>(b); }
SIMULATOR_INLINE bool   __hgt(__half a, __half b) { return static_cast<float>(a) > static_cast<float>(b); }
SIMULATOR_INLINE bool   __hge(__half a, __half b) { return static_cast<float>(a) >= static_cast<float>(b); }
SIMULATOR_INLINE bool   __hisnan(__half a) { return (a.x & 0x7fff) > 0x7c00; }
SIMULATOR_INLINE int    __hisinf(__half a) { return (a.x & 0x7fff) != 0x7c00 ? 0 : (a.x & 0x8000) != 0 ? -1 : 1; }
SIMULATOR_INLINE __half __hmax(__half a, __half b) { return __hisnan(a) ? b : __hisnan(b) ? a : __hlt(a, b) ? b : a; }
SIMULATOR_INLINE __half __hmin(__half a, __half b) { return __hisnan(a) ? b : __hisnan(b) ? a : __hlt(b, a) ? b : a; }

/* The product is exact in double, and so is every sum that is near a tie of halves: it has at most 40 bits. */
SIMULATOR_INLINE __half __hfma(__half a, __half b, __half c)
{
    return __half(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c));
}

SIMULATOR_INLINE __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
SIMULATOR_INLINE __half2 __float2half2_rn(float a) { return {__half(a), __half(a)}; }
SIMULATOR_INLINE __half2 __halves2half2(__half a, __half b) { return {a, b}; }
SIMULATOR_INLINE __half2 make_half2(__half a, __half b) { return {a, b}; }
SIMULATOR_INLINE __half  __low2half(__half2 a) { return a.x; }
SIMULATOR_INLINE __half  __high2half(__half2 a) { return a.y; }
SIMULATOR_INLINE float   __low2float(__half2 a) { return a.x; }
SIMULATOR_INLINE float   __high2float(__half2 a) { return a.y; }
SIMULATOR_INLINE float2  __half22float2(__half2 a) { return make_float2(a.x, a.y); }
SIMULATOR_INLINE __half2 __float22half2_rn(float2 a) { return {__half(a.x), __half(a.y)}; }
SIMULATOR_INLINE __half2 __half2half2(__half a) { return {a, a}; }
SIMULATOR_INLINE __half2 __low2half2(__half2 a) { return {a.x, a.x}; }
SIMULATOR_INLINE __half2 __high2half2(__half2 a) { return {a.y, a.y}; }
SIMULATOR_INLINE __half2 __lowhigh2highlow(__half2 a) { return {a.y, a.x}; }
SIMULATOR_INLINE __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
SIMULATOR_INLINE __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
SIMULATOR_INLINE __half2 __hfma2(__half2 a, __half2 b, __half2 c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }
SIMULATOR_INLINE __half2 __hneg2(__half2 a) { return {__hneg(a.x), __hneg(a.y)}; }
SIMULATOR_INLINE __half2 __habs2(__half2 a) { return {__habs(a.x), __habs(a.y)}; }

/* Both halves at once; comparisons give 1 or 0 in each, the forms with a b whether it holds in both. */
#define SIMULATOR_HALF2(name, one)                                                                                     \
    SIMULATOR_INLINE __half2 name(__half2 a, __half2 b) { return {one(a.x, b.x), one(a.y, b.y)}; }
SIMULATOR_HALF2(__hadd2, __hadd)
SIMULATOR_HALF2(__hsub2, __hsub)
SIMULATOR_HALF2(__hmul2, __hmul)
SIMULATOR_HALF2(__h2div, __hdiv)
SIMULATOR_HALF2(__hmax2, __hmax)
SIMULATOR_HALF2(__hmin2, __hmin)
#undef SIMULATOR_HALF2
#define SIMULATOR_HALF2_COMPARE(name)                                                                                  \
    SIMULATOR_INLINE __half2 __h##name##2(__half2 a, __half2 b)                                                        \
    {                                                                                                                  \
        return {__half(static_cast<int>(__h##name(a.x, b.x))), __half(static_cast<int>(__h##name(a.y, b.y)))};         \
    }                                                                                                                  \
    SIMULATOR_INLINE bool __hb##name##2(__half2 a, __half2 b) { return __h##name(a.x, b.x) && __h##name(a.y, b.y); }
SIMULATOR_HALF2_COMPARE(eq)
SIMULATOR_HALF2_COMPARE(ne)
SIMULATOR_HALF2_COMPARE(lt)
SIMULATOR_HALF2_COMPARE(le)
SIMULATOR_HALF2_COMPARE(gt)
SIMULATOR_HALF2_COMPARE(ge)
#undef SIMULATOR_HALF2_COMPARE

#endif
