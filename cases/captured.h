/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captured contents as they are stored: one safetensors file for each capture, compressed with zstd, named after the
 * digest of the uncompressed file: FOLDER/<32 hex digits>.safetensors.zst. `zstd -d` makes it readable for everybody.
 *
 *     seq_lens     I32 [batch]                       first, so that a case's shape is known without the scores
 *     scores       F32 [batch][score_stride]         every column, also those behind a row's end
 *     page_table   I32 [batch][page_table_stride]    optional
 *     __metadata__ max_seq_len, in decimal
 */
#ifndef TOPKCTS_CASES_CAPTURED_H
#define TOPKCTS_CASES_CAPTURED_H

#include <stddef.h>
#include <stdint.h>

#define CAPTURED_SUFFIX ".safetensors.zst"
#define CAPTURED_DIGEST 32 /* hex digits of a name */

/* The path of contents; `digest` is the parameter's text, of 32 hex digits. Non-zero with a line in `err` otherwise. */
int captured_path(const char *folder, const char *digest, char *path, size_t path_size, char *err, size_t err_size);

/* The uncompressed file (at most GIVEN_MAX_BYTES and a header), or its first bytes up to `most`, malloc'd, *size bytes.
 * NULL with a line in `err`: a file that is missing, damaged, cut short or too large. */
unsigned char *captured_read(const char *path, size_t most, size_t *size, char *err, size_t err_size);

/* Compresses a file's bytes as captured_read wants them. malloc'd, *packed_size bytes; NULL with a line in `err`. */
unsigned char *captured_pack(const unsigned char *file, size_t size, size_t *packed_size, char *err, size_t err_size);

#endif
