// SPDX-License-Identifier: Apache-2.0
/*
 * A stand-in for libamdhip64 in tests: the HIP functions that the driver table calls, compiled against the real HIP
 * headers, with the simulator as the device. It is preloaded (LD_PRELOAD) under the real library's name, so that the
 * real backend, the real worker and the real judge run against it. No measurement and no verdict about hardware comes
 * from it: its devices say so in their names.
 *
 * Streams are queues that run when they are waited for, in order, and not before: a missing wait reads what lay there.
 * A code object must be an ELF file for AMD GPUs; its v1 kernels are then served by the simulator's v1.
 *
 *     ROCR_VISIBLE_DEVICES=1     the second of two cards becomes device 0, as on real machines
 *     HIP_DOUBLE_ARCH=gfx942     what the cards say they are (gfx1100)
 *     HIP_DOUBLE_FAULT=N         the Nth launch of a process ends in a fault that every later call reports, too
 *     HIP_DOUBLE_DEAD=FILE       a fault is for good: it leaves the file, and with the file there every launch faults
 *     HIP_DOUBLE_LDS=BYTES       LDS of a block (65536)
 */
#include <hip/hip_runtime_api.h>

#include "kernels/topk_v1.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <new>
#include <string>
#include <vector>

namespace {

constexpr int n_cards = 2;
int           current_card;
hipError_t    sticky = hipSuccess; // after a fault nothing works any more
long          n_launches;

using work = std::function<void()>;

struct stream {
    std::vector<work> queue;
    std::vector<work> captured;
    bool              is_capturing = false;
};

struct event {
    double at_ms = 0;
};

struct module_image {
    bool is_amdgpu = false;
};

struct kernel {
    std::string name;
};

struct graph {
    std::vector<work> nodes;
};

const char *setting(const char *name, const char *otherwise)
{
    const char *value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : otherwise;
}

std::vector<int> visible_cards()
{
    std::vector<int> cards;
    const char      *list = std::getenv("ROCR_VISIBLE_DEVICES");
    if (list == nullptr)
        return {0, 1};
    while (*list != '\0') {
        char *end = nullptr;
        long  card = std::strtol(list, &end, 10);
        if (end == list || card < 0 || card >= n_cards)
            break;
        cards.push_back(static_cast<int>(card));
        list = *end == ',' ? end + 1 : end;
    }
    return cards;
}

stream *stream_of(hipStream_t handle)
{
    static stream default_stream;
    return handle != nullptr ? reinterpret_cast<stream *>(handle) : &default_stream;
}

hipError_t enqueue(hipStream_t handle, work item)
{
    stream *s = stream_of(handle);
    if (sticky != hipSuccess)
        return sticky;
    (s->is_capturing ? s->captured : s->queue).push_back(std::move(item));
    return hipSuccess;
}

hipError_t drain(stream *s)
{
    std::vector<work> queue;
    queue.swap(s->queue);
    for (const work &item : queue)
        if (sticky == hipSuccess)
            item();
    return sticky;
}

double clock_ms()
{
    timespec now = {};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

const topk_v1_launch *planned_kernel(const std::string &name)
{
    for (const topk_v1_launch *planned = topk_v1_kernels; planned->kernel != nullptr; planned++)
        if (name == planned->kernel)
            return planned;
    return nullptr;
}

void run_kernel(const topk_v1_launch &launch, const topk_problem &problem, int32_t splits)
{
    char cause[512] = "";
    const char *dead = setting("HIP_DOUBLE_DEAD", "");
    std::FILE  *mark = *dead ? std::fopen(dead, "r") : nullptr;
    if (++n_launches == std::strtol(setting("HIP_DOUBLE_FAULT", "0"), nullptr, 10) || mark) {
        sticky = hipErrorIllegalAddress;
        if (mark || (*dead && (mark = std::fopen(dead, "w"))))
            std::fclose(mark);
        return;
    }
    if (topk_v1_simulate(&problem, &launch, splits, cause, sizeof cause) != 0) {
        std::fprintf(stderr, "HIP test double: %s: %s\n", launch.kernel, cause);
        sticky = hipErrorLaunchFailure;
    }
}

} // namespace

extern "C" {

hipError_t hipGetDeviceCount(int *count)
{
    *count = static_cast<int>(visible_cards().size());
    return *count > 0 ? hipSuccess : hipErrorNoDevice;
}

hipError_t hipDriverGetVersion(int *version)
{
    *version = HIP_VERSION;
    return hipSuccess;
}

hipError_t hipRuntimeGetVersion(int *version)
{
    *version = HIP_VERSION;
    return hipSuccess;
}

hipError_t hipDeviceGet(hipDevice_t *device, int ordinal)
{
    std::vector<int> cards = visible_cards();
    if (ordinal < 0 || ordinal >= static_cast<int>(cards.size()))
        return hipErrorInvalidDevice;
    *device = cards[static_cast<size_t>(ordinal)];
    return hipSuccess;
}

hipError_t hipDeviceGetName(char *name, int size, hipDevice_t)
{
    std::snprintf(name, static_cast<size_t>(size), "HIP test double (simulator)");
    return hipSuccess;
}

hipError_t hipDeviceTotalMem(size_t *bytes, hipDevice_t)
{
    *bytes = size_t{1} << 30;
    return hipSuccess;
}

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t attribute, int)
{
    bool is_wave64 = std::strncmp(setting("HIP_DOUBLE_ARCH", "gfx1100"), "gfx9", 4) == 0;
    switch (attribute) {
    case hipDeviceAttributeWarpSize: *value = is_wave64 ? 64 : 32; return hipSuccess;
    case hipDeviceAttributeMaxSharedMemoryPerBlock: *value = std::atoi(setting("HIP_DOUBLE_LDS", "65536")); return hipSuccess;
    case hipDeviceAttributeL2CacheSize: *value = 1 << 20; return hipSuccess;
    default: return hipErrorInvalidValue;
    }
}

hipError_t hipDeviceGetUuid(hipUUID *uuid, hipDevice_t device)
{
    char text[17];
    std::snprintf(text, sizeof text, "d0ub1e0000000%03d", device);
    std::memcpy(uuid->bytes, text, 16);
    return hipSuccess;
}

hipError_t hipDeviceGetPCIBusId(char *address, int size, int device)
{
    std::snprintf(address, static_cast<size_t>(size), "0000:%02x:00.0", device + 1);
    return hipSuccess;
}

hipError_t hipGetDeviceProperties(hipDeviceProp_t *properties, int)
{
    std::memset(properties, 0, sizeof *properties);
    std::snprintf(properties->gcnArchName, sizeof properties->gcnArchName, "%s", setting("HIP_DOUBLE_ARCH", "gfx1100"));
    return hipSuccess;
}

hipError_t hipSetDevice(int device)
{
    current_card = device;
    return hipSuccess;
}

const char *hipGetErrorName(hipError_t error)
{
    return error == hipErrorIllegalAddress ? "hipErrorIllegalAddress" : "an error";
}

const char *hipGetErrorString(hipError_t error)
{
    return error == hipErrorIllegalAddress ? "an illegal memory access was encountered (test double)" : "test double";
}

hipError_t hipMalloc(void **memory, size_t bytes)
{
    *memory = std::aligned_alloc(256, (bytes + 511) / 256 * 256);
    return *memory != nullptr ? sticky : hipErrorOutOfMemory;
}

hipError_t hipFree(void *memory)
{
    std::free(memory);
    return sticky;
}

hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, void *from, size_t bytes, hipStream_t handle)
{
    return enqueue(handle, [=] { std::memcpy(to, from, bytes); });
}

hipError_t hipMemcpyDtoHAsync(void *to, hipDeviceptr_t from, size_t bytes, hipStream_t handle)
{
    return enqueue(handle, [=] { std::memcpy(to, from, bytes); });
}

hipError_t hipMemcpyDtoDAsync(hipDeviceptr_t to, hipDeviceptr_t from, size_t bytes, hipStream_t handle)
{
    return enqueue(handle, [=] { std::memcpy(to, from, bytes); });
}

/* Traffic to keep a device busy is no work of anybody's here: only the first words are written. */
hipError_t hipMemsetD32Async(hipDeviceptr_t to, int word, size_t n_words, hipStream_t handle)
{
    return enqueue(handle, [=] {
        for (size_t i = 0; i < n_words && i < 64; i++)
            static_cast<int *>(to)[i] = word;
    });
}

hipError_t hipStreamCreateWithFlags(hipStream_t *handle, unsigned int flags)
{
    if (flags != hipStreamNonBlocking)
        return hipErrorInvalidValue;
    *handle = reinterpret_cast<hipStream_t>(new stream);
    return hipSuccess;
}

hipError_t hipStreamDestroy(hipStream_t handle)
{
    delete reinterpret_cast<stream *>(handle);
    return sticky;
}

hipError_t hipStreamSynchronize(hipStream_t handle)
{
    return stream_of(handle)->is_capturing ? hipErrorStreamCaptureUnsupported : drain(stream_of(handle));
}

hipError_t hipStreamBeginCapture(hipStream_t handle, hipStreamCaptureMode)
{
    stream_of(handle)->is_capturing = true;
    stream_of(handle)->captured.clear();
    return sticky;
}

hipError_t hipStreamEndCapture(hipStream_t handle, hipGraph_t *captured)
{
    stream *s = stream_of(handle);
    if (!s->is_capturing)
        return hipErrorIllegalState;
    s->is_capturing = false;
    *captured = reinterpret_cast<hipGraph_t>(new graph{s->captured});
    return sticky;
}

hipError_t hipGraphInstantiate(hipGraphExec_t *exec, hipGraph_t captured, hipGraphNode_t *, char *, size_t)
{
    *exec = reinterpret_cast<hipGraphExec_t>(new graph(*reinterpret_cast<graph *>(captured)));
    return sticky;
}

hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t handle)
{
    for (const work &node : reinterpret_cast<graph *>(exec)->nodes)
        if (hipError_t error = enqueue(handle, node); error != hipSuccess)
            return error;
    return sticky;
}

hipError_t hipGraphDestroy(hipGraph_t captured)
{
    delete reinterpret_cast<graph *>(captured);
    return hipSuccess;
}

hipError_t hipGraphExecDestroy(hipGraphExec_t exec)
{
    delete reinterpret_cast<graph *>(exec);
    return hipSuccess;
}

hipError_t hipEventCreateWithFlags(hipEvent_t *handle, unsigned)
{
    *handle = reinterpret_cast<hipEvent_t>(new event);
    return sticky;
}

hipError_t hipEventDestroy(hipEvent_t handle)
{
    delete reinterpret_cast<event *>(handle);
    return hipSuccess;
}

hipError_t hipEventRecord(hipEvent_t handle, hipStream_t on)
{
    (void)drain(stream_of(on)); // nothing overlaps here: the time of what came before is over when it is recorded
    reinterpret_cast<event *>(handle)->at_ms = clock_ms();
    return sticky;
}

hipError_t hipEventSynchronize(hipEvent_t)
{
    return sticky;
}

hipError_t hipEventElapsedTime(float *milliseconds, hipEvent_t from, hipEvent_t to)
{
    *milliseconds = static_cast<float>(reinterpret_cast<event *>(to)->at_ms - reinterpret_cast<event *>(from)->at_ms);
    return sticky;
}

hipError_t hipModuleLoadData(hipModule_t *handle, const void *image)
{
    const unsigned char *elf = static_cast<const unsigned char *>(image);
    constexpr int        amdgpu = 224;
    if (std::memcmp(elf, "\177ELF", 4) != 0 || elf[18] + elf[19] * 256 != amdgpu)
        return hipErrorInvalidImage;
    *handle = reinterpret_cast<hipModule_t>(new module_image{true});
    return sticky;
}

hipError_t hipModuleUnload(hipModule_t handle)
{
    delete reinterpret_cast<module_image *>(handle);
    return sticky;
}

hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t, const char *name)
{
    if (planned_kernel(name) == nullptr)
        return hipErrorNotFound;
    *function = reinterpret_cast<hipFunction_t>(new kernel{name}); // a handful a process; the process ends
    return sticky;
}

hipError_t hipFuncGetAttribute(int *value, hipFunction_attribute attribute, hipFunction_t function)
{
    switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = 14000; return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = 0; return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_NUM_REGS: *value = 39; return hipSuccess;
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = static_cast<int>(planned_kernel(reinterpret_cast<kernel *>(function)->name)->block);
        return hipSuccess;
    default: return hipErrorInvalidValue;
    }
}

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid, unsigned grid_y, unsigned grid_z, unsigned block,
                                 unsigned block_y, unsigned block_z, unsigned dynamic_lds, hipStream_t handle,
                                 void **arguments, void **extra)
{
    topk_problem p = {};
    std::string  name = reinterpret_cast<kernel *>(function)->name;
    if (grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1 || extra != nullptr)
        return hipErrorInvalidValue;
    p.scores = *static_cast<const float **>(arguments[0]);
    p.seq_lens = *static_cast<const int32_t **>(arguments[1]);
    p.page_table = *static_cast<const int32_t **>(arguments[2]);
    p.page_indices = *static_cast<int32_t **>(arguments[3]);
    p.raw_indices = *static_cast<int32_t **>(arguments[4]);
    p.score_stride = *static_cast<int64_t *>(arguments[5]);
    p.page_table_stride = *static_cast<int64_t *>(arguments[6]);
    p.topk = *static_cast<int32_t *>(arguments[7]);
    p.page_size = *static_cast<int32_t *>(arguments[8]);
    p.max_seq_len = *static_cast<int32_t *>(arguments[9]);
    p.workspace = *static_cast<void **>(arguments[10]);
    const int32_t         splits = *static_cast<int32_t *>(arguments[11]);
    const topk_v1_launch *planned = planned_kernel(name);
    if (block != planned->block || dynamic_lds != planned->dynamic_lds)
        return hipErrorInvalidConfiguration;
    topk_v1_launch launch = *planned;
    launch.grid = grid;
    return enqueue(handle, [=] { run_kernel(launch, p, splits); });
}

} // extern "C"
