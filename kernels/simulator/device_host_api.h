/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host code of kernels on the simulator: what a plugin calls to launch and to get memory, under HIP's and CUDA's names.
 * Memory is the host's; a launch has ended when the call returns, so that streams have no order of their own. Launches go
 * by hipLaunchKernelGGL, or hipLaunchKernel and cudaLaunchKernel with the kernel itself as first argument;
 * kernel<<<...>>> is no C++ and does not compile here. Part of device.h.
 */
#ifndef TOPKCTS_SIMULATOR_DEVICE_HOST_API_H
#define TOPKCTS_SIMULATOR_DEVICE_HOST_API_H

#include "simulator.h"

#include <cstdlib>
#include <tuple>
#include <utility>

typedef int   hipError_t;
typedef void *hipStream_t;
typedef int   cudaError_t;
typedef void *cudaStream_t;

enum { hipSuccess = 0, hipErrorOutOfMemory = 2, hipErrorLaunchFailure = 719 };
enum { cudaSuccess = 0, cudaErrorMemoryAllocation = 2, cudaErrorLaunchFailure = 719 };
enum hipMemcpyKind { hipMemcpyHostToHost, hipMemcpyHostToDevice, hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice, hipMemcpyDefault };
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };

inline int  simulator_last_error;
inline char simulator_last_text[1024];

inline int simulator_take_error()
{
    const int error = simulator_last_error;
    simulator_last_error = 0;
    return error;
}

template <typename... Parameters> struct simulator_call {
    void (*kernel)(Parameters...);
    std::tuple<std::decay_t<Parameters>...> arguments;

    SIMULATOR_UNWATCHED static void enter(const void *payload)
    {
        const simulator_call &call = *static_cast<const simulator_call *>(payload);
        std::apply(call.kernel, call.arguments);
    }
};

/* Runs the kernel to its end. The arguments are memory that the kernel's threads read. */
template <typename... Parameters>
inline int simulator_launch_call(const char *name, const simulator_call<Parameters...> &call, dim3 grid, dim3 block,
                                 size_t dynamic_lds)
{
    simulator_launch launch = {};
    launch.kernel_name = name;
    launch.entry = simulator_call<Parameters...>::enter;
    launch.arguments = &call;
    launch.grid = grid.x;
    launch.grid_y = grid.y;
    launch.grid_z = grid.z;
    launch.block = block.x;
    launch.block_y = block.y;
    launch.block_z = block.z;
    launch.dynamic_lds = dynamic_lds;
    launch.module_address = reinterpret_cast<const void *>(call.kernel);
    if (simulator_finding() != nullptr) return simulator_last_error = hipErrorLaunchFailure; /* the first one counts */
    simulator_add_buffer("kernel arguments", &call, sizeof call, SIMULATOR_INPUT);
    const int status = simulator_run(&launch, simulator_last_text, sizeof simulator_last_text);
    simulator_remove_buffer(&call);
    if (status != 0) simulator_last_error = hipErrorLaunchFailure;
    return status != 0 ? hipErrorLaunchFailure : hipSuccess;
}

template <typename... Parameters, typename... Arguments>
inline void simulator_launch_kernel(const char *name, void (*kernel)(Parameters...), dim3 grid, dim3 block,
                                    size_t dynamic_lds, void *, Arguments &&...arguments)
{
    const simulator_call<Parameters...> call = {kernel, {static_cast<std::decay_t<Parameters>>(arguments)...}};
    (void)simulator_launch_call(name, call, grid, block, dynamic_lds);
}
#define hipLaunchKernelGGL(kernel, ...) simulator_launch_kernel(#kernel, kernel, __VA_ARGS__)

template <typename... Parameters, size_t... I>
inline int simulator_launch_pointers(void (*kernel)(Parameters...), dim3 grid, dim3 block, void **arguments,
                                     size_t dynamic_lds, std::index_sequence<I...>)
{
    const simulator_call<Parameters...> call = {kernel, {*static_cast<std::decay_t<Parameters> *>(arguments[I])...}};
    return simulator_launch_call("kernel", call, grid, block, dynamic_lds);
}
template <typename... Parameters>
inline int hipLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void **arguments, size_t dynamic_lds,
                           void *)
{
    return simulator_launch_pointers(kernel, grid, block, arguments, dynamic_lds,
                                     std::index_sequence_for<Parameters...>());
}
#define cudaLaunchKernel hipLaunchKernel

/* Memory with a name of its own in findings. */
template <typename T> inline int hipMalloc(T **memory, size_t bytes)
{
    *memory = static_cast<T *>(std::calloc(bytes == 0 ? 1 : bytes, 1));
    if (*memory == nullptr) return hipErrorOutOfMemory;
    std::memset(static_cast<void *>(*memory), 0xa5, bytes);
    simulator_add_buffer("allocated memory", *memory, bytes, SIMULATOR_WORKSPACE);
    return hipSuccess;
}
inline int hipFree(void *memory)
{
    if (memory != nullptr) simulator_remove_buffer(memory);
    std::free(memory);
    return hipSuccess;
}
inline int hipMemcpy(void *to, const void *from, size_t bytes, int)
{
    std::memcpy(to, from, bytes);
    simulator_mark_written(to, bytes);
    return hipSuccess;
}
inline int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void * = nullptr)
{
    return hipMemcpy(to, from, bytes, kind);
}
inline int hipMemset(void *to, int value, size_t bytes)
{
    std::memset(to, value, bytes);
    simulator_mark_written(to, bytes);
    return hipSuccess;
}
inline int hipMemsetAsync(void *to, int value, size_t bytes, void * = nullptr) { return hipMemset(to, value, bytes); }
inline int         hipDeviceSynchronize() { return hipSuccess; }
inline int         hipStreamSynchronize(void *) { return hipSuccess; }
inline int         hipSetDevice(int) { return hipSuccess; }
inline int         hipGetLastError() { return simulator_take_error(); }
inline int         hipPeekAtLastError() { return simulator_last_error; }
inline const char *hipGetErrorString(int error)
{
    return error == hipSuccess ? "no error" : error == hipErrorOutOfMemory ? "out of memory" : simulator_last_text;
}

#define cudaMalloc hipMalloc
#define cudaFree hipFree
#define cudaMemcpy hipMemcpy
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemset hipMemset
#define cudaMemsetAsync hipMemsetAsync
#define cudaDeviceSynchronize hipDeviceSynchronize
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaSetDevice hipSetDevice
#define cudaGetLastError hipGetLastError
#define cudaPeekAtLastError hipPeekAtLastError
#define cudaGetErrorString hipGetErrorString

#endif
