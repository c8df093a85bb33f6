/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The safetensors format (https://github.com/huggingface/safetensors): eight bytes with the length of a JSON header,
 * the header, the bytes of all tensors. Captured contents are stored in it, and captured tensors are imported from it.
 * The only code that knows the format.
 */
#ifndef TOPKCTS_CASES_SAFETENSORS_H
#define TOPKCTS_CASES_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

/* Bytes in front of the header. */
#define SAFETENSORS_PREFIX 8

/* The largest header that is read; the format allows 100 MB, no file that holds a capture comes near this. */
#define SAFETENSORS_MAX_HEADER (INT64_C(16) << 20)

#define SAFETENSORS_MAX_DIMS 8

struct safetensors_entry {
    const char *name;
    const char *type; /* as in the header: "F32", "BF16", "I64", ... */
    int         n_dims;
    int64_t     shape[SAFETENSORS_MAX_DIMS]; /* row-major */
    int64_t     begin, end;                  /* bytes, counted from the end of the header */
};

/* A header that was read, or one to be written (without `json`). Texts belong to it. */
struct safetensors {
    struct safetensors_entry *entries; /* in the order of the header */
    size_t                    n_entries;
    void                     *json; /* what it was read from */
};

/* The length of the header, from the first eight bytes. 0, or non-zero with a line in `err` when no header can be so
 * long. */
int safetensors_header_length(const unsigned char prefix[SAFETENSORS_PREFIX], int64_t *length, char *err,
                              size_t err_size);

/* Reads the header text. Every entry has a legal shape, and begin <= end; that the bytes are there, and are as many as
 * type and shape need, is for the caller to see. Cleared with safetensors_clear in either case. */
int safetensors_read(const char *header, size_t length, struct safetensors *out, char *err, size_t err_size);

/* The value of a key of the header's __metadata__; NULL when there is none. */
const char *safetensors_metadata(const struct safetensors *tensors, const char *key);

/* The entry of that name; NULL when there is none. */
const struct safetensors_entry *safetensors_find(const struct safetensors *tensors, const char *name);

void safetensors_clear(struct safetensors *tensors);

/* A key of the metadata to write. */
struct safetensors_note {
    const char *key;
    const char *value;
};

/* A whole file in memory: entries (begin and end are filled in, in their order) with their bytes, and the metadata.
 * The same arguments give the same bytes. malloc'd, *size bytes; NULL with a line in `err`. */
unsigned char *safetensors_write(struct safetensors_entry *entries, const void *const *contents, size_t n,
                                 const struct safetensors_note *notes, size_t n_notes, size_t *size, char *err,
                                 size_t err_size);

/* Bytes of one element of a type; 0 for a type that is not known here. */
int safetensors_type_bytes(const char *type);

#endif
