/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding the loadable backends beside the binary (backends/topkcts_cuda.so, ..._hip.so, and their compilers,
 * ..._jit.so). The only code that opens them. Loading touches a GPU driver: worker processes and probes only.
 */
#ifndef TOPKCTS_GPU_LOAD_H
#define TOPKCTS_GPU_LOAD_H

#include "harness/gpu/gpu_compiler.h"
#include "harness/gpu/gpu_driver.h"
#include "harness/status.h"

/* The driver table of "cuda" or "hip". Loaded once and kept. NULL, with STATUS_BOOKS and the reason, when this build
 * lacks it or this machine lacks the driver. */
const struct gpu_driver *gpu_load_driver(const char *backend, struct error *err);

/* The compiler table, likewise. */
const struct gpu_compiler *gpu_load_compiler(const char *backend, struct error *err);

/* The folder of the binary: backends/ and code_objects/ stand in it. */
const char *gpu_binary_folder(void);

#endif
