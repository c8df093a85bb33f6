// SPDX-License-Identifier: Apache-2.0
/*
 * SGLang's JIT kernel v1 as a plugin: its own source, included from the sglang that is installed, compiled directly by
 * nvcc or hipcc. build_sglang_v1.sh builds it. Nothing of SGLang is kept here but the names it is called by:
 * deepseek_v4/topk_v1.cuh, namespace sglang, topk_transform_kernel<bool kUsePDL>, TopKParams, kTopKBlockSize, kSMEM.
 *
 * As a plugin the kernel is judged on the harness's own buffers, streams and graphs, which the Python path cannot offer.
 */
#include <deepseek_v4/topk_v1.cuh>

#include "gpu_plugin.h"

#ifndef SGLANG_VERSION
#error "SGLANG_VERSION is what build_sglang_v1.sh defines: use it"
#endif

namespace {

using gpu_plugin::fail;

// As SGLang's own launcher asks for it, "align up a little" included.
constexpr auto kDynamicBytes = static_cast<int>(sglang::kSMEM + sizeof(int32_t));
constexpr auto kernel = sglang::topk_transform_kernel<false>;

int open_plugin(int, void **self, char *err, size_t err_size)
{
    static int nothing;
    *self = &nothing;
    const GPU(Error_t) error = GPU(FuncSetAttribute)(reinterpret_cast<const void *>(kernel),
                                                     GPU(FuncAttributeMaxDynamicSharedMemorySize), kDynamicBytes);
    return error == GPU(Success) ? 0 : fail(err, err_size, "64 KiB of dynamic shared memory are not to be had", error);
}

void close_plugin(void *) {}

size_t workspace_bytes(void *, const topk_problem *p)
{
    return gpu_plugin::unasked_pages_bytes(p);
}

int launch(void *, const topk_problem *p, char *err, size_t err_size)
{
    const sglang::TopKParams params = {
        .scores = p->scores,
        .seq_lens = p->seq_lens,
        .page_table = p->page_table,
        .page_indices = gpu_plugin::pages_of(p),
        .raw_indices = p->raw_indices,
        .score_stride = p->score_stride,
        .page_table_stride = p->page_table_stride,
        .page_bits = gpu_plugin::page_bits(p),
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
    topk_provider provider = gpu_plugin::provider_of("sglang-v1-source", SGLANG_VERSION, TOPK_LEVEL_VALID);
    provider.claims.tie = TOPK_TIE_ANY;
    provider.claims.nan = TOPK_NAN_ANY;
    provider.limits = kLimits;
    provider.open = open_plugin;
    provider.workspace_bytes = workspace_bytes;
    provider.launch = launch;
    provider.close = close_plugin;
    return provider;
}

} // namespace

EXPORT_PROVIDER(describe)
