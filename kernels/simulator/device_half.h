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
    SIMULATOR_INLINE __half(double value) : x(simulator_half_bits(static_cast<float>(value))) {}
    SIMULATOR_INLINE __half(int value) : x(simulator_half_bits(static_cast<float>(value))) {}
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

SIMULATOR_INLINE __half __int2half_rn(int a) { return __half(static_cast<float>(a)); }
SIMULATOR_INLINE int    __half2int_rn(__half a) { return __float2int_rn(a); }
SIMULATOR_INLINE int    __half2int_rz(__half a) { return __float2int_rz(a); }

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

SIMULATOR_INLINE __half2 __floats2half2_rn(float a, float b) { return {__half(a), __half(b)}; }
SIMULATOR_INLINE __half2 __float2half2_rn(float a) { return {__half(a), __half(a)}; }
SIMULATOR_INLINE __half2 __halves2half2(__half a, __half b) { return {a, b}; }
SIMULATOR_INLINE __half2 make_half2(__half a, __half b) { return {a, b}; }
SIMULATOR_INLINE __half  __low2half(__half2 a) { return a.x; }
SIMULATOR_INLINE __half  __high2half(__half2 a) { return a.y; }
SIMULATOR_INLINE float   __low2float(__half2 a) { return a.x; }
SIMULATOR_INLINE float   __high2float(__half2 a) { return a.y; }
SIMULATOR_INLINE float2  __half22float2(__half2 a) { return make_float2(a.x, a.y); }

#endif
