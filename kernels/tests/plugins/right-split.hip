/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right: a plugin with host code. Rows are split over blocks, which leave counts in the workspace, 16 bytes at a time; a
 * second launch reads them. What a wrong plugin beside this one spoils is a macro here.
 */
#include <hip/hip_runtime.h>

#include "harness/provider.h"

#ifndef SPLIT_PROLOGUE /* scores before the first one that lies on 16 bytes */
#define SPLIT_PROLOGUE(past) ((4 - (past)) & 3)
#endif
#ifndef SPLIT_HAS_COUNTS /* whether the launch that counts comes first */
#define SPLIT_HAS_COUNTS true
#endif
#ifndef SPLIT_CLEAR /* what host code does to the counts before the launches */
#define SPLIT_CLEAR(counts, bytes) ((void)0)
#endif
#ifndef SPLIT_QUADS /* how many groups of four lie within the part */
#define SPLIT_QUADS(n) ((n) / 4)
#endif

constexpr int block_threads = 256;
constexpr int part_scores = 1024;

__device__ inline unsigned key_of(unsigned bits)
{
    if ((bits << 1) == 0) bits = 0;
    return bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u);
}

__global__ void __launch_bounds__(block_threads) count_parts(const float *scores, const int *lengths, long stride, int parts,
                                                             unsigned *counts)
{
    extern __shared__ unsigned seen[];
    const int    row = blockIdx.y, part = blockIdx.x, t = threadIdx.x;
    const float *s = scores + row * stride;
    const int    first = part * part_scores, last = min(lengths[row], first + part_scores);
    seen[t] = 0;
    __syncthreads();
    const int past = static_cast<int>((reinterpret_cast<size_t>(s + first) & 15) / 4);
    const int head = min(last, first + SPLIT_PROLOGUE(past));
    for (int i = first + t; i < head; i += block_threads) atomicAdd(&seen[key_of(__float_as_uint(s[i])) >> 24], 1u);
    const int    quads = head < last ? SPLIT_QUADS(last - head) : 0;
    const uint4 *four = reinterpret_cast<const uint4 *>(s + head);
    for (int q = t; q < quads; q += block_threads) {
        const uint4 keys = four[q];
        const unsigned bits[] = {keys.x, keys.y, keys.z, keys.w};
        for (int i = 0; i < 4; i++)
            if (head + 4 * q + i < last) atomicAdd(&seen[key_of(bits[i]) >> 24], 1u);
    }
    for (int i = head + 4 * quads + t; i < last; i += block_threads) atomicAdd(&seen[key_of(__float_as_uint(s[i])) >> 24], 1u);
    __syncthreads();
    uint4 *out = reinterpret_cast<uint4 *>(counts + (static_cast<long>(row) * parts + part) * 256);
    if (t < 64) out[t] = make_uint4(seen[4 * t], seen[4 * t + 1], seen[4 * t + 2], seen[4 * t + 3]);
}

/* The threads below this one that have `mine`, by waves; *all: of the block. */
__device__ inline int rank_in_block(bool mine, int *wave_counts, int *all)
{
    const int                lane = threadIdx.x % warpSize, wave = threadIdx.x / warpSize;
    const unsigned long long votes = __ballot(mine);
    int                      rank = __popcll(votes & ((1ull << lane) - 1));
    if (lane == 0) wave_counts[wave] = __popcll(votes);
    __syncthreads();
    *all = 0;
    for (int w = 0; w < block_threads / warpSize; w++) {
        if (w < wave) rank += wave_counts[w];
        *all += wave_counts[w];
    }
    __syncthreads();
    return rank;
}

__global__ void __launch_bounds__(block_threads) choose(topk_problem p, int parts, const unsigned *counts)
{
    __shared__ unsigned count[256], wave_sum[block_threads / 32], prefix, want;
    __shared__ int      wave_count[block_threads / 32];
    const int           row = blockIdx.x, t = threadIdx.x, lane = t % warpSize, wave = t / warpSize, n = p.seq_lens[row];
    const float        *s = p.scores + row * p.score_stride;
    const auto          write = [&](int slot, int i) {
        const int page = i < 0 ? -1 : p.page_table[row * p.page_table_stride + i / p.page_size] * p.page_size + i % p.page_size;
        if (p.page_indices) p.page_indices[row * p.topk + slot] = page;
        if (p.raw_indices) p.raw_indices[row * p.topk + slot] = i;
    };
    if (n <= p.topk) {
        for (int i = t; i < p.topk; i += block_threads) write(i, i < n ? i : -1);
        return;
    }
    if (t == 0) {
        prefix = 0;
        want = p.topk;
    }
    for (int shift = 24; shift >= 0; shift -= 8) {
        unsigned mine = 0;
        for (int part = 0; shift == 24 && part * part_scores < n; part++)
            mine += counts[(static_cast<long>(row) * parts + part) * 256 + t];
        count[t] = mine;
        __syncthreads();
        const unsigned chosen = prefix;
        for (int i = t; shift < 24 && i < n; i += block_threads) {
            const unsigned key = key_of(__float_as_uint(__ldg(s + i)));
            if ((key & 0xffffffffu << (shift + 8)) == chosen) atomicAdd(&count[key >> shift & 255], 1u);
        }
        __syncthreads();
        /* How many keys have a digit as large as 255 - t, or larger. */
        unsigned through = count[255 - t];
        for (int distance = 1; distance < warpSize; distance *= 2) {
            const unsigned below = __shfl_up(through, distance);
            if (lane >= distance) through += below;
        }
        if (lane == warpSize - 1) wave_sum[wave] = through;
        __syncthreads();
        for (int w = 0; w < wave; w++) through += wave_sum[w];
        const unsigned wanted = want, before = through - count[255 - t];
        __syncthreads();
        if (before < wanted && wanted <= through) {
            want = wanted - before;
            prefix = chosen | static_cast<unsigned>(255 - t) << shift;
        }
        __syncthreads();
    }
    const unsigned cut = prefix;
    const int      ties = want;
    for (int first = 0, ties_before = 0, slots_before = 0; first < n; first += block_threads) {
        const int      i = first + t;
        const unsigned key = i < n ? key_of(__float_as_uint(s[i])) : 0;
        int            n_ties = 0, n_slots = 0;
        const bool     is_tie = i < n && key == cut;
        const int      tie = ties_before + rank_in_block(is_tie, wave_count, &n_ties);
        const bool     is_selected = i < n && (key > cut || (is_tie && tie < ties));
        const int      slot = slots_before + rank_in_block(is_selected, wave_count, &n_slots);
        if (is_selected) write(slot, i);
        ties_before += n_ties;
        slots_before += n_slots;
    }
}

static int parts_of(const topk_problem *p) { return p->max_seq_len <= 0 ? 1 : (p->max_seq_len + part_scores - 1) / part_scores; }

static size_t count_bytes(void *, const topk_problem *p)
{
    return static_cast<size_t>(p->batch) * static_cast<size_t>(parts_of(p)) * 256 * sizeof(unsigned);
}

static int open_nothing(int, void **self, char *, size_t)
{
    *self = nullptr;
    return 0;
}

static void close_nothing(void *) {}

static int launch(void *self, const topk_problem *p, char *err, size_t err_size)
{
    const int   parts = parts_of(p);
    hipStream_t stream = static_cast<hipStream_t>(p->stream);
    unsigned   *counts = static_cast<unsigned *>(p->workspace);
    SPLIT_CLEAR(counts, count_bytes(self, p));
    if (SPLIT_HAS_COUNTS)
        hipLaunchKernelGGL(count_parts, dim3(parts, p->batch), dim3(block_threads), 256 * sizeof(unsigned), stream, p->scores,
                           p->seq_lens, p->score_stride, parts, counts);
    hipLaunchKernelGGL(choose, dim3(p->batch), dim3(block_threads), 0, stream, *p, parts, counts);
    const hipError_t error = hipGetLastError();
    if (error != hipSuccess) (void)snprintf(err, err_size, "%s", hipGetErrorString(error));
    return error != hipSuccess;
}

static const topk_provider provider = {
    TOPK_PROVIDER_ABI, "split", "1", TOPK_MEMORY_HOST, {TOPK_LEVEL_CANONICAL}, nullptr, open_nothing, nullptr, count_bytes,
    launch, nullptr, close_nothing,
};
extern "C" const topk_provider *topk_provider_entry(void) { return &provider; }
