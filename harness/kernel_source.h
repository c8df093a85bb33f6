/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel source as a provider: one file with one kernel named `topk_kernel` and a first line that says how to launch
 * it and what it promises:
 *
 *     // topkcts: block=256 dynamic_lds=0 workspace_per_row=0 level=canonical tie=lowest
 *
 * Keys of a launch are block (threads, 1 to 1024), dynamic_lds (bytes) and workspace_per_row (bytes); absent ones are
 * 256, 0 and 0; wave=32 or wave=64 says that the kernel is for waves of so many lanes. Every other key is a claim (claims.h); `level` is required. This file reads the line; it compiles and
 * launches nothing, so that the simulator, hiprtc and NVRTC take the same text.
 */
#ifndef TOPKCTS_KERNEL_SOURCE_H
#define TOPKCTS_KERNEL_SOURCE_H

#include "harness/digest.h"
#include "harness/provider.h"
#include "harness/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kernel's symbol in every source. */
#define KERNEL_SOURCE_SYMBOL "topk_kernel"

enum { KERNEL_SOURCE_NAME_BYTES = 128 };

/* A source that was read. Owned by itself; clear with kernel_source_clear. */
struct kernel_source {
    char              *text; /* the whole file, zero-terminated */
    size_t             bytes;
    char               name[KERNEL_SOURCE_NAME_BYTES]; /* the file's stem: the provider's name */
    char               digest[DIGEST_HEX];             /* of the file */
    bool               is_cuda;                        /* .cu: CUDA or the simulator; else .hip: HIP or the simulator */
    uint32_t           block;
    uint32_t           dynamic_lds;
    int64_t            workspace_per_row;
    uint32_t           wave; /* lanes of the only waves it is for; 0: any */
    struct topk_claims claims;
};

/* Whether a word on the command line names a kernel source: it ends in .hip or .cu. */
bool kernel_source_is_named(const char *text);

/* Reads the file and its first line. STATUS_USAGE names the file and what the line must look like when the file cannot
 * be read, the line is missing, or a key or value is not accepted. */
enum status kernel_source_read(const char *path, struct kernel_source *source, struct error *err);

/* Reads a first line alone, without its newline; only the launch and the claims of *source are set. */
enum status kernel_source_parse_line(const char *line, struct kernel_source *source, struct error *err);

void kernel_source_clear(struct kernel_source *source);

#endif
