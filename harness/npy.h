/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes arrays as NumPy .npy files, format version 1.0: little-endian, C order. Knows nothing of cases.
 */
#ifndef TOPKCTS_NPY_H
#define TOPKCTS_NPY_H

#include "harness/status.h"

#include <stdint.h>

/* The element type: 4 bytes each. */
enum npy_type { NPY_FLOAT32, NPY_INT32 };

/* Writes `data`, shape[0] * .. * shape[n_dims-1] elements, to `path`, replacing what is there. n_dims is 1 or 2, and
 * an extent may be 0. STATUS_USAGE with the cause when the file cannot be written; no part of it stays behind then. */
enum status npy_write(const char *path, enum npy_type type, const int64_t *shape, int n_dims, const void *data,
                      struct error *err);

#endif
