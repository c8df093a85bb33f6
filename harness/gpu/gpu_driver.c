/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver table's one source; see gpu_driver.h. What CUDA and HIP share is spelt through gpu_names.h; what differs
 * (contexts, identity, function attributes, clocks) stands in the block of each vendor below. Knows no provider.
 */
#include "harness/gpu/gpu_driver.h"
#include "harness/gpu/gpu_names.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* One line of a small file of the system; "" when there is none. */
static void read_line(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "r");
    text[0] = '\0';
    if (!file)
        return;
    if (!fgets(text, (int)size, file))
        text[0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    fclose(file);
}

/* ---- what differs --------------------------------------------------------------------------------------------- */

#if defined(TOPKCTS_CUDA)

static CUcontext context;
static gpu_device opened;

static void result_text(gpu_result result, char *text, size_t size)
{
    const char *name = NULL, *words = NULL;
    cuGetErrorName(result, &name);
    cuGetErrorString(result, &words);
    snprintf(text, size, "%s (%d): %s", name ? name : "unknown", (int)result, words ? words : "no text");
}

/* Errors that the driver reports for a kernel that misbehaved; the context is lost after them. */
static bool is_device_fault(gpu_result result)
{
    return result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_FAILED ||
           result == CUDA_ERROR_MISALIGNED_ADDRESS || result == CUDA_ERROR_ILLEGAL_INSTRUCTION ||
           result == CUDA_ERROR_INVALID_ADDRESS_SPACE || result == CUDA_ERROR_INVALID_PC ||
           result == CUDA_ERROR_HARDWARE_STACK_ERROR || result == CUDA_ERROR_ASSERT ||
           result == CUDA_ERROR_LAUNCH_TIMEOUT || result == CUDA_ERROR_ECC_UNCORRECTABLE;
}

static gpu_result context_open(gpu_device device)
{
    gpu_result result = cuDevicePrimaryCtxRetain(&context, device);
    opened = device;
    return result ? result : cuCtxSetCurrent(context);
}

static void context_close(void)
{
    if (context)
        cuDevicePrimaryCtxRelease(opened);
    context = NULL;
}

static gpu_result read_uuid(gpu_device device, char *text, size_t size)
{
    CUuuid     uuid;
    gpu_result result = cuDeviceGetUuid(&uuid, device);
    size_t     used = 0;
    static const unsigned groups[] = {4, 2, 2, 2, 6};
    unsigned              byte = 0;
    text[0] = '\0';
    if (result)
        return result;
    used = (size_t)snprintf(text, size, "GPU");
    for (unsigned g = 0; g < 5; g++)
        for (unsigned i = 0; i < groups[g]; i++, byte++)
            used += (size_t)snprintf(text + used, size - used, "%s%02x", i ? "" : "-",
                                     (unsigned)(unsigned char)uuid.bytes[byte]);
    return result;
}

static gpu_result read_arch(gpu_device device, char *text, size_t size)
{
    int        major = 0, minor = 0;
    gpu_result result = cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    if (!result)
        result = cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    snprintf(text, size, "sm_%d%d", major, minor);
    return result;
}

static void read_versions(struct gpu_description *description)
{
    int version = 0;
    cuDriverGetVersion(&version);
    read_line("/sys/module/nvidia/version", description->driver, sizeof description->driver);
    if (!description->driver[0])
        snprintf(description->driver, sizeof description->driver, "CUDA %d.%d", version / 1000, version % 1000 / 10);
    snprintf(description->runtime, sizeof description->runtime, "CUDA %d.%d", version / 1000, version % 1000 / 10);
}

/* Calls of a header newer than the driver may not be there, or mean something else. */
static enum status refuse_old_driver(struct error *err)
{
    int version = 0;
    if (cuDriverGetVersion(&version) == CUDA_SUCCESS && version / 1000 < CUDA_VERSION / 1000)
        return error_set(err, STATUS_BOOKS,
                         "the NVIDIA driver is too old: it supports CUDA %d.%d, this backend was built with %d.%d",
                         version / 1000, version % 1000 / 10, CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
    return STATUS_OK;
}

static gpu_result allow_dynamic(gpu_function function, uint32_t bytes)
{
    return cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)bytes);
}

static int32_t driver_clock_mhz(int ordinal)
{
    /* NVML counts devices its own way: the PCI address names the right one. No header, so that a machine without NVML's
     * still builds this. */
    static void *library;
    char         address[32];
    unsigned     mhz = 0;
    void        *device = NULL;
    gpu_device   handle;
    if (!library) {
        int (*init)(void);
        library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
        if (!library)
            return 0;
        *(void **)&init = dlsym(library, "nvmlInit_v2");
        if (!init || init() != 0)
            return 0;
    }
    int (*by_address)(const char *, void **);
    int (*clock_info)(void *, int, unsigned *);
    *(void **)&by_address = dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&clock_info = dlsym(library, "nvmlDeviceGetClockInfo");
    if (!by_address || !clock_info || gpuDeviceGet(&handle, ordinal) ||
        gpuDevicePciAddress(address, (int)sizeof address, handle) || by_address(address, &device) != 0 ||
        clock_info(device, 1 /* NVML_CLOCK_SM */, &mhz) != 0)
        return 0;
    return (int32_t)mhz;
}

#define MEMORY(pointer) ((gpu_memory)(uintptr_t)(pointer))
#define NO_DEVICE CUDA_ERROR_NO_DEVICE

#else

static void result_text(gpu_result result, char *text, size_t size)
{
    snprintf(text, size, "%s (%d): %s", hipGetErrorName(result), (int)result, hipGetErrorString(result));
}

static bool is_device_fault(gpu_result result)
{
    return result == hipErrorIllegalAddress || result == hipErrorLaunchFailure || result == hipErrorECCNotCorrectable ||
           result == hipErrorLaunchTimeOut || result == hipErrorAssert;
}

static gpu_result context_open(gpu_device device)
{
    return hipSetDevice(device);
}

static void context_close(void)
{
}

/* ROCm's uuid is the serial number as 16 characters. */
static gpu_result read_uuid(gpu_device device, char *text, size_t size)
{
    hipUUID    uuid;
    gpu_result result = hipDeviceGetUuid(&uuid, device);
    bool       printable = true, zero = true;
    text[0] = '\0';
    if (result)
        return result;
    for (int i = 0; i < 16; i++) {
        printable &= isalnum((unsigned char)uuid.bytes[i]) != 0;
        zero &= uuid.bytes[i] == 0 || uuid.bytes[i] == '0';
    }
    if (zero)
        return result;
    if (printable) {
        snprintf(text, size, "GPU-%.16s", uuid.bytes);
        return result;
    }
    size_t used = (size_t)snprintf(text, size, "GPU-");
    for (int i = 0; i < 16; i++)
        used += (size_t)snprintf(text + used, size - used, "%02x", (unsigned)(unsigned char)uuid.bytes[i]);
    return result;
}

static gpu_result read_arch(gpu_device device, char *text, size_t size)
{
    static hipDeviceProp_t properties;
    gpu_result             result = hipGetDeviceProperties(&properties, device);
    snprintf(text, size, "%s", result ? "" : properties.gcnArchName);
    return result;
}

static void read_versions(struct gpu_description *description)
{
    int version = 0;
    read_line("/sys/module/amdgpu/version", description->driver, sizeof description->driver);
    if (!description->driver[0]) /* the driver of the kernel itself has no version of its own */
        read_line("/proc/sys/kernel/osrelease", description->driver, sizeof description->driver);
    if (hipRuntimeGetVersion(&version))
        version = 0;
    snprintf(description->runtime, sizeof description->runtime, "HIP %d.%d.%d", version / 10000000,
             version / 100000 % 100, version % 100000);
}

static enum status refuse_old_driver(struct error *err)
{
    int version = 0;
    if (hipRuntimeGetVersion(&version) == hipSuccess && version / 10000000 != HIP_VERSION_MAJOR)
        return error_set(err, STATUS_BOOKS,
                         "the HIP library is of version %d, this backend was built with headers of version %d, whose "
                         "constants differ: rebuild it on this machine (make clean all)",
                         version / 10000000, HIP_VERSION_MAJOR);
    return STATUS_OK;
}

/* AMD has no larger limit to ask for: 64 KiB of LDS are there without it. */
static gpu_result allow_dynamic(gpu_function function, uint32_t bytes)
{
    (void)function;
    (void)bytes;
    return hipSuccess;
}

/* The line of the active level is marked with a star: "1: 1500Mhz *". */
static int32_t driver_clock_mhz(int ordinal)
{
    char       address[32], path[160], line[96];
    gpu_device device;
    int        level, mhz = 0;
    if (gpuDeviceGet(&device, ordinal) || gpuDevicePciAddress(address, (int)sizeof address, device))
        return 0;
    for (char *c = address; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/pp_dpm_sclk", address);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    while (fgets(line, sizeof line, file))
        if (strchr(line, '*') && sscanf(line, "%d: %dMhz", &level, &mhz) == 2)
            break;
    fclose(file);
    return mhz;
}

#define MEMORY(pointer) ((gpu_memory)(pointer))
#define NO_DEVICE hipErrorNoDevice

#endif

/* ---- what is shared ------------------------------------------------------------------------------------------- */

/* Turns a result of the driver into a status; `what` is what was attempted. */
static enum status check(gpu_result result, const char *what, struct error *err)
{
    char text[256];
    if (result == GPU_SUCCESS)
        return STATUS_OK;
    result_text(result, text, sizeof text);
    if (is_device_fault(result))
        return error_set(err, STATUS_FAIL, "device fault, seen by %s: %s", what, text);
    return error_set(err, STATUS_BOOKS, "%s: %s", what, text);
}

static enum status driver_count(int *n, struct error *err)
{
    gpu_result result = gpuInit(0);
    *n = 0;
    if (result == NO_DEVICE)
        return STATUS_OK;
    if (check(result, "starting the driver", err) || refuse_old_driver(err))
        return err->status;
    result = gpuDeviceCount(n);
    if (result == NO_DEVICE) {
        *n = 0;
        return STATUS_OK;
    }
    return check(result, "counting devices", err);
}

static enum status find_device(int ordinal, gpu_device *device, struct error *err)
{
    int n = 0;
    if (driver_count(&n, err))
        return err->status;
    if (n == 0)
        return error_set(err, STATUS_BOOKS, "the driver answers, but there is no device");
    if (ordinal >= n)
        return error_set(err, STATUS_BOOKS, "there is no device %d: %d found, numbered from 0", ordinal, n);
    return check(gpuDeviceGet(device, ordinal), "finding the device", err);
}

/* For devices without a uuid: a card keeps its place in a machine, and a partition of it its mode. */
static void identify_by_place(gpu_device device, struct gpu_description *description)
{
    char address[32] = "?", host[128] = "", path[160], mode[32];
    gethostname(host, sizeof host - 1);
    if (gpuDevicePciAddress(address, (int)sizeof address, device) != GPU_SUCCESS)
        snprintf(address, sizeof address, "?");
    for (char *c = address; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/current_compute_partition", address);
    read_line(path, mode, sizeof mode);
    snprintf(description->device_id, sizeof description->device_id, "%s:%s%s%s", host, address, mode[0] ? ":" : "", mode);
}

static enum status driver_describe(int ordinal, struct gpu_description *description, struct error *err)
{
    gpu_device device;
    size_t     memory = 0;
    int        wave = 0, lds = 0, l2 = 0;
    memset(description, 0, sizeof *description);
    if (find_device(ordinal, &device, err) ||
        check(gpuDeviceName(description->name, (int)sizeof description->name, device), "naming the device", err) ||
        check(gpuDeviceMemory(&memory, device), "asking for the memory", err) ||
        check(gpuDeviceAttribute(&wave, GPU_ATTRIBUTE_WAVE, device), "asking for the wave size", err) ||
        check(gpuDeviceAttribute(&lds, GPU_ATTRIBUTE_LDS, device), "asking for the shared memory", err) ||
        check(gpuDeviceAttribute(&l2, GPU_ATTRIBUTE_L2, device), "asking for the cache size", err) ||
        check(read_arch(device, description->arch, sizeof description->arch), "asking for the architecture", err))
        return err->status;
    if (read_uuid(device, description->device_id, sizeof description->device_id) != GPU_SUCCESS ||
        !description->device_id[0])
        identify_by_place(device, description);
    read_versions(description);
    description->wave_size = wave;
    description->lds_bytes = lds;
    description->memory_bytes = (int64_t)memory;
    description->l2_bytes = l2;
    return STATUS_OK;
}

static enum status driver_open(int ordinal, struct error *err)
{
    gpu_device device;
    if (find_device(ordinal, &device, err))
        return err->status;
    return check(context_open(device), "opening the device", err);
}

static void driver_close(void)
{
    context_close();
}

static void *driver_alloc(size_t bytes, struct error *err)
{
    gpu_memory memory = 0;
    if (gpuMemoryAlloc(&memory, bytes) != GPU_SUCCESS) {
        error_set(err, STATUS_BOOKS, "out of device memory: %zu bytes for a buffer", bytes);
        return NULL;
    }
    return (void *)(uintptr_t)memory;
}

static void driver_free(void *memory)
{
    (void)gpuMemoryFree(MEMORY(memory));
}

static enum status driver_write(void *stream, void *to, const void *from, size_t bytes, struct error *err)
{
    return check(gpuMemoryWrite(MEMORY(to), (void *)(uintptr_t)from, bytes, stream), "writing to the device", err);
}

static enum status driver_read(void *stream, void *to, const void *from, size_t bytes, struct error *err)
{
    return check(gpuMemoryRead(to, MEMORY((void *)(uintptr_t)from), bytes, stream), "reading from the device", err);
}

static enum status driver_copy(void *stream, void *to, const void *from, size_t bytes, struct error *err)
{
    return check(gpuMemoryCopy(MEMORY(to), MEMORY((void *)(uintptr_t)from), bytes, stream), "copying on the device", err);
}

static enum status driver_fill(void *stream, void *to, uint32_t word, size_t n_words, struct error *err)
{
    return check(gpuMemoryFill(MEMORY(to), (int)word, n_words, stream), "filling device memory", err);
}

static void *driver_stream_create(struct error *err)
{
    gpu_stream stream = NULL;
    return check(gpuStreamCreate(&stream, GPU_STREAM_FLAGS), "making a stream", err) ? NULL : (void *)stream;
}

static void driver_stream_destroy(void *stream)
{
    (void)gpuStreamDestroy(stream);
}

static enum status driver_stream_wait(void *stream, struct error *err)
{
    return check(gpuStreamWait(stream), "waiting for the stream", err);
}

static void *driver_event_create(struct error *err)
{
    gpu_event event = NULL;
    return check(gpuEventCreate(&event, GPU_EVENT_FLAGS), "making an event", err) ? NULL : (void *)event;
}

static void driver_event_destroy(void *event)
{
    (void)gpuEventDestroy(event);
}

static enum status driver_event_record(void *event, void *stream, struct error *err)
{
    return check(gpuEventRecord(event, stream), "recording an event", err);
}

static enum status driver_event_elapsed(void *from, void *to, double *microseconds, struct error *err)
{
    float milliseconds = 0;
    if (check(gpuEventWait(to), "waiting for an event", err) ||
        check(gpuEventElapsed(&milliseconds, from, to), "taking the time between events", err))
        return err->status;
    *microseconds = (double)milliseconds * 1000.0;
    return STATUS_OK;
}

static enum status driver_capture_begin(void *stream, struct error *err)
{
    return check(gpuStreamBeginCapture(stream, GPU_CAPTURE_MODE), "beginning a capture", err);
}

static enum status driver_capture_end(void *stream, void **graph, struct error *err)
{
    gpu_graph      captured = NULL;
    gpu_graph_exec exec = NULL;
    *graph = NULL;
    if (check(gpuStreamEndCapture(stream, &captured), "ending a capture", err))
        return err->status;
    enum status status = check(gpuGraphInstantiate(&exec, captured), "making a graph of a capture", err);
    (void)gpuGraphDestroy(captured);
    *graph = exec;
    return status;
}

static enum status driver_graph_launch(void *graph, void *stream, struct error *err)
{
    return check(gpuGraphLaunch(graph, stream), "launching a graph", err);
}

static void driver_graph_free(void *graph)
{
    (void)gpuGraphExecDestroy(graph);
}

static void *driver_module_load(const void *image, struct error *err)
{
    gpu_module module = NULL;
    return check(gpuModuleLoad(&module, image), "loading a code object", err) ? NULL : (void *)module;
}

static void driver_module_unload(void *module)
{
    (void)gpuModuleUnload(module);
}

static void *driver_function(void *module, const char *name, struct error *err)
{
    gpu_function function = NULL;
    if (check(gpuModuleFunction(&function, module, name), "finding a kernel in a code object", err)) {
        error_prefix(err, "kernel %s", name);
        return NULL;
    }
    return (void *)function;
}

static enum status driver_function_needs(void *function, struct gpu_function_needs *needs, struct error *err)
{
    int lds = 0, local = 0, registers = 0, threads = 0;
    if (check(gpuFunctionAttribute(&lds, GPU_FUNCTION_LDS, function), "asking for a kernel's LDS", err) ||
        check(gpuFunctionAttribute(&local, GPU_FUNCTION_LOCAL, function), "asking for a kernel's scratch", err) ||
        check(gpuFunctionAttribute(&registers, GPU_FUNCTION_REGISTERS, function), "asking for a kernel's registers", err) ||
        check(gpuFunctionAttribute(&threads, GPU_FUNCTION_THREADS, function), "asking for a kernel's block size", err))
        return err->status;
    *needs = (struct gpu_function_needs){lds, local, registers, threads, false};
#ifdef GPU_FUNCTION_TARGET
    int target = 0;
    if (check(gpuFunctionAttribute(&target, GPU_FUNCTION_TARGET, function), "asking what a kernel was compiled for", err))
        return err->status;
    needs->may_wait = target >= 90;
#endif
    return STATUS_OK;
}

static enum status driver_function_allow(void *function, uint32_t dynamic_lds, struct error *err)
{
    return check(allow_dynamic(function, dynamic_lds), "asking for more dynamic LDS", err);
}

static enum status driver_launch(const struct gpu_launch *launch, struct error *err)
{
#ifdef gpuLaunchWith
    if (launch->early) {
        CUlaunchAttribute early = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                   .value.programmaticStreamSerializationAllowed = 1};
        CUlaunchConfig    config = {.gridDimX = launch->grid, .gridDimY = 1, .gridDimZ = 1,
                                    .blockDimX = launch->block, .blockDimY = 1, .blockDimZ = 1,
                                    .sharedMemBytes = launch->dynamic_lds, .hStream = launch->stream,
                                    .attrs = &early, .numAttrs = 1};
        return check(gpuLaunchWith(&config, launch->function, launch->arguments, NULL), "launching the kernel early", err);
    }
#endif
    return check(gpuLaunch(launch->function, launch->grid, 1, 1, launch->block, 1, 1, launch->dynamic_lds,
                           launch->stream, launch->arguments, NULL),
                 "launching the kernel", err);
}

static const struct gpu_driver driver = {
    .abi = GPU_DRIVER_ABI,
    .backend = GPU_BACKEND,
    .count = driver_count,
    .describe = driver_describe,
    .open = driver_open,
    .close = driver_close,
    .alloc = driver_alloc,
    .free = driver_free,
    .write = driver_write,
    .read = driver_read,
    .copy = driver_copy,
    .fill = driver_fill,
    .stream_create = driver_stream_create,
    .stream_destroy = driver_stream_destroy,
    .stream_wait = driver_stream_wait,
    .event_create = driver_event_create,
    .event_destroy = driver_event_destroy,
    .event_record = driver_event_record,
    .event_elapsed = driver_event_elapsed,
    .capture_begin = driver_capture_begin,
    .capture_end = driver_capture_end,
    .graph_launch = driver_graph_launch,
    .graph_free = driver_graph_free,
    .module_load = driver_module_load,
    .module_unload = driver_module_unload,
    .function = driver_function,
    .function_needs = driver_function_needs,
    .function_allow = driver_function_allow,
    .launch = driver_launch,
    .clock_mhz = driver_clock_mhz,
};

__attribute__((visibility("default"))) const struct gpu_driver *topkcts_gpu_driver(void)
{
    return &driver;
}
