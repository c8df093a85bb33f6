/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device language on the CPU: what a kernel source needs from hip_runtime.h or cuda_runtime.h, as plain C++17.
 *
 * A GPU thread is a fiber. Thread and block coordinates are read through globals that the scheduler keeps; barriers
 * and wave operations call into rendezvous.cpp; atomics are ordinary operations with a scheduling point before them.
 *
 * LDS is thread-local memory of the one OS thread that launches, so that `__shared__ T x[N]` works at function and at
 * file scope and `extern __shared__ T dynamic_lds[]` names the simulator's own array. A file's static LDS lies between
 * two labels in its .tbss section, see simulator_static_lds(). Therefore: no -fdata-sections, no link-time
 * optimisation, and no __shared__ inside templates or inline functions in files that use simulator_static_lds().
 *
 * This file must not know how threads are scheduled. Not part of the C interface; kernels include it by the vendors'
 * names, found through -Ikernels/simulator/include.
 */
#ifndef TOPKCTS_SIMULATOR_DEVICE_H
#define TOPKCTS_SIMULATOR_DEVICE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#define TOPKCTS_SIMULATOR 1

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

/* Constant initialisation spares every access the check for a dynamic initialiser (gcc: -fno-extern-tls-init). */
#if defined(__clang__)
#define __shared__ __attribute__((require_constant_initialization)) thread_local
#else
#define __shared__ __constinit thread_local
#endif

struct uint2 { unsigned x, y; };
struct uint3 { unsigned x, y, z; };
struct uint4 { unsigned x, y, z, w; };
struct int2 { int x, y; };
struct int4 { int x, y, z, w; };
struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
struct dim3 { unsigned x, y, z; };

inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

extern "C" {

/* Coordinates of the running thread; written at every switch. */
extern const uint3 *simulator_thread_index;
extern uint3        simulator_block_index;
extern dim3         simulator_block_dim;
extern dim3         simulator_grid_dim;
extern int          simulator_wave_size;

/* Atomics left until the running thread is switched away; see schedule.h. */
extern int64_t simulator_atomics_left;
void simulator_switch_at_atomic(void);

/* How many threads of the block passed a non-zero predicate. */
unsigned simulator_barrier(bool predicate, const char *file, int line);

enum simulator_wave_kind { SIMULATOR_WAVE_SYNC, SIMULATOR_WAVE_BALLOT, SIMULATOR_WAVE_SHUFFLE, SIMULATOR_WAVE_MATCH };

/* Waits for the participants: the lanes of `mask`, or for mask 0 the lanes that come here together. BALLOT: the mask of
 * lanes whose value is not 0. SHUFFLE: the value of lane `source` (poison when it does not take part). MATCH: the mask
 * of lanes with an equal value. SYNC: the mask of participants. */
uint64_t simulator_wave_operation(enum simulator_wave_kind kind, uint64_t mask, uint64_t value, int source,
                                  const char *file, int line);

/* The labels around this file's static LDS. */
extern __thread unsigned char simulator_static_lds_begin[] __asm__("topkcts_static_lds_begin")
    __attribute__((visibility("hidden")));
extern __thread unsigned char simulator_static_lds_end[] __asm__("topkcts_static_lds_end")
    __attribute__((visibility("hidden")));
}

/* Both labels are local to the object file. Subsection 1 is placed behind everything the compiler puts into .tbss. */
__asm__(".pushsection .tbss,\"awT\",@nobits\n"
        ".type topkcts_static_lds_begin,@tls_object\n"
        "topkcts_static_lds_begin:\n"
        ".subsection 1\n"
        ".type topkcts_static_lds_end,@tls_object\n"
        "topkcts_static_lds_end:\n"
        ".popsection\n");

/* The static LDS of the file this is compiled into, for struct simulator_launch. */
static inline void *simulator_static_lds(size_t *bytes)
{
    *bytes = reinterpret_cast<uintptr_t>(simulator_static_lds_end) -
             reinterpret_cast<uintptr_t>(simulator_static_lds_begin);
    return *bytes == 0 ? nullptr : simulator_static_lds_begin;
}

#define threadIdx (*simulator_thread_index)
#define blockIdx simulator_block_index
#define blockDim simulator_block_dim
#define gridDim simulator_grid_dim
#define warpSize simulator_wave_size

/* Default arguments name the source position of the call: a barrier is its position, since a compiler may emit the
 * call twice. */
#define SIMULATOR_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

/* Barriers. */

inline void __syncthreads(SIMULATOR_HERE) { (void)simulator_barrier(false, file, line); }
inline int  __syncthreads_count(int predicate, SIMULATOR_HERE)
{
    return static_cast<int>(simulator_barrier(predicate != 0, file, line));
}
inline int __syncthreads_or(int predicate, SIMULATOR_HERE)
{
    return simulator_barrier(predicate != 0, file, line) != 0;
}
inline int __syncthreads_and(int predicate, SIMULATOR_HERE)
{
    return simulator_barrier(predicate == 0, file, line) == 0;
}
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}

/* Wave operations. Forms with a mask name their participants; forms without one take the lanes that arrive together. */

inline void __syncwarp(unsigned long long mask = ~0ull, SIMULATOR_HERE)
{
    (void)simulator_wave_operation(SIMULATOR_WAVE_SYNC, mask, 0, 0, file, line);
}
inline unsigned long long __activemask(SIMULATOR_HERE)
{
    return simulator_wave_operation(SIMULATOR_WAVE_SYNC, 0, 0, 0, file, line);
}
inline unsigned long long __ballot(int predicate, SIMULATOR_HERE)
{
    return simulator_wave_operation(SIMULATOR_WAVE_BALLOT, 0, predicate != 0, 0, file, line);
}
inline int __any(int predicate, SIMULATOR_HERE) { return __ballot(predicate, file, line) != 0; }
inline int __all(int predicate, SIMULATOR_HERE) { return __ballot(predicate == 0, file, line) == 0; }
inline unsigned long long __ballot_sync(unsigned long long mask, int predicate, SIMULATOR_HERE)
{
    return simulator_wave_operation(SIMULATOR_WAVE_BALLOT, mask, predicate != 0, 0, file, line);
}
inline int __any_sync(unsigned long long mask, int predicate, SIMULATOR_HERE)
{
    return __ballot_sync(mask, predicate, file, line) != 0;
}
inline int __all_sync(unsigned long long mask, int predicate, SIMULATOR_HERE)
{
    return __ballot_sync(mask, predicate == 0, file, line) == 0;
}

inline int simulator_lane()
{
    const dim3 &dim = simulator_block_dim;
    return static_cast<int>((threadIdx.x + dim.x * (threadIdx.y + dim.y * threadIdx.z)) &
                            (static_cast<unsigned>(simulator_wave_size) - 1));
}

/* A value of up to 8 bytes as a 64-bit word and back. */
template <typename T> inline uint64_t simulator_word(T value)
{
    static_assert(sizeof(T) <= sizeof(uint64_t) && std::is_trivially_copyable<T>::value, "up to 8 plain bytes");
    uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    return word;
}
template <typename T> inline T simulator_unword(uint64_t word)
{
    T value;
    std::memcpy(&value, &word, sizeof value);
    return value;
}
template <typename T>
inline T simulator_shuffle(unsigned long long mask, T value, int source, const char *file, int line)
{
    return simulator_unword<T>(
        simulator_wave_operation(SIMULATOR_WAVE_SHUFFLE, mask, simulator_word(value), source, file, line));
}

/* The source lane of each form; `width` is a power of two, and lanes stay inside their group of that width. */
inline int simulator_source_idx(int lane, int source, int width) { return (lane & -width) | (source & (width - 1)); }
inline int simulator_source_up(int lane, unsigned delta, int width)
{
    const int within = lane & (width - 1);
    return static_cast<int>(delta) > within ? lane : lane - static_cast<int>(delta);
}
inline int simulator_source_down(int lane, unsigned delta, int width)
{
    const int within = lane & (width - 1);
    return within + static_cast<int>(delta) >= width ? lane : lane + static_cast<int>(delta);
}
inline int simulator_source_xor(int lane, int lane_mask, int width)
{
    const int source = lane ^ lane_mask;
    return source >= (lane & -width) + width ? lane : source;
}

#define SIMULATOR_SHUFFLE(name, argument_type, source_function)                                                        \
    template <typename T>                                                                                              \
    inline T name(T value, argument_type argument, int width = simulator_wave_size, SIMULATOR_HERE)                    \
    {                                                                                                                  \
        return simulator_shuffle(0, value, source_function(simulator_lane(), argument, width), file, line);            \
    }                                                                                                                  \
    template <typename T>                                                                                              \
    inline T name##_sync(unsigned long long mask, T value, argument_type argument, int width = simulator_wave_size,    \
                         SIMULATOR_HERE)                                                                               \
    {                                                                                                                  \
        return simulator_shuffle(mask, value, source_function(simulator_lane(), argument, width), file, line);         \
    }
SIMULATOR_SHUFFLE(__shfl, int, simulator_source_idx)
SIMULATOR_SHUFFLE(__shfl_up, unsigned, simulator_source_up)
SIMULATOR_SHUFFLE(__shfl_down, unsigned, simulator_source_down)
SIMULATOR_SHUFFLE(__shfl_xor, int, simulator_source_xor)
#undef SIMULATOR_SHUFFLE

template <typename T> inline unsigned long long __match_any_sync(unsigned long long mask, T value, SIMULATOR_HERE)
{
    return simulator_wave_operation(SIMULATOR_WAVE_MATCH, mask, simulator_word(value), 0, file, line);
}

/* Bits. */

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __ffs(unsigned x) { return __builtin_ffs(static_cast<int>(x)); }
inline int __ffsll(unsigned long long x) { return __builtin_ffsll(static_cast<long long>(x)); }
inline int __clz(unsigned x) { return x == 0 ? 32 : __builtin_clz(x); }
inline int __clzll(unsigned long long x) { return x == 0 ? 64 : __builtin_clzll(x); }
inline unsigned __brev(unsigned x)
{
    x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
    x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
    x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
    return __builtin_bswap32(x);
}
inline unsigned __float_as_uint(float x) { return simulator_unword<unsigned>(simulator_word(x)); }
inline int      __float_as_int(float x) { return simulator_unword<int>(simulator_word(x)); }
inline float    __uint_as_float(unsigned x) { return simulator_unword<float>(simulator_word(x)); }
inline float    __int_as_float(int x) { return simulator_unword<float>(simulator_word(x)); }
template <typename T> inline T __ldg(const T *address) { return *address; }
template <typename T> constexpr T min(T a, T b) { return b < a ? b : a; }
template <typename T> constexpr T max(T a, T b) { return a < b ? b : a; }

/* Atomics on 32- and 64-bit words, in LDS or global memory alike. They return the old value. */

/* Signed words wrap as the hardware's do; floats add as floats. */
template <typename T> inline T simulator_wrapping_add(T a, T b)
{
    if constexpr (std::is_integral<T>::value) {
        using U = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    } else {
        return a + b;
    }
}
template <typename T> inline T simulator_wrapping_sub(T a, T b)
{
    if constexpr (std::is_integral<T>::value) {
        using U = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
    } else {
        return a - b;
    }
}

#define SIMULATOR_ATOMIC(name, new_value)                                                                              \
    template <typename T, typename U> inline T name(T *address, U operand)                                             \
    {                                                                                                                  \
        static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics are on 32- and 64-bit words");                        \
        if (--simulator_atomics_left < 0) simulator_switch_at_atomic();                                                \
        const T old = *address;                                                                                        \
        const T value = static_cast<T>(operand);                                                                       \
        *address = (new_value);                                                                                        \
        return old;                                                                                                    \
    }
SIMULATOR_ATOMIC(atomicAdd, simulator_wrapping_add(old, value))
SIMULATOR_ATOMIC(atomicSub, simulator_wrapping_sub(old, value))
SIMULATOR_ATOMIC(atomicMin, value < old ? value : old)
SIMULATOR_ATOMIC(atomicMax, old < value ? value : old)
SIMULATOR_ATOMIC(atomicAnd, static_cast<T>(old & value))
SIMULATOR_ATOMIC(atomicOr, static_cast<T>(old | value))
SIMULATOR_ATOMIC(atomicXor, static_cast<T>(old ^ value))
SIMULATOR_ATOMIC(atomicExch, value)
SIMULATOR_ATOMIC(atomicInc, old >= value ? T{0} : static_cast<T>(old + 1))
#undef SIMULATOR_ATOMIC

template <typename T, typename U, typename V> inline T atomicCAS(T *address, U expected, V desired)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "atomics are on 32- and 64-bit words");
    if (--simulator_atomics_left < 0) simulator_switch_at_atomic();
    const T old = *address;
    if (old == static_cast<T>(expected)) *address = static_cast<T>(desired);
    return old;
}

#undef SIMULATOR_HERE
#endif
