// SPDX-License-Identifier: Apache-2.0
/*
 * The smallest plugin for a GPU: one source for CUDA and HIP. Follow the numbered steps; README.md says how to build it.
 *
 * The kernel is meant to be replaced: one thread a row takes the best score topk times, which is right and slow. It
 * promises the canonical form for finite and infinite scores.
 */

// Step 1. Copy this file. A runtime, and the one header of topkcts: -I path/to/harness.
#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#define GPU(name) hip##name
#define PLUGIN_MEMORY TOPK_MEMORY_HIP
#else
#include <cuda_runtime.h>
#define GPU(name) cuda##name
#define PLUGIN_MEMORY TOPK_MEMORY_CUDA
#endif

#include "provider.h"

#include <cstdio>

// Step 2. Your kernel. Rows are score_stride apart, page table rows page_table_stride; either output may be null.
static __device__ void put(const topk_problem &p, int row, int slot, int index)
{
    const int32_t *pages = p.page_table + row * p.page_table_stride;
    const int64_t  at = static_cast<int64_t>(row) * p.topk + slot;
    if (p.raw_indices != nullptr)
        p.raw_indices[at] = index;
    if (p.page_indices != nullptr)
        p.page_indices[at] = index < 0 ? -1 : pages[index / p.page_size] * p.page_size + index % p.page_size;
}

// How many scores of the row come before this one: higher ones, and equal ones at lower indices.
static __device__ int rank_of(const float *scores, int n, int index)
{
    int rank = 0;
    for (int i = 0; i < n; i++)
        rank += scores[i] > scores[index] || (scores[i] == scores[index] && i < index);
    return rank;
}

// A block a row: each thread decides for its indices whether they are selected; then one thread writes them in order.
static __global__ void select_rows(topk_problem p, unsigned char *selected)
{
    const int      row = static_cast<int>(blockIdx.x);
    const int      n = p.seq_lens[row];
    const float   *scores = p.scores + row * p.score_stride;
    unsigned char *mine = selected + static_cast<int64_t>(row) * p.max_seq_len;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x))
        mine[i] = n <= p.topk || rank_of(scores, n, i) < p.topk;
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    int slot = 0;
    for (int i = 0; i < n; i++)
        if (mine[i])
            put(p, row, slot++, i);
    while (slot < p.topk)
        put(p, row, slot++, -1);
}

// Step 3. State that lives from open to close: none here. The device's context is current at every call.
static int open_plugin(int, void **self, char *err, size_t err_size)
{
    static int nothing;
    *self = &nothing;
    (void)err;
    (void)err_size;
    return 0;
}

static void close_plugin(void *) {}

// Step 4. Memory for the work: asked for each launch, given on the device, with undefined contents.
static size_t workspace_bytes(void *, const topk_problem *p)
{
    return static_cast<size_t>(p->batch) * static_cast<size_t>(p->max_seq_len);
}

// Step 5. The launch enqueues on the stream that comes with the problem, and returns: no allocation, no waiting.
static int launch(void *, const topk_problem *p, char *err, size_t err_size)
{
    select_rows<<<static_cast<unsigned>(p->batch), 256, 0, static_cast<GPU(Stream_t)>(p->stream)>>>(
        *p, static_cast<unsigned char *>(p->workspace));
    const GPU(Error_t) error = GPU(GetLastError)();
    if (error != GPU(Success)) {
        snprintf(err, err_size, "the kernel was not launched: %s", GPU(GetErrorString)(error));
        return 1;
    }
    return 0;
}

// Step 6. What you promise, and the one exported symbol. All zeroes but level and capture is the base contract.
static topk_provider describe()
{
    topk_provider provider = {};
    provider.abi = TOPK_PROVIDER_ABI;
    provider.name = "gpu-example";
    provider.version = "1";
    provider.memory = PLUGIN_MEMORY;
    provider.claims.level = TOPK_LEVEL_CANONICAL;
    provider.claims.capture = TOPK_CAPTURE_OK;
    provider.open = open_plugin;
    provider.workspace_bytes = workspace_bytes;
    provider.launch = launch;
    provider.close = close_plugin;
    return provider;
}

extern "C" const topk_provider *topk_provider_entry(void)
{
    static const topk_provider provider = describe();
    return &provider;
}
