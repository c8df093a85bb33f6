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
#if defined(TOPKCTS_WATCHED)
#include <cassert>
#include <cfloat>
#include <climits>
#include <cstdio>
#endif
#include <cstring>
#include <type_traits>

#define TOPKCTS_SIMULATOR 1

/* In a watched module the device language is inlined, so that a finding has the place where the kernel uses it. */
#if defined(TOPKCTS_WATCHED)
#define SIMULATOR_INLINE inline __attribute__((always_inline))
#else
#define SIMULATOR_INLINE inline
#endif

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

#define __noinline__ /* empty: the libraries of the host spell the attribute with this word */
#define __managed__
#define __grid_constant__

/* Constant initialisation spares every access the check for a dynamic initialiser (gcc: -fno-extern-tls-init). In a
 * watched module every array is kept, or the compiler drops reads of what nobody writes. */
#if defined(TOPKCTS_WATCHED)
#define SIMULATOR_KEPT __attribute__((used))
#else
#define SIMULATOR_KEPT
#endif
#if defined(__clang__) && defined(TOPKCTS_WATCHED)
/* The attribute would refuse structures without a constructor; objects that have one are refused by their guards
 * (simulator_object.c). */
#define __shared__ SIMULATOR_KEPT thread_local
#elif defined(__clang__)
#define __shared__ SIMULATOR_KEPT __attribute__((require_constant_initialization)) thread_local
#else
#define __shared__ SIMULATOR_KEPT __constinit thread_local
#endif
/* For functions that a fiber calls before the kernel: what they touch is the host's. */
#define SIMULATOR_UNWATCHED __attribute__((no_sanitize("thread"), noinline))
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];

#include "device_vector.h"

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
/* The running thread waits for others in a loop: somebody else goes on. */
void simulator_switch_in_turn(void);

/* How many threads of the block passed a non-zero predicate. */
unsigned simulator_barrier(bool predicate, const char *file, int line);

enum simulator_wave_kind { SIMULATOR_WAVE_SYNC, SIMULATOR_WAVE_BALLOT, SIMULATOR_WAVE_SHUFFLE, SIMULATOR_WAVE_MATCH };

/* Waits for the participants: the lanes of `mask`, or for mask 0 the lanes that come here together. BALLOT: the mask of
 * lanes whose value is not 0. SHUFFLE: the value of lane `source` (poison when it does not take part). MATCH: the mask
 * of lanes with an equal value. SYNC: the mask of participants. */
uint64_t simulator_wave_operation(enum simulator_wave_kind kind, uint64_t mask, uint64_t value, int source,
                                  const char *file, int line);

}

#if !defined(TOPKCTS_WATCHED)
extern "C" {
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
#endif

#if defined(TOPKCTS_WATCHED)
/* By value from functions whose result is the thread's for good, so that no access to the simulator's own memory is
 * seen. */
extern "C" {
uint3 simulator_get_thread_index(void) __attribute__((const));
uint3 simulator_get_block_index(void) __attribute__((const));
uint3 simulator_get_block_dim(void) __attribute__((const));
uint3 simulator_get_grid_dim(void) __attribute__((const));
int   simulator_get_wave_size(void) __attribute__((const));
}
#define threadIdx (simulator_get_thread_index())
#define blockIdx (simulator_get_block_index())
#define blockDim (simulator_get_block_dim())
#define gridDim (simulator_get_grid_dim())
#define warpSize (simulator_get_wave_size())
#else
#define threadIdx (*simulator_thread_index)
#define blockIdx simulator_block_index
#define blockDim simulator_block_dim
#define gridDim simulator_grid_dim
#define warpSize simulator_wave_size
#endif

/* Default arguments name the source position of the call: a barrier is its position, since a compiler may emit the
 * call twice. */
#define SIMULATOR_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

/* Barriers. */

SIMULATOR_INLINE void __syncthreads(SIMULATOR_HERE) { (void)simulator_barrier(false, file, line); }
SIMULATOR_INLINE int  __syncthreads_count(int predicate, SIMULATOR_HERE)
{
    return static_cast<int>(simulator_barrier(predicate != 0, file, line));
}
SIMULATOR_INLINE int __syncthreads_or(int predicate, SIMULATOR_HERE)
{
    return simulator_barrier(predicate != 0, file, line) != 0;
}
SIMULATOR_INLINE int __syncthreads_and(int predicate, SIMULATOR_HERE)
{
    return simulator_barrier(predicate == 0, file, line) == 0;
}
#if defined(TOPKCTS_WATCHED)
extern "C" void simulator_fence(bool device);
SIMULATOR_INLINE void     __threadfence() { simulator_fence(true); }
SIMULATOR_INLINE void     __threadfence_block() { simulator_fence(false); }
SIMULATOR_INLINE void     __threadfence_system() { simulator_fence(true); }
#else
SIMULATOR_INLINE void __threadfence() {}
SIMULATOR_INLINE void __threadfence_block() {}
SIMULATOR_INLINE void __threadfence_system() {}
#endif

/* Wave operations. Forms with a mask name their participants; forms without one take the lanes that arrive together. */

SIMULATOR_INLINE void __syncwarp(unsigned long long mask = ~0ull, SIMULATOR_HERE)
{
    (void)simulator_wave_operation(SIMULATOR_WAVE_SYNC, mask, 0, 0, file, line);
}
SIMULATOR_INLINE unsigned long long __activemask(SIMULATOR_HERE)
{
    return simulator_wave_operation(SIMULATOR_WAVE_SYNC, 0, 0, 0, file, line);
}
SIMULATOR_INLINE unsigned long long __ballot(int predicate, SIMULATOR_HERE)
{
    return simulator_wave_operation(SIMULATOR_WAVE_BALLOT, 0, predicate != 0, 0, file, line);
}
SIMULATOR_INLINE int __any(int predicate, SIMULATOR_HERE) { return __ballot(predicate, file, line) != 0; }
SIMULATOR_INLINE int __all(int predicate, SIMULATOR_HERE) { return __ballot(predicate == 0, file, line) == 0; }
SIMULATOR_INLINE unsigned long long __ballot_sync(unsigned long long mask, int predicate, SIMULATOR_HERE)
{
    return simulator_wave_operation(SIMULATOR_WAVE_BALLOT, mask, predicate != 0, 0, file, line);
}
SIMULATOR_INLINE int __any_sync(unsigned long long mask, int predicate, SIMULATOR_HERE)
{
    return __ballot_sync(mask, predicate, file, line) != 0;
}
SIMULATOR_INLINE int __all_sync(unsigned long long mask, int predicate, SIMULATOR_HERE)
{
    return __ballot_sync(mask, predicate == 0, file, line) == 0;
}

SIMULATOR_INLINE int simulator_lane()
{
    const auto dim = blockDim;
    return static_cast<int>((threadIdx.x + dim.x * (threadIdx.y + dim.y * threadIdx.z)) &
                            (static_cast<unsigned>(warpSize) - 1));
}

/* A value of up to 8 bytes as a 64-bit word and back. */
template <typename T> SIMULATOR_INLINE uint64_t simulator_word(T value)
{
    static_assert(sizeof(T) <= sizeof(uint64_t) && std::is_trivially_copyable<T>::value, "up to 8 plain bytes");
    uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    return word;
}
template <typename T> SIMULATOR_INLINE T simulator_unword(uint64_t word)
{
    T value;
    std::memcpy(&value, &word, sizeof value);
    return value;
}
template <typename T>
SIMULATOR_INLINE T simulator_shuffle(unsigned long long mask, T value, int source, const char *file, int line)
{
    return simulator_unword<T>(
        simulator_wave_operation(SIMULATOR_WAVE_SHUFFLE, mask, simulator_word(value), source, file, line));
}

/* The source lane of each form; `width` is a power of two, and lanes stay inside their group of that width. */
SIMULATOR_INLINE int simulator_source_idx(int lane, int source, int width) { return (lane & -width) | (source & (width - 1)); }
SIMULATOR_INLINE int simulator_source_up(int lane, unsigned delta, int width)
{
    const int within = lane & (width - 1);
    return static_cast<int>(delta) > within ? lane : lane - static_cast<int>(delta);
}
SIMULATOR_INLINE int simulator_source_down(int lane, unsigned delta, int width)
{
    const int within = lane & (width - 1);
    return within + static_cast<int>(delta) >= width ? lane : lane + static_cast<int>(delta);
}
SIMULATOR_INLINE int simulator_source_xor(int lane, int lane_mask, int width)
{
    const int source = lane ^ lane_mask;
    return source >= (lane & -width) + width ? lane : source;
}

#define SIMULATOR_SHUFFLE(name, argument_type, source_function)                                                        \
    template <typename T>                                                                                              \
    SIMULATOR_INLINE T name(T value, argument_type argument, int width = warpSize, SIMULATOR_HERE)                    \
    {                                                                                                                  \
        return simulator_shuffle(0, value, source_function(simulator_lane(), argument, width), file, line);            \
    }                                                                                                                  \
    template <typename T>                                                                                              \
    SIMULATOR_INLINE T name##_sync(unsigned long long mask, T value, argument_type argument, int width = warpSize,    \
                         SIMULATOR_HERE)                                                                               \
    {                                                                                                                  \
        return simulator_shuffle(mask, value, source_function(simulator_lane(), argument, width), file, line);         \
    }
SIMULATOR_SHUFFLE(__shfl, int, simulator_source_idx)
SIMULATOR_SHUFFLE(__shfl_up, unsigned, simulator_source_up)
SIMULATOR_SHUFFLE(__shfl_down, unsigned, simulator_source_down)
SIMULATOR_SHUFFLE(__shfl_xor, int, simulator_source_xor)
#undef SIMULATOR_SHUFFLE

template <typename T> SIMULATOR_INLINE unsigned long long __match_any_sync(unsigned long long mask, T value, SIMULATOR_HERE)
{
    return simulator_wave_operation(SIMULATOR_WAVE_MATCH, mask, simulator_word(value), 0, file, line);
}

template <typename T>
SIMULATOR_INLINE unsigned long long __match_all_sync(unsigned long long mask, T value, int *predicate, SIMULATOR_HERE)
{
    const unsigned long long equal = __match_any_sync(mask, value, file, line);
    *predicate = __all_sync(mask, equal == __match_any_sync(mask, 0, file, line), file, line);
    return *predicate != 0 ? equal : 0;
}

/* The reduction of the participants' values; every lane of the mask gets it. */
template <typename T, typename Join>
SIMULATOR_INLINE T simulator_reduce(unsigned long long mask, T value, Join join, const char *file, int line)
{
    unsigned long long lanes = simulator_wave_operation(SIMULATOR_WAVE_SYNC, mask, 0, 0, file, line);
    const int          first = __builtin_ctzll(lanes);
    T                  result = simulator_shuffle(mask, value, first, file, line);
    for (lanes &= lanes - 1; lanes != 0; lanes &= lanes - 1)
        result = join(result, simulator_shuffle(mask, value, __builtin_ctzll(lanes), file, line));
    return result;
}
#define SIMULATOR_REDUCE(name, result)                                                                                 \
    template <typename T> SIMULATOR_INLINE T name(unsigned long long mask, T value, SIMULATOR_HERE)                              \
    {                                                                                                                  \
        return simulator_reduce(mask, value, [](T a, T b) { return static_cast<T>(result); }, file, line);             \
    }
SIMULATOR_REDUCE(__reduce_add_sync, a + b)
SIMULATOR_REDUCE(__reduce_min_sync, b < a ? b : a)
SIMULATOR_REDUCE(__reduce_max_sync, a < b ? b : a)
SIMULATOR_REDUCE(__reduce_and_sync, a & b)
SIMULATOR_REDUCE(__reduce_or_sync, a | b)
SIMULATOR_REDUCE(__reduce_xor_sync, a ^ b)
#undef SIMULATOR_REDUCE

#undef SIMULATOR_HERE

#include "device_bits.h"
#include "device_atomic.h"
#include "device_amd.h"
#if defined(TOPKCTS_WATCHED)
#include "device_host_api.h"
#endif

#endif
