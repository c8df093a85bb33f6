/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What HIP kernels use beyond CUDA's names: lanes of a wave, compiler builtins of amdgcn, atomics with a scope. Part of
 * device.h.
 */
#ifndef TOPKCTS_SIMULATOR_DEVICE_AMD_H
#define TOPKCTS_SIMULATOR_DEVICE_AMD_H

#define SIMULATOR_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

SIMULATOR_INLINE unsigned           __lane_id() { return static_cast<unsigned>(simulator_lane()); }
SIMULATOR_INLINE unsigned long long __lanemask_lt() { return (1ull << simulator_lane()) - 1; }
SIMULATOR_INLINE unsigned long long __lanemask_le() { return (2ull << simulator_lane()) - 1; }
SIMULATOR_INLINE unsigned long long __lanemask_gt() { return ~__lanemask_le() & (warpSize == 64 ? ~0ull : 0xffffffffull); }
SIMULATOR_INLINE unsigned long long __lanemask_ge() { return ~__lanemask_lt() & (warpSize == 64 ? ~0ull : 0xffffffffull); }
SIMULATOR_INLINE unsigned long long __lanemask_eq() { return 1ull << simulator_lane(); }

#define hipThreadIdx_x (threadIdx.x)
#define hipThreadIdx_y (threadIdx.y)
#define hipThreadIdx_z (threadIdx.z)
#define hipBlockIdx_x (blockIdx.x)
#define hipBlockIdx_y (blockIdx.y)
#define hipBlockIdx_z (blockIdx.z)
#define hipBlockDim_x (blockDim.x)
#define hipBlockDim_y (blockDim.y)
#define hipBlockDim_z (blockDim.z)
#define hipGridDim_x (gridDim.x)
#define hipGridDim_y (gridDim.y)
#define hipGridDim_z (gridDim.z)

#define __builtin_amdgcn_workitem_id_x() (threadIdx.x)
#define __builtin_amdgcn_workitem_id_y() (threadIdx.y)
#define __builtin_amdgcn_workgroup_id_x() (blockIdx.x)
#define __builtin_amdgcn_workgroup_size_x() (blockDim.x)
#define __builtin_amdgcn_wavefrontsize() (static_cast<unsigned>(warpSize))
#define __builtin_amdgcn_s_barrier() __syncthreads()
#define __builtin_amdgcn_wave_barrier() __syncwarp()
#define __builtin_amdgcn_fence(order, scope) simulator_amd_fence(scope)
#define __builtin_amdgcn_readfirstlane(x) simulator_read_first_lane(x)
#define __builtin_amdgcn_readlane(x, lane) __shfl((x), static_cast<int>(lane))
#define __builtin_amdgcn_ds_bpermute(byte_lane, x) __shfl((x), static_cast<int>(byte_lane) / 4)
#define __builtin_amdgcn_read_exec() (__ballot(1))
#define __builtin_amdgcn_ballot_w32(p) (static_cast<unsigned>(__ballot(p)))
#define __builtin_amdgcn_ballot_w64(p) (__ballot(p))
#define __builtin_amdgcn_mbcnt_lo(mask, base) simulator_count_below((mask), (base), 0)
#define __builtin_amdgcn_mbcnt_hi(mask, base) simulator_count_below((mask), (base), 32)
#define __builtin_amdgcn_s_sleep(n) __nanosleep(n)
#define __builtin_amdgcn_s_waitcnt(n) ((void)(n))

SIMULATOR_INLINE void simulator_amd_fence(const char *scope)
{
    if (std::strcmp(scope, "agent") == 0 || scope[0] == '\0' || std::strcmp(scope, "system") == 0) __threadfence();
    else __threadfence_block();
}

template <typename T> SIMULATOR_INLINE T simulator_read_first_lane(T value, SIMULATOR_HERE)
{
    const uint64_t lanes = simulator_wave_operation(SIMULATOR_WAVE_SYNC, 0, 0, 0, file, line);
    return simulator_shuffle(0, value, __builtin_ctzll(lanes), file, line);
}

/* Bits of `mask`, which belongs to lanes first .. first + 31, below the own lane. */
SIMULATOR_INLINE unsigned simulator_count_below(unsigned mask, unsigned base, int first)
{
    const int below = simulator_lane() - first;
    const unsigned lanes = below <= 0 ? 0 : below >= 32 ? 0xffffffffu : (1u << below) - 1;
    return base + static_cast<unsigned>(__builtin_popcount(mask & lanes));
}

/* Time goes by switches of threads, so that a schedule replays. */
extern "C" uint64_t simulator_switches(void);
SIMULATOR_INLINE long long          clock64() { return static_cast<long long>(simulator_switches()); }
SIMULATOR_INLINE long long          wall_clock64() { return clock64(); }

/* Lets others go on. */
SIMULATOR_INLINE void __nanosleep(unsigned) { simulator_switch_in_turn(); }
SIMULATOR_INLINE void __builtin_amdgcn_sched_barrier(int) {}

#define __HIP_MEMORY_SCOPE_SINGLETHREAD 1
#define __HIP_MEMORY_SCOPE_WAVEFRONT 2
#define __HIP_MEMORY_SCOPE_WORKGROUP 3
#define __HIP_MEMORY_SCOPE_AGENT 4
#define __HIP_MEMORY_SCOPE_SYSTEM 5

/* A release fences what came before, for as many as the scope names. */
SIMULATOR_INLINE void simulator_release(int order, int scope)
{
    if (order != __ATOMIC_RELEASE && order != __ATOMIC_ACQ_REL && order != __ATOMIC_SEQ_CST) return;
    if (scope >= __HIP_MEMORY_SCOPE_AGENT) __threadfence();
    else __threadfence_block();
}

#define SIMULATOR_HIP_ATOMIC(name, device_name)                                                                        \
    template <typename T, typename U> SIMULATOR_INLINE std::remove_cv_t<T> name(T *address, U value, int order, int scope)       \
    {                                                                                                                  \
        simulator_release(order, scope);                                                                               \
        return device_name(address, value);                                                                            \
    }
SIMULATOR_HIP_ATOMIC(simulator_hip_fetch_add, atomicAdd)
SIMULATOR_HIP_ATOMIC(simulator_hip_fetch_min, atomicMin)
SIMULATOR_HIP_ATOMIC(simulator_hip_fetch_max, atomicMax)
SIMULATOR_HIP_ATOMIC(simulator_hip_fetch_and, atomicAnd)
SIMULATOR_HIP_ATOMIC(simulator_hip_fetch_or, atomicOr)
SIMULATOR_HIP_ATOMIC(simulator_hip_fetch_xor, atomicXor)
SIMULATOR_HIP_ATOMIC(simulator_hip_exchange, atomicExch)
#undef SIMULATOR_HIP_ATOMIC

template <typename T> SIMULATOR_INLINE std::remove_cv_t<T> simulator_hip_load(T *address, int, int)
{
    return simulator_atomic(const_cast<std::remove_cv_t<T> *>(address), SIMULATOR_ATOMIC_LOAD, std::remove_cv_t<T>());
}
template <typename T, typename U> SIMULATOR_INLINE void simulator_hip_store(T *address, U value, int order, int scope)
{
    simulator_release(order, scope);
    (void)simulator_atomic(address, SIMULATOR_ATOMIC_STORE, static_cast<std::remove_cv_t<T>>(value));
}
template <typename T, typename U>
SIMULATOR_INLINE bool simulator_hip_compare_exchange_strong(T *address, T *expected, U desired, int order, int, int scope)
{
    simulator_release(order, scope);
    const T wanted = *expected;
    *expected = atomicCAS(address, wanted, desired);
    return *expected == wanted;
}
/* clang knows these names, without code for this machine. */
#define __hip_atomic_fetch_add simulator_hip_fetch_add
#define __hip_atomic_fetch_min simulator_hip_fetch_min
#define __hip_atomic_fetch_max simulator_hip_fetch_max
#define __hip_atomic_fetch_and simulator_hip_fetch_and
#define __hip_atomic_fetch_or simulator_hip_fetch_or
#define __hip_atomic_fetch_xor simulator_hip_fetch_xor
#define __hip_atomic_exchange simulator_hip_exchange
#define __hip_atomic_load simulator_hip_load
#define __hip_atomic_store simulator_hip_store
#define __hip_atomic_compare_exchange_strong simulator_hip_compare_exchange_strong
#define __hip_atomic_compare_exchange_weak simulator_hip_compare_exchange_strong

#undef SIMULATOR_HERE
#endif
