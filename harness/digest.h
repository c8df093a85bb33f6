/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digests: xxh3-128 with seed 0, written as 32 lower-case hex digits in xxHash's canonical (big-endian) form, so that
 * `xxhsum -H2` prints the same. The only code that talks to xxHash.
 *
 *     struct digest digest;
 *     char          hex[DIGEST_HEX];
 *     digest_begin(&digest);
 *     digest_add(&digest, bytes, n_bytes);
 *     digest_end(&digest, hex);
 */
#ifndef TOPKCTS_DIGEST_H
#define TOPKCTS_DIGEST_H

#include "cases/case.h"
#include "harness/status.h"

#include <stddef.h>

/* Bytes of a digest as text, the end included. */
#define DIGEST_HEX 33

/* A digest under way. Holds no resources: it may be dropped at any time, and must not be copied. */
struct digest {
    _Alignas(64) unsigned char state[640]; /* xxHash's, which wants 64-byte alignment */
};

void digest_begin(struct digest *digest);

/* The digest depends on the bytes in their order, not on how they are cut into calls. */
void digest_add(struct digest *digest, const void *bytes, size_t n_bytes);

void digest_end(struct digest *digest, char hex[DIGEST_HEX]);

/* The input_hash of a case: over the bytes of scores, seq_lens and page_table in that order, then batch, topk,
 * page_size, max_seq_len, score_stride, page_table_stride and base_shift as 64-bit integers; all little-endian. */
void digest_of_inputs(const struct case_inputs *inputs, char hex[DIGEST_HEX]);

/* The digest of a file's bytes. STATUS_USAGE with the cause when it cannot be read. */
enum status digest_of_file(const char *path, char hex[DIGEST_HEX], struct error *err);

#endif
