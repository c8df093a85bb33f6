/* SPDX-License-Identifier: Apache-2.0 */
/* .npy files; see npy.h. The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#include "harness/npy.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the arrays are written as they are in memory");

/* Magic, version and the length of the text that follows. */
#define PREAMBLE_BYTES 10

/* The data starts at a multiple of this. */
#define ALIGNMENT 64

#define HEADER_BYTES (2 * ALIGNMENT)

/* Fills the header; returns its length, a multiple of ALIGNMENT. The longest text, two 19-digit extents, takes 93
 * bytes. */
static size_t make_header(unsigned char header[HEADER_BYTES], enum npy_type type, const int64_t *shape, int n_dims)
{
    static const unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0}; /* and version 1.0 */
    char                       text[HEADER_BYTES];
    char                       extents[48];
    if (n_dims == 1)
        snprintf(extents, sizeof extents, "(%lld,)", (long long)shape[0]);
    else
        snprintf(extents, sizeof extents, "(%lld, %lld)", (long long)shape[0], (long long)shape[1]);
    int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                          type == NPY_FLOAT32 ? "<f4" : "<i4", extents);
    size_t used = PREAMBLE_BYTES + (size_t)length + 1; /* a newline ends the text */
    size_t total = (used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(header, ' ', total);
    memcpy(header, magic, sizeof magic);
    header[8] = (unsigned char)((total - PREAMBLE_BYTES) & 255);
    header[9] = (unsigned char)((total - PREAMBLE_BYTES) >> 8);
    memcpy(header + PREAMBLE_BYTES, text, (size_t)length);
    header[total - 1] = '\n';
    return total;
}

/* Removes what was written so far, but never a device or a pipe. */
static void remove_part(const char *path)
{
    struct stat attributes;
    if (lstat(path, &attributes) == 0 && S_ISREG(attributes.st_mode))
        unlink(path);
}

enum status npy_write(const char *path, enum npy_type type, const int64_t *shape, int n_dims, const void *data,
                      struct error *err)
{
    unsigned char header[HEADER_BYTES];
    size_t        n = 1;
    if (n_dims < 1 || n_dims > 2)
        return error_set(err, STATUS_USAGE, "%s: %d dimensions, expected 1 or 2", path, n_dims);
    for (int i = 0; i < n_dims; i++) {
        if (shape[i] < 0 || __builtin_mul_overflow(n, (size_t)shape[i], &n) || n > SIZE_MAX / 4)
            return error_set(err, STATUS_USAGE, "%s: extent %d is %lld, which is negative or makes the array too large",
                             path, i, (long long)shape[i]);
    }

    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return error_set(err, STATUS_USAGE, "%s: cannot be written: %s", path, strerror(errno));
    size_t n_header = make_header(header, type, shape, n_dims);
    bool   written = fwrite(header, 1, n_header, file) == n_header && fwrite(data, 4, n, file) == n;
    int    cause = errno;
    if (fclose(file) != 0 && written) {
        written = false;
        cause = errno;
    }
    if (!written) {
        remove_part(path);
        return error_set(err, STATUS_USAGE, "%s: cannot be written: %s", path, strerror(cause));
    }
    return STATUS_OK;
}
