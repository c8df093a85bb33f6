// SPDX-License-Identifier: Apache-2.0
/*
 * The host parts that the plugins of this folder share: one source for CUDA and, where USE_ROCM is defined, HIP.
 */
#ifndef TOPKCTS_GPU_PLUGIN_H
#define TOPKCTS_GPU_PLUGIN_H

#ifdef USE_ROCM
#include <hip/hip_runtime.h>
#define GPU(name) hip##name
#define PLUGIN_MEMORY TOPK_MEMORY_HIP
#else
#include <cuda_runtime.h>
#define GPU(name) cuda##name
#define PLUGIN_MEMORY TOPK_MEMORY_CUDA
#endif

#include "provider.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>

namespace gpu_plugin {

/* For `return fail(...)`: says what could not be done, and the runtime's reason. */
inline int fail(char *err, size_t err_size, const char *what, GPU(Error_t) error)
{
    snprintf(err, err_size, "%s: %s", what, GPU(GetErrorString)(error));
    return 1;
}

inline size_t round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* The page size as the kernels take it: 6 for pages of 64. */
inline uint32_t page_bits(const topk_problem *problem)
{
    uint32_t bits = 0;
    while ((INT32_C(1) << bits) < problem->page_size)
        bits++;
    return bits;
}

/* Bytes of the page indices, which these kernels always write, where nobody asks for them: they go to the workspace. */
inline size_t unasked_pages_bytes(const topk_problem *problem)
{
    const size_t slots = static_cast<size_t>(problem->batch) * static_cast<size_t>(problem->topk);
    return problem->page_indices ? 0 : slots * sizeof(int32_t);
}

/* Where they go: the output, or the beginning of the workspace. */
inline int32_t *pages_of(const topk_problem *problem)
{
    return problem->page_indices ? problem->page_indices : static_cast<int32_t *>(problem->workspace);
}

/* What all of them say: on this GPU, launches that can be captured. */
inline topk_provider provider_of(const char *name, const char *version, enum topk_level level)
{
    topk_provider provider = {};
    provider.abi = TOPK_PROVIDER_ABI;
    provider.name = name;
    provider.version = version;
    provider.memory = PLUGIN_MEMORY;
    provider.claims.level = level;
    provider.claims.capture = TOPK_CAPTURE_OK;
    return provider;
}

} // namespace gpu_plugin

/* The exported symbol, seen where all else is hidden. `describe` makes the provider, once. */
#define EXPORT_PROVIDER(describe)                                                                                      \
    extern "C" __attribute__((visibility("default"))) const topk_provider *topk_provider_entry(void)                   \
    {                                                                                                                  \
        static const topk_provider provider = describe();                                                              \
        return &provider;                                                                                              \
    }

#endif
