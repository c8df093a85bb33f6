// SPDX-License-Identifier: Apache-2.0
/*
 * FlashInfer's top_k_page_table_transform as plugins: its own kernels and its own choice between them, included from the
 * flashinfer that is installed, compiled directly by nvcc. build_flashinfer.sh builds one plugin for each mode:
 *
 *     default         neither mode
 *     deterministic   repeatable bytes, any of the equal scores
 *     tie-break       the lowest index among equal scores, in an order of its own
 *     both            both
 *
 * Nothing of FlashInfer is kept here but the names it is called by (flashinfer/topk.cuh: sampling::
 * TopKPageTableTransformDispatch, ShouldUseFilteredTopK, ConfigurablePageTableKernelPolicy, DirectPageTableKernelPolicy;
 * csrc/cub_topk.cu: CUBBatchedTopKDispatchBounds, CUBMakePageTableRowOut, CUBFillTopKTails, CUB_TOPK_MAX_LEN) and the
 * shapes at which its Python function turns from its own kernels to CUB's, which stand in that function alone (0.7.4).
 * FLASHINFER_TOPK_ALGO means here what it means there.
 *
 * The kernels in which several blocks share a row need a state of zeroes. Outside a capture FlashInfer keeps one for each
 * stream; in a capture it takes a fresh one and clears it there, as is done here before every such launch.
 */
#ifdef WITH_CUB
#define CUB_DISABLE_TOPK_UNSUPPORTED_ARCH_ASSERT // as cub_topk.cu says, before anything includes CUB
#endif
#include <flashinfer/math.cuh> // topk.cuh uses it without including it
#include <flashinfer/topk.cuh>

#ifdef WITH_CUB
/* All that is wanted of cub_topk.cu are its templates, for float: its entries for every type take minutes to compile. */
#include "tvm_ffi_utils.h"
#undef DISPATCH_DLPACK_DTYPE_TO_CTYPE_FP32_FP16
#define DISPATCH_DLPACK_DTYPE_TO_CTYPE_FP32_FP16(type, c_type, ...) ((void)0)
#pragma nv_diagnostic push
#pragma nv_diag_suppress 177, 550
#include "cub_topk.cu"
#pragma nv_diagnostic pop
#endif

#include "gpu_plugin.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>

#ifndef FLASHINFER_VERSION
#error "FLASHINFER_VERSION is what build_flashinfer.sh defines: use it"
#endif

/* Which plugin this is: an index of kModes, in an object of its own, so that the kernels are compiled once. */
extern "C" const int flashinfer_mode;

namespace {

using gpu_plugin::fail;
using gpu_plugin::pages_of;
using gpu_plugin::round_up;
namespace sampling = flashinfer::sampling;

struct mode {
    const char     *name;
    bool            deterministic;
    bool            lowest; /* among equal scores */
    enum topk_level level;
};
constexpr mode kModes[] = {
    {"flashinfer-default-source", false, false, TOPK_LEVEL_VALID},
    {"flashinfer-deterministic-source", true, false, TOPK_LEVEL_REPEATABLE},
    {"flashinfer-tie-break-source", false, true, TOPK_LEVEL_SET_REPEATABLE},
    {"flashinfer-both-source", true, true, TOPK_LEVEL_CANONICAL},
};

constexpr size_t kAlignment = 256;
constexpr size_t kStateBytes = 1 << 20;

struct plugin {
    const char *path;
};

const mode &wanted()
{
    return kModes[flashinfer_mode];
}

sampling::TopKTieBreak tie_break()
{
    return wanted().lowest ? sampling::TopKTieBreak::Small : sampling::TopKTieBreak::None;
}

/* The workspace: pages that nobody asked for, the state of rows that several blocks share, CUB's own. */
size_t pages_bytes(const topk_problem *p)
{
    return round_up(gpu_plugin::unasked_pages_bytes(p), kAlignment);
}

#ifdef WITH_CUB

/* When FlashInfer's Python function takes CUB's kernels for float rows, on GPUs before Blackwell. */
bool takes_cub(const topk_problem *p, bool captured)
{
    const char   *forced = std::getenv("FLASHINFER_TOPK_ALGO");
    const int64_t rows = p->batch, width = p->max_seq_len;
    if (wanted().deterministic || (forced && std::strcmp(forced, "cub") != 0) || width > CUB_TOPK_MAX_LEN || width < 1)
        return false;
    if (forced)
        return true;
    if (wanted().lowest && captured) {
        const int64_t short_end = rows == 1 ? 512 : rows < 256 ? 4096 : 0;
        return width <= short_end || width >= (rows < 128 ? 16384 : 262144);
    }
    if (wanted().lowest)
        return width <= (rows < 256 ? 2048 : 1024) || (rows <= 32 && width >= 16384);
    if (captured)
        return width >= (rows < 128 ? 32768 : 262144);
    return (rows == 1 && width >= 32768) || (rows <= 32 && width >= 65536);
}

template <int64_t kBound, typename RowsOut, typename Requirements>
cudaError_t select_with(const topk_problem *p, RowsOut rows_out, Requirements requirements, void *workspace,
                        size_t *bytes)
{
    auto keys = cuda::make_strided_iterator(cuda::make_counting_iterator(p->scores), p->score_stride);
    auto no_keys = cuda::make_constant_iterator(cuda::discard_iterator{});
    auto indices = cuda::make_constant_iterator(cuda::make_counting_iterator(int32_t{0}));
    auto out = cuda::make_transform_iterator(cuda::make_counting_iterator(int64_t{0}), rows_out);
    const int64_t width = p->max_seq_len;
    DLDevice      device = {kDLCUDA, 0};
    int64_t       shape[] = {static_cast<int64_t>(*bytes)}, strides[] = {1};
    DLTensor      fields = {workspace, device, 1, {kDLUInt, 8, 1}, shape, strides, 0};
    tvm::ffi::Optional<TensorView> given;
    if (workspace)
        given = TensorView(&fields);
    return CUBBatchedTopKDispatchBounds<kBound>(keys, no_keys, indices, out, p->seq_lens, given, p->batch, width,
                                                std::min<int64_t>(p->topk, width), requirements,
                                                workspace ? nullptr : bytes, static_cast<cudaStream_t>(p->stream));
}

template <typename RowsOut>
cudaError_t select_rows(const topk_problem *p, RowsOut rows_out, void *workspace, size_t *bytes)
{
    const auto bound = [&](auto requirements) {
        return p->max_seq_len <= 8192
                   ? select_with<8192>(p, rows_out, requirements, workspace, bytes)
                   : select_with<CUB_TOPK_MAX_LEN>(p, rows_out, requirements, workspace, bytes);
    };
    namespace exec = cuda::execution;
    if (wanted().lowest)
        return bound(exec::require(exec::determinism::gpu_to_gpu, exec::tie_break::prefer_smaller_index,
                                   exec::output_ordering::unsorted));
    return bound(exec::require(exec::determinism::not_guaranteed, exec::tie_break::unspecified,
                               exec::output_ordering::unsorted));
}

/* Without a workspace: writes how many bytes it would need. With one: selects. */
cudaError_t select_by_cub(const topk_problem *p, void *workspace, size_t *bytes)
{
    int32_t *pages = p->workspace ? pages_of(p) : p->page_indices;
    if (p->raw_indices)
        return select_rows(p,
                           CUBMakePageTableRowOut<true>{pages, p->raw_indices, p->page_table, nullptr, nullptr, nullptr,
                                                        p->page_table_stride, gpu_plugin::page_bits(p), p->topk},
                           workspace, bytes);
    return select_rows(p,
                       CUBMakePageTableRowOut<false>{pages, nullptr, p->page_table, nullptr, nullptr, nullptr,
                                                     p->page_table_stride, gpu_plugin::page_bits(p), p->topk},
                       workspace, bytes);
}

size_t cub_bytes(const topk_problem *p)
{
    size_t bytes = 0;
    if (!takes_cub(p, false) && !takes_cub(p, true))
        return 0;
    return select_by_cub(p, nullptr, &bytes) == cudaSuccess ? round_up(std::max<size_t>(bytes, 1), kAlignment) : 0;
}

int launch_cub(plugin *self, const topk_problem *p, char *err, size_t err_size)
{
    const cudaStream_t stream = static_cast<cudaStream_t>(p->stream);
    size_t             bytes = cub_bytes(p);
    cudaError_t        error = cudaSuccess;
    self->path = "CUB";
    try {
        error = select_by_cub(p, static_cast<char *>(p->workspace) + pages_bytes(p) + kStateBytes, &bytes);
    } catch (const std::exception &reason) {
        snprintf(err, err_size, "FlashInfer's launcher: %s", reason.what());
        return 1;
    }
    if (error == cudaSuccess)
        error = CUBFillTopKTails(pages_of(p), p->raw_indices, p->seq_lens, p->batch, p->topk, stream);
    return error == cudaSuccess ? 0 : fail(err, err_size, "CUB's kernel was not launched", error);
}

#else

bool takes_cub(const topk_problem *, bool)
{
    return false;
}

size_t cub_bytes(const topk_problem *)
{
    return 0;
}

int launch_cub(plugin *, const topk_problem *, char *, size_t)
{
    return 1;
}

#endif

size_t workspace_bytes(void *, const topk_problem *p)
{
    return pages_bytes(p) + kStateBytes + cub_bytes(p);
}

template <typename Policy>
cudaError_t transform(const topk_problem *p, sampling::RadixRowState *state, const Policy &policy)
{
    return sampling::TopKPageTableTransformDispatch<float, int32_t, Policy>(
        const_cast<float *>(p->scores), pages_of(p), p->page_table, p->page_table_stride,
        const_cast<int32_t *>(p->seq_lens), nullptr, nullptr, static_cast<uint32_t>(p->batch),
        static_cast<uint32_t>(p->topk), static_cast<uint32_t>(p->max_seq_len), state, wanted().deterministic,
        tie_break(), static_cast<cudaStream_t>(p->stream), false, nullptr, policy);
}

int launch_own(plugin *self, const topk_problem *p, char *err, size_t err_size)
{
    const bool filtered = sampling::ShouldUseFilteredTopK<float>(
        static_cast<uint32_t>(p->batch), static_cast<uint32_t>(p->topk), static_cast<uint32_t>(p->max_seq_len),
        wanted().deterministic, tie_break());
    void       *state = static_cast<char *>(p->workspace) + pages_bytes(p);
    cudaError_t error = cudaSuccess;
    self->path = filtered ? "filtered" : "radix, several blocks a row";
    if (!filtered)
        error = cudaMemsetAsync(state, 0, kStateBytes, static_cast<cudaStream_t>(p->stream));
    if (error != cudaSuccess)
        return fail(err, err_size, "clearing the state", error);
    const uint32_t bits = gpu_plugin::page_bits(p);
    const bool     plain = bits == 0 && !p->raw_indices && p->score_stride == p->max_seq_len &&
                       reinterpret_cast<uintptr_t>(p->scores) % sampling::TOPK_MAX_VECTOR_BYTES == 0;
    auto *states = static_cast<sampling::RadixRowState *>(state);
    error = plain ? transform(p, states, sampling::DirectPageTableKernelPolicy<int32_t>{})
                  : transform(p, states,
                              sampling::ConfigurablePageTableKernelPolicy<int32_t>{p->raw_indices, p->score_stride, bits});
    return error == cudaSuccess ? 0 : fail(err, err_size, "FlashInfer's launcher", error);
}

int launch(void *self, const topk_problem *p, char *err, size_t err_size)
{
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    const cudaError_t       error = cudaStreamIsCapturing(static_cast<cudaStream_t>(p->stream), &capture);
    if (error != cudaSuccess)
        return fail(err, err_size, "asking whether the stream is captured", error);
    if (takes_cub(p, capture == cudaStreamCaptureStatusActive))
        return launch_cub(static_cast<plugin *>(self), p, err, err_size);
    return launch_own(static_cast<plugin *>(self), p, err, err_size);
}

/* Its other kernels take a width of nothing for an error: "invalid argument". */
int supports(void *, const topk_problem *p, char *why, size_t why_size)
{
    if (p->max_seq_len > 0 || wanted().lowest)
        return 1;
    snprintf(why, why_size, "FlashInfer refuses rows without a column in this mode");
    return 0;
}

int open_plugin(int, void **self, char *, size_t)
{
    *self = new plugin{""};
    return 0;
}

void close_plugin(void *self)
{
    delete static_cast<plugin *>(self);
}

const char *path(void *self)
{
    return static_cast<plugin *>(self)->path;
}

/* Indices of each of the two lists in shared memory; the row width where several blocks share the row of a small batch. */
constexpr topk_limit kLimits[] = {{"candidates", sampling::FILTERED_TOPK_SMEM_INPUT_SIZE},
                                  {"split_length", 32768},
                                  {nullptr, 0}};

topk_provider describe()
{
    topk_provider provider = gpu_plugin::provider_of(wanted().name, FLASHINFER_VERSION, wanted().level);
    provider.claims.tie = wanted().lowest ? TOPK_TIE_LOWEST : TOPK_TIE_ANY;
    provider.claims.zero = wanted().lowest ? TOPK_ZERO_BITS : TOPK_ZERO_EQUAL;
    provider.claims.nan = TOPK_NAN_ANY;
    provider.claims.max_topk = sampling::FILTERED_TOPK_MAX_K;
    provider.limits = kLimits;
    provider.open = open_plugin;
    provider.supports = supports;
    provider.workspace_bytes = workspace_bytes;
    provider.launch = launch;
    provider.path = path;
    provider.close = close_plugin;
    return provider;
}

} // namespace

EXPORT_PROVIDER(describe)
