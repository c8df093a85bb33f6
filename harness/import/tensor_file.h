/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tensors in files: .npy, .npz, .safetensors. Says what a file holds, and reads one tensor in row-major order and the
 * machine's byte order, whatever the file's were. The only code that talks to libzip.
 *
 *     tensor_file.c   which kind a file is; reading and reordering
 *     npz_file.c      the archives that NumPy's savez writes
 */
#ifndef TOPKCTS_TENSOR_FILE_H
#define TOPKCTS_TENSOR_FILE_H

#include "harness/arena.h"
#include "harness/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TENSOR_MAX_DIMS = 8, TENSOR_MAX_LISTED = 4096 };

/* The most bytes of one tensor that are read. */
#define TENSOR_MAX_BYTES (INT64_C(1) << 30)

enum tensor_kind { TENSOR_FLOAT, TENSOR_BFLOAT, TENSOR_INTEGER, TENSOR_UNSIGNED, TENSOR_OTHER };

enum tensor_container { TENSOR_IN_NPY, TENSOR_IN_NPZ, TENSOR_IN_SAFETENSORS };

/* A tensor that a file holds. Texts live in the arena of the call that listed it. */
struct tensor {
    const char           *file;
    const char           *name; /* of the tensor; for .npy the file's name without its ending */
    char                  type[16]; /* as the file spells it, for messages: "f4", "BF16" */
    enum tensor_kind      kind;
    int                   element_bytes;
    bool                  is_big_endian, is_fortran;
    int                   n_dims;
    int64_t               shape[TENSOR_MAX_DIMS];
    enum tensor_container container;
    int64_t               at;     /* where its elements begin, in bytes of the file or of the archive's entry */
    int64_t               entry;  /* in an archive */
};

/* A growing list. */
struct tensor_list {
    struct tensor *items;
    size_t         n;
};

/* Adds what a file holds. STATUS_USAGE: no such file, not one of the three kinds, damaged, too many tensors. */
enum status tensor_file_list(const char *path, struct arena *arena, struct tensor_list *list, struct error *err);

/* "f4 [3, 4096]" into text. */
enum { TENSOR_TEXT_BYTES = 160 };
void tensor_describe(const struct tensor *tensor, char text[TENSOR_TEXT_BYTES]);

/* Reads its elements: *elements malloc'd, as many as the product of its dimensions. STATUS_USAGE when the file is cut short or damaged
 * or the tensor is too large. */
enum status tensor_read(const struct tensor *tensor, void **elements, struct error *err);

/* ---- inside --------------------------------------------------------------------------------------------------- */

/* Fills in shape, type and order from an .npy header; the tensor's file and name are set. */
struct npy_header;
enum status tensor_from_npy(struct tensor *tensor, const struct npy_header *header, struct error *err);

/* The archives. */
enum status npz_file_list(const char *path, struct arena *arena, struct tensor_list *list, struct error *err);
enum status npz_file_read(const struct tensor *tensor, void *bytes, size_t n, struct error *err);

#endif
