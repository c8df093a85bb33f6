// SPDX-License-Identifier: Apache-2.0
/*
 * SGLang's JIT kernel v1 as a plugin: its own source, included from the sglang that is installed, compiled directly by
 * nvcc or hipcc. build_sglang_v1.sh builds it. Nothing of SGLang is kept here but the names it is called by:
 * deepseek_v4/topk_v1.cuh, namespace sglang, topk_transform_kernel<bool kUsePDL>, TopKParams, kTopKBlockSize, kSMEM.
 *
 * As a plugin the kernel is judged on the harness's own buffers, streams and graphs, which the Python path cannot offer.
 */
#include <deepseek_v4/topk_v1.cuh>

#include "provider.h"

#include <cstdio>

#ifdef USE_ROCM
#define GPU(name) hip##name
#define PLUGIN_MEMORY TOPK_MEMORY_HIP
#else
#define GPU(name) cuda##name
#define PLUGIN_MEMORY TOPK_MEMORY_CUDA
#endif

#ifndef SGLANG_VERSION
#error "SGLANG_VERSION is what build_sglang_v1.sh defines: use it"
#endif

namespace {

// As SGLang's own launcher asks for it, "align up a little" included.
constexpr auto kDynamicBytes = static_cast<int>(sglang::kSMEM + sizeof(int32_t));
constexpr auto kernel = sglang::topk_transform_kernel<false>;

int fail(char *err, size_t err_size, const char *what, GPU(Error_t) error)
{
    snprintf(err, err_size, "%s: %s", what, GPU(GetErrorString)(error));
    return 1;
}

int open_plugin(int, void **self, char *err, size_t err_size)
{
    static int nothing;
    *self = &nothing;
    const GPU(Error_t) error = GPU(FuncSetAttribute)(reinterpret_cast<const void *>(kernel),
                                                     GPU(FuncAttributeMaxDynamicSharedMemorySize), kDynamicBytes);
    return error == GPU(Success) ? 0 : fail(err, err_size, "64 KiB of dynamic shared memory are not to be had", error);
}

void close_plugin(void *) {}

// The kernel always writes page indices; where nobody asks for them they go to the workspace.
size_t workspace_bytes(void *, const topk_problem *p)
{
    return p->page_indices ? 0 : sizeof(int32_t) * static_cast<size_t>(p->batch) * static_cast<size_t>(p->topk);
}

int launch(void *, const topk_problem *p, char *err, size_t err_size)
{
    uint32_t page_bits = 0;
    while ((INT32_C(1) << page_bits) < p->page_size)
        page_bits++;
    const sglang::TopKParams params = {
        .scores = p->scores,
        .seq_lens = p->seq_lens,
        .page_table = p->page_table,
        .page_indices = p->page_indices ? p->page_indices : static_cast<int32_t *>(p->workspace),
        .raw_indices = p->raw_indices,
        .score_stride = p->score_stride,
        .page_table_stride = p->page_table_stride,
        .page_bits = page_bits,
        .topk = static_cast<uint32_t>(p->topk),
    };
    kernel<<<static_cast<unsigned>(p->batch), sglang::kTopKBlockSize, kDynamicBytes,
             static_cast<GPU(Stream_t)>(p->stream)>>>(params);
    const GPU(Error_t) error = GPU(GetLastError)();
    return error == GPU(Success) ? 0 : fail(err, err_size, "the kernel was not launched", error);
}

// 8192: the entries of each of the two candidate lists in shared memory.
constexpr topk_limit kLimits[] = {{"candidates", sglang::kSMEM / (2 * sizeof(int32_t))}, {nullptr, 0}};

topk_provider describe()
{
    topk_provider provider = {};
    provider.abi = TOPK_PROVIDER_ABI;
    provider.name = "sglang-v1-source";
    provider.version = SGLANG_VERSION;
    provider.memory = PLUGIN_MEMORY;
    provider.claims.level = TOPK_LEVEL_VALID;
    provider.claims.tie = TOPK_TIE_ANY;
    provider.claims.nan = TOPK_NAN_ANY;
    provider.claims.capture = TOPK_CAPTURE_OK;
    provider.limits = kLimits;
    provider.open = open_plugin;
    provider.workspace_bytes = workspace_bytes;
    provider.launch = launch;
    provider.close = close_plugin;
    return provider;
}

} // namespace

extern "C" const topk_provider *topk_provider_entry(void)
{
    static const topk_provider provider = describe();
    return &provider;
}
