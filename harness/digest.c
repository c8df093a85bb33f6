/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Digests; see digest.h.
 *
 * xxHash is compiled in from its header: the state's layout then is that of the code that uses it, whatever library is
 * installed, and a digest needs neither memory from the heap nor a way to fail.
 */
#define XXH_INLINE_ALL
#include "harness/digest.h"

#include "harness/regular_file.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

_Static_assert(sizeof(XXH3_state_t) <= sizeof(struct digest), "struct digest is too small for xxHash's state");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "digests are of arrays as they lie in memory");

static XXH3_state_t *state_of(struct digest *digest)
{
    return (XXH3_state_t *)(void *)digest->state;
}

void digest_begin(struct digest *digest)
{
    memset(digest->state, 0, sizeof digest->state);
    XXH3_128bits_reset(state_of(digest));
}

void digest_add(struct digest *digest, const void *bytes, size_t n_bytes)
{
    if (n_bytes > 0)
        XXH3_128bits_update(state_of(digest), bytes, n_bytes);
}

void digest_end(struct digest *digest, char hex[DIGEST_HEX])
{
    static const char  digits[] = "0123456789abcdef";
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state_of(digest)));
    for (size_t i = 0; i < sizeof canonical.digest; i++) {
        hex[2 * i] = digits[canonical.digest[i] >> 4];
        hex[2 * i + 1] = digits[canonical.digest[i] & 15];
    }
    hex[DIGEST_HEX - 1] = '\0';
}

void digest_of_inputs(const struct case_inputs *inputs, char hex[DIGEST_HEX])
{
    const int64_t numbers[] = {inputs->batch,        inputs->topk,         inputs->page_size,
                               inputs->max_seq_len,  inputs->score_stride, inputs->page_table_stride,
                               inputs->base_shift};
    struct digest digest;
    digest_begin(&digest);
    digest_add(&digest, inputs->scores, case_scores_bytes(inputs));
    digest_add(&digest, inputs->seq_lens, case_seq_lens_bytes(inputs));
    digest_add(&digest, inputs->page_table, case_page_table_bytes(inputs));
    digest_add(&digest, numbers, sizeof numbers);
    digest_end(&digest, hex);
}

enum status digest_of_file(const char *path, char hex[DIGEST_HEX], struct error *err)
{
    unsigned char chunk[65536];
    size_t        n = 0;
    enum status   status = STATUS_OK;
    struct digest digest;
    FILE         *file;
    if (regular_file_open(path, &file, err))
        return err->status;
    digest_begin(&digest);
    while ((n = fread(chunk, 1, sizeof chunk, file)) > 0)
        digest_add(&digest, chunk, n);
    if (ferror(file))
        status = error_set(err, STATUS_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    else
        digest_end(&digest, hex);
    fclose(file);
    return status;
}
