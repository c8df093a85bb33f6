/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What differs between HIP, CUDA and the simulator, under one set of names, for kernels of this folder.
 *
 * Under HIP it needs no header at all: only compiler builtins, so that clang alone, hipcc and hiprtc compile the same
 * text. Under CUDA it needs what nvcc and NVRTC know by themselves. Elsewhere the simulator's hip_runtime.h answers.
 * Knows no kernel.
 *
 *     wave_size()                 lanes of a wave: 32 or 64; a constant on GPUs
 *     thread_number()             linear thread number within the block
 *     block_number()              linear block number
 *     wave_ballot(p)              bit i: lane i of the wave has p; all lanes of the wave must take part
 *     wave_shift_up(x, d)         x of the lane d below; lanes below d get a value without meaning; all must take part
 *     wave_exchange(x, mask)      x of the lane whose number differs in the bits of mask; all must take part
 *     wave_read(x, lane)          x of one lane, the same lane for all; all must take part
 *     wave_largest(x), wave_smallest(x)  of all lanes, the same for all; all must take part
 *     count_bits(m)               bits set in a 64-bit word
 *     leading_zeros(x)            of a 32-bit word other than 0
 *     reversed_bits(x)            bit i goes to bit 31 - i
 *     lowest_bit(x)               number of the lowest bit that is set, of a 32-bit word other than 0
 *     block_barrier()             all threads of the block; LDS written before is visible after
 *     lds_add/min/max/or(p, x)    relaxed atomics on 32-bit words in LDS; lds_add returns the old value
 *     float_bits(p)               the bits of the float at p in global memory
 *     vector_bits(p)              the bits of four floats from p on, which must be aligned to 16 bytes
 *     wait_for_launches_before()  until all launches before this one on the stream are over, where a launch may begin
 *                                 before that (programmatic dependent launch); nothing elsewhere
 *     let_next_launch_begin()     the next launch on the stream may take what multiprocessors are free, and then wait
 *     PORT_INLINE, PORT_MEMBER    before a device function, and a device function of a struct
 *     PORT_RARE                   before a device function that is seldom called: kept out of the way where that helps
 *     PORT_UNROLL                 before a loop whose count the compiler knows: register arrays need it unrolled
 *     PORT_BLOCK_THREADS(n, b)    a kernel's block size, and how many such blocks a multiprocessor should hold
 */
#ifndef TOPKCTS_PORT_H
#define TOPKCTS_PORT_H

struct __attribute__((aligned(16), may_alias)) port_vector {
    unsigned x, y, z, w;
};

#if defined(__HIP__) || defined(__HIPCC_RTC__)

/* hipcc without its headers and clang -nogpuinc leave these to us; hiprtc brings them. */
#ifndef __device__
#define __device__ __attribute__((device))
#endif
#ifndef __global__
#define __global__ __attribute__((global))
#endif
#ifndef __shared__
#define __shared__ __attribute__((shared))
#endif
#define PORT_INLINE static inline __device__ __attribute__((always_inline))
#define PORT_MEMBER __device__ __attribute__((always_inline))
#define PORT_RARE PORT_INLINE
#define PORT_UNROLL _Pragma("unroll")
#define PORT_BLOCK_THREADS(n, blocks) __attribute__((amdgpu_flat_work_group_size(n, n)))

/* Never from __AMDGCN_WAVEFRONT_SIZE: newer compilers lack it. GFX9 is wave64; HIP runs all later ones in wave32. */
PORT_INLINE constexpr int wave_size()
{
#if defined(__GFX9__)
    return 64;
#else
    return 32;
#endif
}
PORT_INLINE unsigned thread_number() { return __builtin_amdgcn_workitem_id_x(); }
PORT_INLINE unsigned block_number() { return __builtin_amdgcn_workgroup_id_x(); }
/* A comparison of each lane with 0, for inequality (33): the one ballot that clang 15 to 22 all have. */
PORT_INLINE unsigned long long wave_ballot(bool p) { return __builtin_amdgcn_uicmp((unsigned)p, 0u, 33); }
PORT_INLINE unsigned wave_shift_up(unsigned x, int distance)
{
    const int lane = (int)(thread_number() % (unsigned)wave_size());
    return (unsigned)__builtin_amdgcn_ds_bpermute((lane - distance) * 4, (int)x);
}
PORT_INLINE unsigned wave_exchange(unsigned x, unsigned mask)
{
    const unsigned lane = thread_number() % (unsigned)wave_size();
    return (unsigned)__builtin_amdgcn_ds_bpermute((int)((lane ^ mask) * 4), (int)x);
}
PORT_INLINE unsigned wave_read(unsigned x, int lane)
{
    return (unsigned)__builtin_amdgcn_readlane((int)x, lane);
}
PORT_INLINE int count_bits(unsigned long long mask) { return __builtin_popcountll(mask); }
PORT_INLINE unsigned wave_largest(unsigned x)
{
    PORT_UNROLL
    for (unsigned mask = 1; mask < (unsigned)wave_size(); mask *= 2) {
        const unsigned other = wave_exchange(x, mask);
        x = x > other ? x : other;
    }
    return x;
}
PORT_INLINE unsigned wave_smallest(unsigned x) { return ~wave_largest(~x); }
PORT_INLINE int      leading_zeros(unsigned x) { return __builtin_clz(x); }
PORT_INLINE unsigned lowest_bit(unsigned x) { return (unsigned)__builtin_ctz(x); }
PORT_INLINE unsigned reversed_bits(unsigned x) { return __builtin_bitreverse32(x); }
PORT_INLINE void block_barrier()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
PORT_INLINE unsigned lds_add(unsigned *p, unsigned x)
{
    return __hip_atomic_fetch_add(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
PORT_INLINE void lds_min(unsigned *p, unsigned x)
{
    (void)__hip_atomic_fetch_min(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
PORT_INLINE void lds_max(unsigned *p, unsigned x)
{
    (void)__hip_atomic_fetch_max(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
PORT_INLINE void lds_or(unsigned *p, unsigned x)
{
    (void)__hip_atomic_fetch_or(p, x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
PORT_INLINE unsigned float_bits(const float *p) { return __builtin_bit_cast(unsigned, *p); }
PORT_INLINE void     wait_for_launches_before() {}
PORT_INLINE void     let_next_launch_begin() {}

#else

#if !defined(__CUDACC__)
#include <hip/hip_runtime.h>
#endif

#define PORT_INLINE static __forceinline__ __device__
#define PORT_MEMBER __forceinline__ __device__
#if defined(__CUDACC__)
#define PORT_UNROLL _Pragma("unroll")
#define PORT_BLOCK_THREADS(n, blocks) __launch_bounds__(n, blocks)
#define PORT_RARE static __noinline__ __device__
PORT_INLINE constexpr int      wave_size() { return 32; }
PORT_INLINE unsigned long long wave_ballot(bool p) { return __ballot_sync(0xffffffffu, p); }
PORT_INLINE unsigned wave_shift_up(unsigned x, int distance)
{
    return __shfl_up_sync(0xffffffffu, x, (unsigned)distance);
}
PORT_INLINE unsigned wave_exchange(unsigned x, unsigned mask) { return __shfl_xor_sync(0xffffffffu, x, (int)mask); }
PORT_INLINE unsigned wave_read(unsigned x, int lane) { return __shfl_sync(0xffffffffu, x, lane); }
PORT_INLINE unsigned wave_largest(unsigned x) { return __reduce_max_sync(0xffffffffu, x); }
PORT_INLINE unsigned wave_smallest(unsigned x) { return __reduce_min_sync(0xffffffffu, x); }
#if __CUDA_ARCH__ >= 900
PORT_INLINE void wait_for_launches_before() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
PORT_INLINE void let_next_launch_begin() { asm volatile("griddepcontrol.launch_dependents;"); }
#else
PORT_INLINE void wait_for_launches_before() {}
PORT_INLINE void let_next_launch_begin() {}
#endif
#else
#define PORT_UNROLL
#define PORT_RARE PORT_INLINE
#define PORT_BLOCK_THREADS(n, blocks) __launch_bounds__(n, blocks)
PORT_INLINE int                wave_size() { return warpSize; }
PORT_INLINE unsigned long long wave_ballot(bool p) { return __ballot_sync(~0ull, p); }
PORT_INLINE unsigned wave_shift_up(unsigned x, int distance) { return __shfl_up_sync(~0ull, x, (unsigned)distance); }
PORT_INLINE unsigned wave_exchange(unsigned x, unsigned mask) { return __shfl_xor_sync(~0ull, x, (int)mask); }
PORT_INLINE unsigned wave_read(unsigned x, int lane) { return __shfl_sync(~0ull, x, lane); }
PORT_INLINE unsigned wave_largest(unsigned x) { return __reduce_max_sync(~0ull, x); }
PORT_INLINE unsigned wave_smallest(unsigned x) { return __reduce_min_sync(~0ull, x); }
PORT_INLINE void     wait_for_launches_before() {}
PORT_INLINE void     let_next_launch_begin() {}
#endif

PORT_INLINE unsigned thread_number() { return threadIdx.x; }
PORT_INLINE unsigned block_number() { return blockIdx.x; }
PORT_INLINE int      count_bits(unsigned long long mask) { return __popcll(mask); }
PORT_INLINE int      leading_zeros(unsigned x) { return __clz((int)x); }
PORT_INLINE unsigned lowest_bit(unsigned x) { return (unsigned)__ffs((int)x) - 1; }
PORT_INLINE unsigned reversed_bits(unsigned x) { return __brev(x); }
PORT_INLINE unsigned lds_add(unsigned *p, unsigned x) { return atomicAdd(p, x); }
PORT_INLINE void     lds_min(unsigned *p, unsigned x) { (void)atomicMin(p, x); }
PORT_INLINE void     lds_max(unsigned *p, unsigned x) { (void)atomicMax(p, x); }
PORT_INLINE void     lds_or(unsigned *p, unsigned x) { (void)atomicOr(p, x); }
PORT_INLINE unsigned float_bits(const float *p) { return __float_as_uint(*p); }
/* A macro, so that the simulator sees the position of each barrier in the kernel. */
#define block_barrier() __syncthreads()

#endif

PORT_INLINE port_vector vector_bits(const float *p) { return *reinterpret_cast<const port_vector *>(p); }

#endif
