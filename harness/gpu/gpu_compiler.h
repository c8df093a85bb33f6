/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiler table: NVRTC and hiprtc behind one set of slots. gpu_compiler.c is one source, compiled once per toolkit
 * into backends/topkcts_cuda_jit.so and backends/topkcts_hip_jit.so, apart from the driver table, so that code objects
 * built ahead of time run where there is no compiler. Loaded by workers only: a compiler may abort its caller.
 */
#ifndef TOPKCTS_GPU_COMPILER_H
#define TOPKCTS_GPU_COMPILER_H

#include "harness/status.h"

#include <stddef.h>
#include <stdint.h>

#define GPU_COMPILER_ABI 1u
#define GPU_COMPILER_ENTRY "topkcts_gpu_compiler"

/* What is compiled: a text, the headers it may include by name, and options. The caller's. */
struct gpu_compilation {
    const char        *name; /* of the text, for messages */
    const char        *text;
    int                n_headers;
    const char *const *header_names;
    const char *const *header_texts;
    int                n_options;
    const char *const *options;
};

struct gpu_compiler {
    uint32_t    abi;
    const char *backend; /* cuda, hip */

    /* "NVRTC 13.0", "hiprtc 6.4". */
    enum status (*version)(char *text, size_t size, struct error *err);

    /* The code object in *code (malloc'd, the caller frees it). STATUS_FAIL: the compiler rejects the text; its log is
     * then in *log (malloc'd, or NULL), too. STATUS_BOOKS: the compiler does not work. */
    enum status (*compile)(const struct gpu_compilation *compilation, void **code, size_t *bytes, char **log,
                           struct error *err);
};

/* The exported symbol. */
const struct gpu_compiler *topkcts_gpu_compiler(void);

#endif
