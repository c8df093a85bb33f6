/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small kernels for harness/tests/watched_kernels_test.c, each about one rule of the monitor. `words` is 64 words of
 * output, `seen` one word a block or thread, also output. Built as one module.
 */
#include <hip/hip_runtime.h>

#define KERNEL extern "C" __global__ void

__device__ unsigned arrivals; /* 0 before every launch */

/* ---- what other blocks see ---------------------------------------------------------------------------------------- */

/* Block 0 stores, the last to arrive looks. Which of them runs first is the schedule's. */
template <typename Publish> __device__ void publish_and_look(unsigned *words, unsigned *seen, Publish publish)
{
    if (threadIdx.x != 0) return;
    publish(words);
    if (atomicAdd(&arrivals, 1u) != gridDim.x - 1) return;
    unsigned sum = 0;
    for (unsigned b = 0; b < gridDim.x; b++) sum += words[b];
    seen[0] = sum;
}

KERNEL fenced(unsigned *words, unsigned *seen)
{
    publish_and_look(words, seen, [](unsigned *w) {
        w[blockIdx.x] = blockIdx.x + 1;
        __threadfence();
    });
}
KERNEL unfenced(unsigned *words, unsigned *seen)
{
    publish_and_look(words, seen, [](unsigned *w) { w[blockIdx.x] = blockIdx.x + 1; });
}
KERNEL fenced_for_the_block_alone(unsigned *words, unsigned *seen)
{
    publish_and_look(words, seen, [](unsigned *w) {
        w[blockIdx.x] = blockIdx.x + 1;
        __threadfence_block();
    });
}
KERNEL fenced_too_early(unsigned *words, unsigned *seen)
{
    publish_and_look(words, seen, [](unsigned *w) {
        __threadfence();
        w[blockIdx.x] = blockIdx.x + 1;
    });
}
KERNEL published_by_atomics(unsigned *words, unsigned *seen)
{
    publish_and_look(words, seen, [](unsigned *w) {
        atomicExch(&w[blockIdx.x], blockIdx.x + 1);
        __threadfence();
    });
}
KERNEL published_by_release(unsigned *words, unsigned *seen)
{
    publish_and_look(words, seen, [](unsigned *w) {
        w[blockIdx.x] = blockIdx.x + 1;
        __hip_atomic_fetch_add(&arrivals, 0u, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
    });
}

/* A volatile look races with nothing, and finds what the memory shows: late stores are hidden until the launch ends. */
KERNEL store_volatile(volatile unsigned *words, unsigned *seen)
{
    if (threadIdx.x != 0) return;
    unsigned sum = 0;
    for (unsigned b = 0; b < gridDim.x; b++)
        if (b != blockIdx.x) sum += words[b];
    seen[blockIdx.x] = sum;
    words[blockIdx.x] = 1;
}
KERNEL store_volatile_and_fence(volatile unsigned *words, unsigned *seen)
{
    if (threadIdx.x != 0) return;
    unsigned sum = 0;
    for (unsigned b = 0; b < gridDim.x; b++)
        if (b != blockIdx.x) sum += words[b];
    seen[blockIdx.x] = sum;
    words[blockIdx.x] = 1;
    __threadfence();
}
KERNEL clear_words(unsigned *words, unsigned *)
{
    if (blockIdx.x == 0 && threadIdx.x < 64) words[threadIdx.x] = 0;
}

/* ---- order within a block ------------------------------------------------------------------------------------------ */

KERNEL barrier_orders(unsigned *words, unsigned *)
{
    __shared__ unsigned box[64];
    box[threadIdx.x] = threadIdx.x;
    __syncthreads();
    words[threadIdx.x] = box[63 - threadIdx.x];
}
KERNEL nothing_orders(unsigned *words, unsigned *)
{
    __shared__ unsigned box[64];
    box[threadIdx.x] = threadIdx.x;
    words[threadIdx.x] = box[63 - threadIdx.x];
}
/* Lanes of one wave of 32 exchange through LDS: its barrier is enough there. */
KERNEL wave_orders(unsigned *words, unsigned *)
{
    __shared__ unsigned box[64];
    box[threadIdx.x] = threadIdx.x;
    __syncwarp();
    words[threadIdx.x] = box[threadIdx.x ^ 31];
}
KERNEL wave_is_no_block(unsigned *words, unsigned *)
{
    __shared__ unsigned box[64];
    box[threadIdx.x] = threadIdx.x;
    __syncwarp();
    words[threadIdx.x] = box[threadIdx.x ^ 32];
}
KERNEL half_a_wave_orders_itself(unsigned *words, unsigned *)
{
    __shared__ unsigned      box[64];
    const unsigned           lane = threadIdx.x % warpSize;
    const unsigned long long mine = 0xffffull << (lane / 16 * 16);
    box[threadIdx.x] = threadIdx.x;
    __syncwarp(mine);
    words[threadIdx.x] = box[threadIdx.x ^ 15];
}
KERNEL half_a_wave_orders_no_more(unsigned *words, unsigned *)
{
    __shared__ unsigned      box[64];
    const unsigned           lane = threadIdx.x % warpSize;
    const unsigned long long mine = 0xffffull << (lane / 16 * 16);
    box[threadIdx.x] = threadIdx.x;
    __syncwarp(mine);
    words[threadIdx.x] = box[threadIdx.x ^ 16];
}
/* The thread whose atomic comes last reads what those before it stored. */
KERNEL atomics_order(unsigned *words, unsigned *seen)
{
    __shared__ unsigned box[64], done;
    if (threadIdx.x == 0) done = 0;
    __syncthreads();
    box[threadIdx.x] = 1;
    __threadfence_block();
    if (atomicAdd(&done, 1u) == 63) {
        unsigned sum = 0;
        for (int i = 0; i < 64; i++) sum += box[i];
        seen[0] = sum;
    }
    words[threadIdx.x] = 0;
}
KERNEL one_value_from_all(unsigned *words, unsigned *)
{
    words[0] = 7;
    words[1] = threadIdx.x < 64 ? 9 : 0;
}
KERNEL two_values(unsigned *words, unsigned *) { words[0] = threadIdx.x / 63; }
KERNEL atomic_meets_plain(unsigned *words, unsigned *)
{
    __shared__ unsigned count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1u);
    words[threadIdx.x] = count;
}
KERNEL bytes_apart(unsigned *words, unsigned *)
{
    __shared__ unsigned char bytes[64];
    bytes[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
    words[threadIdx.x] = bytes[threadIdx.x];
}
KERNEL bytes_overlap(unsigned *words, unsigned *)
{
    __shared__ __align__(8) unsigned char bytes[68];
    bytes[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
    words[threadIdx.x] = threadIdx.x == 9 ? *reinterpret_cast<unsigned short *>(bytes + 8) : 0;
}

/* ---- places ------------------------------------------------------------------------------------------------------- */

KERNEL byte_unwritten(unsigned *words, unsigned *)
{
    __shared__ __align__(4) unsigned char bytes[8];
    if (threadIdx.x < 7) bytes[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) words[0] = *reinterpret_cast<unsigned *>(bytes + 4);
}
KERNEL byte_written(unsigned *words, unsigned *)
{
    __shared__ __align__(4) unsigned char bytes[8];
    if (threadIdx.x < 8) bytes[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) words[0] = *reinterpret_cast<unsigned *>(bytes + 4);
}
KERNEL vector_within(unsigned *words, unsigned *)
{
    if (threadIdx.x < 16) reinterpret_cast<uint4 *>(words)[threadIdx.x] = make_uint4(1, 2, 3, 4);
    __syncthreads();
    const uint4 four = reinterpret_cast<const uint4 *>(words)[threadIdx.x % 16];
    if (four.w != 4) reinterpret_cast<uint4 *>(words)[99] = four;
}
KERNEL vector_off_alignment(unsigned *words, unsigned *)
{
    words[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0) *reinterpret_cast<uint4 *>(words + 32) = *reinterpret_cast<const uint4 *>(words + 2);
}
KERNEL vector_across_the_end(unsigned *words, unsigned *)
{
    words[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x == 0) *reinterpret_cast<uint2 *>(words) = *reinterpret_cast<const uint2 *>(words + 64);
}
KERNEL dynamic_within(unsigned *words, unsigned *)
{
    extern __shared__ unsigned box[];
    box[threadIdx.x] = 1;
    words[threadIdx.x] = box[threadIdx.x];
}
KERNEL dynamic_beyond(unsigned *words, unsigned *)
{
    extern __shared__ unsigned box[];
    box[threadIdx.x + 1] = 1;
    words[threadIdx.x] = 0;
}

/* ---- schedules ---------------------------------------------------------------------------------------------------- */

KERNEL arrival(unsigned *words, unsigned *)
{
    __shared__ unsigned next;
    if (threadIdx.x == 0) next = 0;
    __syncthreads();
    words[atomicAdd(&next, 1u)] = threadIdx.x;
}

/* ---- waiting in a loop --------------------------------------------------------------------------------------------- */

/* Every thread waits for its neighbour, the last one for nobody: waves and lanes in any order get there. */
KERNEL waits_for_neighbour(unsigned *words, unsigned *)
{
    __shared__ volatile unsigned done[65];
    done[threadIdx.x] = 0;
    if (threadIdx.x == 0) done[64] = 1;
    __syncthreads();
    while (done[threadIdx.x + 1] == 0) {}
    words[threadIdx.x] = 1;
    done[threadIdx.x] = 1;
}
KERNEL waits_by_atomics(unsigned *words, unsigned *)
{
    __shared__ unsigned turn;
    if (threadIdx.x == 0) turn = 0;
    __syncthreads();
    while (atomicAdd(&turn, 0u) != threadIdx.x) __nanosleep(20);
    words[threadIdx.x] = 1;
    atomicAdd(&turn, 1u);
}
KERNEL takes_a_lock(unsigned *words, unsigned *seen)
{
    __shared__ unsigned lock, sum;
    if (threadIdx.x == 0) lock = sum = 0;
    __syncthreads();
    for (bool done = false; !done;)
        if (atomicCAS(&lock, 0u, 1u) == 0) {
            __threadfence_block();
            sum = sum + 1;
            __threadfence_block();
            atomicExch(&lock, 0u);
            done = true;
        }
    __syncthreads();
    if (threadIdx.x == 0) seen[0] = sum;
    words[threadIdx.x] = 0;
}
KERNEL waits_for_nobody(unsigned *words, unsigned *)
{
    __shared__ volatile unsigned flag;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    while (flag == 0) {}
    words[threadIdx.x] = 1;
}

/* ---- what volatile is not --------------------------------------------------------------------------------------------- */

KERNEL volatile_increments(unsigned *words, unsigned *)
{
    __shared__ volatile unsigned count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    count = count + 1;
    __syncthreads();
    words[threadIdx.x] = count;
}
KERNEL volatile_flag_from_all(unsigned *words, unsigned *)
{
    __shared__ volatile unsigned found;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    if (found == 0 && threadIdx.x % 3 == 1) found = 1;
    __syncthreads();
    words[threadIdx.x] = found;
}
/* One thread clears the flag for the next round, long after it looked. */
KERNEL volatile_flag_in_rounds(unsigned *words, unsigned *)
{
    __shared__ volatile unsigned found;
    unsigned                     sum = 0;
    if (threadIdx.x == 0) found = 0;
    for (unsigned round = 0; round < 4; round++) {
        __syncthreads();
        if (found == 0 && threadIdx.x == 17 * round) found = 1;
        __syncthreads();
        sum += found;
        __syncthreads();
        if (threadIdx.x == 0) found = 0;
    }
    words[threadIdx.x] = sum;
}
/* Each looks at its neighbour's word and stores its own. */
KERNEL volatile_neighbours(unsigned *words, unsigned *)
{
    __shared__ volatile unsigned box[65];
    box[threadIdx.x] = 1;
    if (threadIdx.x == 0) box[64] = 1;
    __syncthreads();
    for (unsigned i = 0; i < 4; i++) box[threadIdx.x] = box[threadIdx.x] + box[threadIdx.x + 1];
    words[threadIdx.x] = box[threadIdx.x];
}

/* ---- barriers that some skip ----------------------------------------------------------------------------------------- */

/* The others read on without it: that they race follows from the barrier that they skipped. */
KERNEL barrier_in_a_branch(unsigned *words, unsigned *)
{
    __shared__ unsigned box[64];
    box[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        box[threadIdx.x] = 1;
        box[threadIdx.x + 32] = 2;
        __syncthreads();
    }
    words[threadIdx.x] = box[threadIdx.x ^ 33];
    __syncthreads();
}
/* No barrier was skipped: the reader comes before one that all get to. */
KERNEL barrier_too_late(unsigned *words, unsigned *)
{
    __shared__ unsigned box[64];
    box[threadIdx.x] = threadIdx.x;
    if (threadIdx.x >= 32) words[threadIdx.x] = box[threadIdx.x ^ 33];
    __syncthreads();
    if (threadIdx.x < 32) words[threadIdx.x] = box[threadIdx.x];
}
