/* SPDX-License-Identifier: Apache-2.0 */
/* Bits, numbers, conversions and cached loads of the device language. Part of device.h; knows no thread. */
#ifndef TOPKCTS_SIMULATOR_DEVICE_BITS_H
#define TOPKCTS_SIMULATOR_DEVICE_BITS_H

/* libstdc++'s <cmath> spends a quarter of a kernel's compilation on functions like std::legendre, which no GPU has. */
#if defined(TOPKCTS_WATCHED) && defined(__GLIBCXX__)
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#define _GLIBCXX_USE_STD_SPEC_FUNCS 0
#endif
#include <limits>
#include <math.h> /* with isnan and its like outside of std */

/* Bits. */

SIMULATOR_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
SIMULATOR_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIMULATOR_INLINE int __ffs(unsigned x) { return __builtin_ffs(static_cast<int>(x)); }
SIMULATOR_INLINE int __ffsll(unsigned long long x) { return __builtin_ffsll(static_cast<long long>(x)); }
SIMULATOR_INLINE int __clz(unsigned x) { return x == 0 ? 32 : __builtin_clz(x); }
SIMULATOR_INLINE int __clzll(unsigned long long x) { return x == 0 ? 64 : __builtin_clzll(x); }
SIMULATOR_INLINE unsigned __brev(unsigned x)
{
    x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
    x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
    x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
    return __builtin_bswap32(x);
}
SIMULATOR_INLINE unsigned __float_as_uint(float x) { return simulator_unword<unsigned>(simulator_word(x)); }
SIMULATOR_INLINE int      __float_as_int(float x) { return simulator_unword<int>(simulator_word(x)); }
SIMULATOR_INLINE float    __uint_as_float(unsigned x) { return simulator_unword<float>(simulator_word(x)); }
SIMULATOR_INLINE float    __int_as_float(int x) { return simulator_unword<float>(simulator_word(x)); }
SIMULATOR_INLINE unsigned long long __brevll(unsigned long long x)
{
    return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 | __brev(static_cast<unsigned>(x >> 32));
}
SIMULATOR_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift)
{
    return static_cast<unsigned>(((uint64_t{high} << 32 | low) << (shift & 31)) >> 32);
}
SIMULATOR_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return static_cast<unsigned>((uint64_t{high} << 32 | low) >> (shift & 31));
}
SIMULATOR_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector)
{
    const uint64_t bytes = uint64_t{y} << 32 | x;
    unsigned       result = 0;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned nibble = selector >> (4 * i) & 0xf;
        const unsigned byte = static_cast<unsigned>(bytes >> (8 * (nibble & 7))) & 0xff;
        result |= ((nibble & 8) == 0 ? byte : (byte & 0x80) != 0 ? 0xffu : 0u) << (8 * i);
    }
    return result;
}
SIMULATOR_INLINE unsigned           __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(uint64_t{a} * b >> 32); }
SIMULATOR_INLINE int                __mulhi(int a, int b) { return static_cast<int>(int64_t{a} * b >> 32); }
SIMULATOR_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b)
{
    __extension__ typedef unsigned __int128 wide;
    return static_cast<unsigned long long>(static_cast<wide>(a) * b >> 64);
}
SIMULATOR_INLINE int                __mul24(int a, int b) { return static_cast<int>(static_cast<unsigned>(a << 8 >> 8) * static_cast<unsigned>(b << 8 >> 8)); }
SIMULATOR_INLINE unsigned           __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
SIMULATOR_INLINE unsigned long long __double_as_ulonglong(double x) { return simulator_word(x); }
SIMULATOR_INLINE long long          __double_as_longlong(double x) { return static_cast<long long>(simulator_word(x)); }
SIMULATOR_INLINE double             __longlong_as_double(long long x) { return simulator_unword<double>(static_cast<uint64_t>(x)); }

/* Conversions saturate, and NaN gives 0, as on the hardware. */
template <typename To> SIMULATOR_INLINE To simulator_to_integer(double x)
{
    if (!(x == x)) return 0;
    constexpr double low = static_cast<double>(std::numeric_limits<To>::lowest());
    constexpr double high = static_cast<double>(std::numeric_limits<To>::max());
    return x <= low ? std::numeric_limits<To>::lowest() : x >= high ? std::numeric_limits<To>::max() : static_cast<To>(x);
}
SIMULATOR_INLINE int      __float2int_rn(float x) { return simulator_to_integer<int>(std::nearbyint(x)); }
SIMULATOR_INLINE int      __float2int_rz(float x) { return simulator_to_integer<int>(std::trunc(x)); }
SIMULATOR_INLINE int      __float2int_rd(float x) { return simulator_to_integer<int>(std::floor(x)); }
SIMULATOR_INLINE int      __float2int_ru(float x) { return simulator_to_integer<int>(std::ceil(x)); }
SIMULATOR_INLINE unsigned __float2uint_rn(float x) { return simulator_to_integer<unsigned>(std::nearbyint(x)); }
SIMULATOR_INLINE unsigned __float2uint_rz(float x) { return simulator_to_integer<unsigned>(std::trunc(x)); }
SIMULATOR_INLINE unsigned __float2uint_rd(float x) { return simulator_to_integer<unsigned>(std::floor(x)); }
SIMULATOR_INLINE unsigned __float2uint_ru(float x) { return simulator_to_integer<unsigned>(std::ceil(x)); }
SIMULATOR_INLINE float    __int2float_rn(int x) { return static_cast<float>(x); }
SIMULATOR_INLINE float    __uint2float_rn(unsigned x) { return static_cast<float>(x); }
SIMULATOR_INLINE float    __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
SIMULATOR_INLINE float    __fadd_rn(float a, float b) { return a + b; }
SIMULATOR_INLINE float    __fmul_rn(float a, float b) { return a * b; }
SIMULATOR_INLINE float    __fsub_rn(float a, float b) { return a - b; }
SIMULATOR_INLINE float    __fdiv_rn(float a, float b) { return a / b; }
SIMULATOR_INLINE float    __fdividef(float a, float b) { return a / b; }
SIMULATOR_INLINE float    __frcp_rn(float x) { return 1.0f / x; }
SIMULATOR_INLINE float    __fsqrt_rn(float x) { return std::sqrt(x); }
SIMULATOR_INLINE float    rsqrtf(float x) { return 1.0f / std::sqrt(x); }
SIMULATOR_INLINE float    __frsqrt_rn(float x) { return rsqrtf(x); }
SIMULATOR_INLINE float    __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }

/* min and max of two numbers of the same or of different types, in the type that arithmetic gives them. */
template <typename A, typename B> constexpr std::common_type_t<A, B> min(A a, B b)
{
    using T = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point<T>::value)
        if (static_cast<T>(a) != static_cast<T>(a)) return static_cast<T>(b);
    return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}
template <typename A, typename B> constexpr std::common_type_t<A, B> max(A a, B b)
{
    using T = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point<T>::value)
        if (static_cast<T>(a) != static_cast<T>(a)) return static_cast<T>(b);
    return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}

/* Fast forms; macros, since the host's library has functions of these names for itself. */
#define __expf(x) expf(x)
#define __exp2f(x) exp2f(x)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __powf(x, y) powf(x, y)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)

/* Bytes and half words of 32-bit words. */
SIMULATOR_INLINE int __dp4a(int a, int b, int sum)
{
    for (int i = 0; i < 32; i += 8)
        sum += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
    return sum;
}
SIMULATOR_INLINE unsigned __sad(int a, int b, unsigned sum) { return sum + (a < b ? static_cast<unsigned>(b) - static_cast<unsigned>(a) : static_cast<unsigned>(a) - static_cast<unsigned>(b)); }
SIMULATOR_INLINE unsigned __usad(unsigned a, unsigned b, unsigned sum) { return sum + (a < b ? b - a : a - b); }

/* A kernel that gives up is a crash. */
SIMULATOR_INLINE void __trap() { __builtin_trap(); }

/* Loads and stores that name a cache. */
template <typename T> SIMULATOR_INLINE T __ldg(const T *address) { return *address; }
template <typename T> SIMULATOR_INLINE T __ldca(const T *address) { return *address; }
template <typename T> SIMULATOR_INLINE T __ldcg(const T *address) { return *address; }
template <typename T> SIMULATOR_INLINE T __ldcs(const T *address) { return *address; }
template <typename T> SIMULATOR_INLINE T __ldlu(const T *address) { return *address; }
template <typename T> SIMULATOR_INLINE void __stcg(T *address, T value) { *address = value; }
template <typename T> SIMULATOR_INLINE void __stcs(T *address, T value) { *address = value; }
template <typename T> SIMULATOR_INLINE void __stwb(T *address, T value) { *address = value; }

#endif
