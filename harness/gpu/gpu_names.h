/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that CUDA's driver interface and HIP share, under one name each. Compiled with TOPKCTS_CUDA against cuda.h
 * or with TOPKCTS_HIP against the HIP headers; constants of one version never meet the library of another.
 */
#ifndef TOPKCTS_GPU_NAMES_H
#define TOPKCTS_GPU_NAMES_H

#if defined(TOPKCTS_CUDA)

#include <cuda.h>

#define GPU_BACKEND "cuda"
#define GPU_SUCCESS CUDA_SUCCESS
typedef CUresult    gpu_result;
typedef CUdevice    gpu_device;
typedef CUdeviceptr gpu_memory;
typedef CUstream    gpu_stream;
typedef CUevent     gpu_event;
typedef CUmodule    gpu_module;
typedef CUfunction  gpu_function;
typedef CUgraph     gpu_graph;
typedef CUgraphExec gpu_graph_exec;

#define gpuInit cuInit
#define gpuDriverVersion cuDriverGetVersion
#define gpuDeviceCount cuDeviceGetCount
#define gpuDeviceGet cuDeviceGet
#define gpuDeviceName cuDeviceGetName
#define gpuDeviceMemory cuDeviceTotalMem
#define gpuDeviceAttribute cuDeviceGetAttribute
#define gpuDevicePciAddress cuDeviceGetPCIBusId
#define gpuMemoryAlloc cuMemAlloc
#define gpuMemoryFree cuMemFree
#define gpuMemoryWrite cuMemcpyHtoDAsync
#define gpuMemoryRead cuMemcpyDtoHAsync
#define gpuMemoryCopy cuMemcpyDtoDAsync
#define gpuMemoryFill cuMemsetD32Async
#define gpuStreamCreate cuStreamCreate
#define gpuStreamDestroy cuStreamDestroy
#define gpuStreamWait cuStreamSynchronize
#define gpuStreamBeginCapture cuStreamBeginCapture
#define gpuStreamEndCapture cuStreamEndCapture
#define gpuEventCreate cuEventCreate
#define gpuEventDestroy cuEventDestroy
#define gpuEventRecord cuEventRecord
#define gpuEventWait cuEventSynchronize
#define gpuEventElapsed cuEventElapsedTime
#define gpuGraphInstantiate(exec, graph) cuGraphInstantiate(exec, graph, 0)
#define gpuGraphLaunch cuGraphLaunch
#define gpuGraphDestroy cuGraphDestroy
#define gpuGraphExecDestroy cuGraphExecDestroy
#define gpuModuleLoad cuModuleLoadData
#define gpuModuleUnload cuModuleUnload
#define gpuModuleFunction cuModuleGetFunction
#define gpuFunctionAttribute cuFuncGetAttribute
#define gpuLaunch cuLaunchKernel
#define gpuLaunchWith cuLaunchKernelEx /* with attributes */

#define GPU_STREAM_FLAGS CU_STREAM_NON_BLOCKING
#define GPU_EVENT_FLAGS CU_EVENT_DEFAULT
#define GPU_CAPTURE_MODE CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
#define GPU_ATTRIBUTE_LDS CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
#define GPU_ATTRIBUTE_WAVE CU_DEVICE_ATTRIBUTE_WARP_SIZE
#define GPU_ATTRIBUTE_L2 CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE
#define GPU_FUNCTION_LDS CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
#define GPU_FUNCTION_LOCAL CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
#define GPU_FUNCTION_REGISTERS CU_FUNC_ATTRIBUTE_NUM_REGS
#define GPU_FUNCTION_THREADS CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
#define GPU_FUNCTION_TARGET CU_FUNC_ATTRIBUTE_PTX_VERSION /* 90: compiled for sm_90 or compute_90 */

#elif defined(TOPKCTS_HIP)

#include <hip/hip_runtime_api.h>

#define GPU_BACKEND "hip"
#define GPU_SUCCESS hipSuccess
typedef hipError_t     gpu_result;
typedef hipDevice_t    gpu_device;
typedef hipDeviceptr_t gpu_memory;
typedef hipStream_t    gpu_stream;
typedef hipEvent_t     gpu_event;
typedef hipModule_t    gpu_module;
typedef hipFunction_t  gpu_function;
typedef hipGraph_t     gpu_graph;
typedef hipGraphExec_t gpu_graph_exec;

#define gpuInit(flags) hipSuccess /* HIP starts itself; hipInit has no answer of its own for "no device" */
#define gpuDriverVersion hipDriverGetVersion
#define gpuDeviceCount hipGetDeviceCount
#define gpuDeviceGet hipDeviceGet
#define gpuDeviceName hipDeviceGetName
#define gpuDeviceMemory hipDeviceTotalMem
#define gpuDeviceAttribute hipDeviceGetAttribute
#define gpuDevicePciAddress hipDeviceGetPCIBusId
#define gpuMemoryAlloc hipMalloc
#define gpuMemoryFree hipFree
#define gpuMemoryWrite hipMemcpyHtoDAsync
#define gpuMemoryRead hipMemcpyDtoHAsync
#define gpuMemoryCopy hipMemcpyDtoDAsync
#define gpuMemoryFill hipMemsetD32Async
#define gpuStreamCreate hipStreamCreateWithFlags
#define gpuStreamDestroy hipStreamDestroy
#define gpuStreamWait hipStreamSynchronize
#define gpuStreamBeginCapture hipStreamBeginCapture
#define gpuStreamEndCapture hipStreamEndCapture
#define gpuEventCreate hipEventCreateWithFlags
#define gpuEventDestroy hipEventDestroy
#define gpuEventRecord hipEventRecord
#define gpuEventWait hipEventSynchronize
#define gpuEventElapsed hipEventElapsedTime
#define gpuGraphInstantiate(exec, graph) hipGraphInstantiate(exec, graph, NULL, NULL, 0)
#define gpuGraphLaunch hipGraphLaunch
#define gpuGraphDestroy hipGraphDestroy
#define gpuGraphExecDestroy hipGraphExecDestroy
#define gpuModuleLoad hipModuleLoadData
#define gpuModuleUnload hipModuleUnload
#define gpuModuleFunction hipModuleGetFunction
#define gpuFunctionAttribute hipFuncGetAttribute
#define gpuLaunch hipModuleLaunchKernel

#define GPU_STREAM_FLAGS hipStreamNonBlocking
#define GPU_EVENT_FLAGS hipEventDefault
#define GPU_CAPTURE_MODE hipStreamCaptureModeThreadLocal
#define GPU_ATTRIBUTE_LDS hipDeviceAttributeMaxSharedMemoryPerBlock
#define GPU_ATTRIBUTE_WAVE hipDeviceAttributeWarpSize
#define GPU_ATTRIBUTE_L2 hipDeviceAttributeL2CacheSize
#define GPU_FUNCTION_LDS HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
#define GPU_FUNCTION_LOCAL HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
#define GPU_FUNCTION_REGISTERS HIP_FUNC_ATTRIBUTE_NUM_REGS
#define GPU_FUNCTION_THREADS HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK

#else
#error "compile with -DTOPKCTS_CUDA or -DTOPKCTS_HIP"
#endif
#endif
