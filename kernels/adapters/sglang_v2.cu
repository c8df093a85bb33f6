// SPDX-License-Identifier: Apache-2.0
/*
 * SGLang's JIT kernel v2 as a plugin: its own source and its own launcher, included from the sglang that is installed,
 * compiled directly by nvcc. build_sglang_v2.sh builds it. Nothing of SGLang is kept here but the names it is called by:
 * deepseek_v4/topk_v2.cuh, namespace sglang, TopKKernel<bool kUsePDL>::plan, ::transform_paged, ::get_static_cluster_floor,
 * kNumPersistentClusters, kClusterMaxBatch, kMaxTopK, device::topk::TopKConfig::kMaxNumTie.
 *
 * How it is called: `plan` reads the row lengths and routes the longest rows of a middle-sized batch to a pool of block
 * clusters; `transform_paged` then selects. SGLang plans once a step and uses the plan in every layer. Here:
 *
 *     as built         the plan is made before every launch that reads it: right whatever the lengths do
 *     -DKEEP_PLAN=1    it is made when batch, width or the address of the lengths change, and kept. For timing a launch
 *                      as a layer sees it, on lengths that stay; judged on other lengths it is wrong, and is meant to be
 *     -DUSE_PDL=1      with programmatic dependent launch, as SGLang has it from sm_90 on. v2 then reads the plan before
 *                      it waits for the kernel in front of it, which must not be the plan's: only with KEEP_PLAN
 *
 * v2 reads rows as vectors of 16 bytes, and its callers allocate rows so. Rows that stand otherwise are laid anew in the
 * workspace first, which path() says.
 */
#include <deepseek_v4/topk_v2.cuh>

#include "gpu_plugin.h"

#include <exception>

#ifndef SGLANG_VERSION
#error "SGLANG_VERSION is what build_sglang_v2.sh defines: use it"
#endif
#ifndef KEEP_PLAN
#define KEEP_PLAN 0
#endif
#ifndef USE_PDL
#define USE_PDL 0
#endif
static_assert(KEEP_PLAN || !USE_PDL, "with programmatic dependent launch a plan must not be made right before its use");

namespace {

using gpu_plugin::fail;
using kernel = sglang::TopKKernel<(USE_PDL != 0)>;
using view = tvm::ffi::TensorView;

constexpr size_t kVectorBytes = 16;
constexpr size_t kAlignment = 256;
constexpr int32_t kVector = kVectorBytes / sizeof(float);

struct plugin {
    int         device;
    const char *path;
    void       *plan; /* kept: [1 + kClusterMaxBatch] pairs */
    const void *planned_lengths;
    int32_t     planned_batch, planned_width;
};

/* A tensor of device memory over memory that is there. */
struct tensor {
    int64_t  shape[2], strides[2];
    DLTensor fields;

    tensor(const void *at, int device, DLDataType type, int64_t rows, int64_t columns, int64_t stride)
        : shape{rows, columns}, strides{stride, 1},
          fields{const_cast<void *>(at), {kDLCUDA, device}, 2, type, shape, strides, 0}
    {
    }
    tensor(const void *at, int device, DLDataType type, int64_t items)
        : shape{items, 0}, strides{1, 0}, fields{const_cast<void *>(at), {kDLCUDA, device}, 1, type, shape, strides, 0}
    {
    }
    operator view() const { return view(&fields); }
};

constexpr DLDataType kFloat = {kDLFloat, 32, 1}, kInt = {kDLInt, 32, 1};

size_t plan_bytes(int32_t batch)
{
    return gpu_plugin::round_up((1 + static_cast<size_t>(batch)) * 2 * sizeof(int32_t), kAlignment);
}

bool stands_as_vectors(const topk_problem *p)
{
    return p->score_stride % kVector == 0 && reinterpret_cast<uintptr_t>(p->scores) % kVectorBytes == 0;
}

int64_t laid_stride(const topk_problem *p)
{
    return (static_cast<int64_t>(p->max_seq_len) + kVector - 1) / kVector * kVector;
}

/* Only launches that go to the pool of clusters read a plan. */
bool reads_plan(const topk_problem *p)
{
    const auto batch = static_cast<uint32_t>(p->batch);
    return sglang::kNumPersistentClusters > 0 && batch > sglang::kNumPersistentClusters &&
           batch <= sglang::kClusterMaxBatch &&
           static_cast<uint32_t>(p->max_seq_len) > kernel::get_static_cluster_floor(batch);
}

int open_plugin(int device, void **self, char *err, size_t err_size)
{
    plugin *made = new plugin{};
    made->device = device;
    made->path = "";
    const cudaError_t error = KEEP_PLAN ? cudaMalloc(&made->plan, plan_bytes(sglang::kClusterMaxBatch)) : cudaSuccess;
    if (error != cudaSuccess) {
        delete made;
        return fail(err, err_size, "no memory for the plan", error);
    }
    *self = made;
    return 0;
}

void close_plugin(void *self)
{
    cudaFree(static_cast<plugin *>(self)->plan);
    delete static_cast<plugin *>(self);
}

size_t workspace_bytes(void *, const topk_problem *p)
{
    const size_t rows = static_cast<size_t>(p->batch) * static_cast<size_t>(laid_stride(p)) * sizeof(float);
    return plan_bytes(p->batch) + (stands_as_vectors(p) ? 0 : rows);
}

void launch_or_throw(plugin *self, const topk_problem *p, const float *scores, int64_t stride)
{
    const tensor lengths(p->seq_lens, self->device, kInt, p->batch);
    const tensor plan(KEEP_PLAN ? self->plan : p->workspace, self->device, kInt, 1 + static_cast<int64_t>(p->batch), 2, 2);
    const bool   planned = KEEP_PLAN && self->planned_lengths == p->seq_lens && self->planned_batch == p->batch &&
                         self->planned_width == p->max_seq_len;
    if (reads_plan(p) && !planned) {
        kernel::plan(lengths, plan, -1);
        self->planned_lengths = p->seq_lens;
        self->planned_batch = p->batch;
        self->planned_width = p->max_seq_len;
    }
    const tensor rows(scores, self->device, kFloat, p->batch, p->max_seq_len, stride);
    const tensor table(p->page_table, self->device, kInt, p->batch, p->page_table_stride, p->page_table_stride);
    const tensor raw(p->raw_indices, self->device, kInt, p->batch, p->topk, p->topk);
    const tensor pages(p->page_indices, self->device, kInt, p->batch, p->topk, p->topk);
    using optional = tvm::ffi::Optional<view>;
    // Raw indices alone are what it writes when it has no page table.
    if (!p->page_indices)
        kernel::transform_paged(rows, lengths, optional(), raw, static_cast<uint32_t>(p->page_size), plan, optional());
    else
        kernel::transform_paged(rows, lengths, optional(view(table)), pages, static_cast<uint32_t>(p->page_size), plan,
                                p->raw_indices ? optional(view(raw)) : optional());
}

int launch(void *self_pointer, const topk_problem *p, char *err, size_t err_size)
{
    plugin       *self = static_cast<plugin *>(self_pointer);
    const float  *scores = p->scores;
    int64_t       stride = p->score_stride;
    const bool    laid_anew = !stands_as_vectors(p);
    cudaError_t   error = cudaSuccess;
    if (laid_anew) {
        float *laid = reinterpret_cast<float *>(static_cast<char *>(p->workspace) + plan_bytes(p->batch));
        const size_t width = static_cast<size_t>(p->max_seq_len) * sizeof(float);
        stride = laid_stride(p);
        scores = laid;
        error = cudaMemcpy2DAsync(laid, static_cast<size_t>(stride) * sizeof(float), p->scores,
                                  static_cast<size_t>(p->score_stride) * sizeof(float), width,
                                  static_cast<size_t>(p->batch), cudaMemcpyDeviceToDevice,
                                  static_cast<cudaStream_t>(p->stream));
        if (error != cudaSuccess)
            return fail(err, err_size, "laying the rows anew", error);
    }
    const bool pool = reads_plan(p);
    self->path = pool ? laid_anew ? "pool of clusters, rows laid anew" : "pool of clusters"
                      : laid_anew ? "rows laid anew" : "rows as they stand";
    // SGLang's launcher asks the tensor library for the stream of the device.
    TVMFFIStreamHandle stream_before = nullptr;
    int                failed = 0;
    TVMFFIEnvSetStream(kDLCUDA, self->device, p->stream, &stream_before);
    try {
        launch_or_throw(self, p, scores, stride);
    } catch (const std::exception &reason) {
        failed = 1;
        snprintf(err, err_size, "SGLang's launcher: %s", reason.what());
    }
    TVMFFIEnvSetStream(kDLCUDA, self->device, stream_before, nullptr);
    if (failed)
        return failed;
    error = cudaGetLastError();
    return error == cudaSuccess ? 0 : fail(err, err_size, "the kernel was not launched", error);
}

const char *path(void *self)
{
    return static_cast<plugin *>(self)->path;
}

/* How many scores of the coarse bin at the cut are kept; where rows go to from one block to many. */
constexpr topk_limit kLimits[] = {{"candidates", sglang::device::topk::TopKConfig::kMaxNumTie},
                                  {"split_length", 65536},
                                  {nullptr, 0}};

topk_provider describe()
{
    topk_provider provider = gpu_plugin::provider_of(
        USE_PDL ? "sglang-v2-kept-plan-pdl" : KEEP_PLAN ? "sglang-v2-kept-plan" : "sglang-v2-source", SGLANG_VERSION,
        TOPK_LEVEL_VALID);
    provider.claims.tie = TOPK_TIE_ANY;
    provider.claims.nan = TOPK_NAN_NONE; // it takes NaN for a hole and pads rows that come out short
    provider.claims.max_topk = sglang::kMaxTopK;
    provider.limits = kLimits;
    provider.open = open_plugin;
    provider.workspace_bytes = workspace_bytes;
    provider.launch = launch;
    provider.path = path;
    provider.close = close_plugin;
    return provider;
}

} // namespace

EXPORT_PROVIDER(describe)
