/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NumPy .npy files: writes arrays in format version 1.0 (little-endian, C order), and reads the header of any version.
 * Knows nothing of cases.
 */
#ifndef TOPKCTS_NPY_H
#define TOPKCTS_NPY_H

#include "harness/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The element type: 4 bytes each. */
enum npy_type { NPY_FLOAT32, NPY_INT32 };

/* Writes `data`, shape[0] * .. * shape[n_dims-1] elements, to `path`, replacing what is there. n_dims is 1 or 2, and
 * an extent may be 0. STATUS_USAGE for a shape that is none; STATUS_BOOKS with the cause when the file cannot be written, of
 * which no part stays behind. */
enum status npy_write(const char *path, enum npy_type type, const int64_t *shape, int n_dims, const void *data,
                      struct error *err);

enum { NPY_MAX_DIMS = 8, NPY_MAX_HEADER = 1 << 16 };

/* What a header says of the array behind it. */
struct npy_header {
    char    type[16];      /* without the byte order: "f4", "i8", "u2" */
    bool    is_big_endian; /* of elements of more than one byte */
    bool    is_fortran;    /* the first index runs fastest */
    int     n_dims;
    int64_t shape[NPY_MAX_DIMS];
    size_t  data; /* where the elements begin, in bytes from the beginning of the file */
};

/* Reads the header at the beginning of a file, of which the first `n` bytes are in `bytes`: all of it, or at least
 * NPY_MAX_HEADER + 12. `name` is for messages. STATUS_USAGE with what is wrong: no .npy file, cut short, structured or
 * object elements, a shape that is none. */
enum status npy_read_header(const char *name, const unsigned char *bytes, size_t n, struct npy_header *header,
                            struct error *err);

#endif
