/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code objects of v1 built ahead of time, and their manifest: code_objects/manifest.json beside the binary. The build
 * writes it (code_object_manifest.c); a worker looks up its device's exact target in it; `make gate` reads what each
 * kernel needs from it. Knows no driver.
 *
 *     {"kernel": "v1", "source_digest": "...", "objects": [
 *       {"file": "topk_v1.gfx1100.co", "target": "gfx1100", "backend": "hip", "digest": "...", "compiler": "...",
 *        "options": "...", "wave_size": 32, "kernels": [
 *          {"symbol": "topk_v1_long", "block": 512, "static_lds": 14000, "dynamic_lds": 32768, "scratch": 0,
 *           "vgprs": 39, "agprs": 0, "sgprs": 30, "spills": 0, "max_threads": 256, "wave_size": 32,
 *           "kernarg_bytes": 68, "arguments": [{"offset": 0, "size": 8, "kind": "global_buffer"}, ...]}]}]}
 */
#ifndef TOPKCTS_CODE_OBJECT_H
#define TOPKCTS_CODE_OBJECT_H

#include "harness/arena.h"
#include "harness/digest.h"
#include "harness/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CODE_OBJECT_MAX_KERNELS = 8, CODE_OBJECT_MAX_ARGUMENTS = 16 };

struct code_object_argument {
    int32_t     offset, size; /* bytes, in the kernel's argument segment */
    const char *kind;         /* as the metadata says: global_buffer, by_value */
};

/* One kernel, by the object's own metadata. Registers of a kind that a vendor lacks are 0. */
struct code_object_kernel {
    const char                 *symbol;
    int32_t                     block;                    /* the shape v1 launches it with */
    int32_t                     static_lds, dynamic_lds;  /* bytes */
    int32_t                     scratch;                  /* bytes a thread */
    int32_t                     vgprs, agprs, sgprs;
    int32_t                     spills; /* to memory; a scalar register is parked in a lane of a vector register instead */
    int32_t                     max_threads, wave_size, kernarg_bytes;
    struct code_object_argument arguments[CODE_OBJECT_MAX_ARGUMENTS];
    size_t                      n_arguments; /* 0 where the format names none */
};

struct code_object {
    const char               *file;    /* within the folder */
    const char               *target;  /* gfx1100, sm_90; compute_80 for PTX */
    const char               *backend; /* hip, cuda */
    const char               *digest;  /* xxh3-128 of the file */
    const char               *compiler, *options;
    struct code_object_kernel kernels[CODE_OBJECT_MAX_KERNELS];
    size_t                    n_kernels;
};

struct code_object_list {
    struct arena        arena;
    const char         *folder;
    const char         *source_digest; /* of the source that all were compiled from */
    struct code_object *items;
    size_t              n;
};

/* Reads the folder's manifest. No manifest is an empty list; a damaged one is STATUS_BOOKS. */
enum status code_object_list_load(const char *folder, struct code_object_list *list, struct error *err);
void        code_object_list_clear(struct code_object_list *list);

/* Makes the list of what lies in the folder (FILE and FILE.yaml of kernels/code_object.sh), and writes it down. */
enum status code_object_list_scan(const char *folder, struct code_object_list *list, struct error *err);
enum status code_object_list_write(const struct code_object_list *list, struct error *err);

/* The object for exactly this architecture: the same processor, and no feature that the device has otherwise
 * ("gfx90a" serves gfx90a:sramecc+:xnack-). NULL when there is none. */
const struct code_object *code_object_find(const struct code_object_list *list, const char *backend, const char *arch);

/* PTX that the driver itself can compile for this architecture, for machines without a compiler. NULL when none is. */
const struct code_object *code_object_find_portable(const struct code_object_list *list, const char *backend,
                                                    const char *arch);

/* The bytes of an object; malloc'd, one zero byte behind them. STATUS_BOOKS when they differ from the manifest. */
enum status code_object_read(const struct code_object_list *list, const struct code_object *object, void **bytes,
                             struct error *err);

/* The digest of v1's source as this program embeds it. */
void code_object_source_digest(char hex[DIGEST_HEX]);

/* The static gate: prints one line a kernel and returns how many rules are broken; each is named on a line of its own.
 * `targets` (comma-separated) are required; NULL: whatever is there, but at least one. */
size_t code_object_gate(const struct code_object_list *list, const char *targets);

#endif
