/* SPDX-License-Identifier: Apache-2.0 */
/* Digests against values that xxhsum -H2 printed, and what input_hash does and does not depend on. */
#include "harness/digest.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *digest_of(const void *bytes, size_t n_bytes, size_t chunk)
{
    static char   hex[DIGEST_HEX];
    struct digest digest;
    digest_begin(&digest);
    for (size_t i = 0; i < n_bytes; i += chunk)
        digest_add(&digest, (const char *)bytes + i, n_bytes - i < chunk ? n_bytes - i : chunk);
    digest_end(&digest, hex);
    return hex;
}

Test(digest, has_the_published_values)
{
    cr_assert_str_eq(digest_of("", 0, 1), "99aa06d3014798d86001c324468d497f");
    cr_assert_str_eq(digest_of("abc", 3, 3), "06b05ab6733a618578af5f94892f3950");
    cr_assert_str_eq(digest_of("abc", 3, 1), "06b05ab6733a618578af5f94892f3950");
}

Test(digest, does_not_depend_on_how_the_bytes_are_cut)
{
    static unsigned char bytes[5000];
    char                 whole[DIGEST_HEX];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 256);
    snprintf(whole, sizeof whole, "%s", digest_of(bytes, sizeof bytes, sizeof bytes));
    cr_assert_str_eq(whole, "e814573b3db786c4ed0146266d138bd8");
    for (size_t chunk = 1; chunk < 700; chunk += 13)
        cr_assert_str_eq(digest_of(bytes, sizeof bytes, chunk), whole);
    bytes[4999] ^= 1;
    cr_assert_str_neq(digest_of(bytes, sizeof bytes, sizeof bytes), whole);
}

static uint32_t scores[2 * 3] = {1, 2, 3, 4, 5, 6};
static int32_t  seq_lens[2] = {2, 3};
static int32_t  page_table[2 * 1] = {7, 8};

static struct case_inputs small_inputs(void)
{
    return (struct case_inputs){.scores = scores, .seq_lens = seq_lens, .page_table = page_table, .score_stride = 3,
                                .page_table_stride = 1, .batch = 2, .topk = 4, .page_size = 64, .max_seq_len = 3,
                                .base_shift = 5};
}

static const char *hash_of(const struct case_inputs *inputs)
{
    static char hex[2][DIGEST_HEX];
    static int  turn;
    turn ^= 1;
    digest_of_inputs(inputs, hex[turn]);
    return hex[turn];
}

Test(digest, of_inputs_is_over_the_documented_bytes)
{
    static const unsigned char bytes[] = {
        1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, /* scores */
        2, 0, 0, 0, 3, 0, 0, 0,                                                 /* seq_lens */
        7, 0, 0, 0, 8, 0, 0, 0,                                                 /* page_table */
        2, 0, 0, 0, 0, 0, 0, 0,                                                 /* batch */
        4, 0, 0, 0, 0, 0, 0, 0,                                                 /* topk */
        64, 0, 0, 0, 0, 0, 0, 0,                                                /* page_size */
        3, 0, 0, 0, 0, 0, 0, 0,                                                 /* max_seq_len */
        3, 0, 0, 0, 0, 0, 0, 0,                                                 /* score_stride */
        1, 0, 0, 0, 0, 0, 0, 0,                                                 /* page_table_stride */
        5, 0, 0, 0, 0, 0, 0, 0,                                                 /* base_shift */
    };
    struct case_inputs inputs = small_inputs();
    cr_assert_str_eq(hash_of(&inputs), digest_of(bytes, sizeof bytes, sizeof bytes));
}

Test(digest, of_inputs_depends_on_every_part)
{
    struct case_inputs inputs = small_inputs();
    char               before[DIGEST_HEX];
    snprintf(before, sizeof before, "%s", hash_of(&inputs));
    int32_t *numbers[] = {&inputs.topk, &inputs.page_size, &inputs.max_seq_len, &inputs.base_shift,
                          (int32_t *)&scores[5], &seq_lens[1], &page_table[0]};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        *numbers[i] += 1;
        cr_assert_str_neq(hash_of(&inputs), before, "part %zu does not count", i);
        *numbers[i] -= 1;
    }
    /* The same bytes in another shape. */
    inputs.batch = 1;
    inputs.score_stride = 6;
    inputs.page_table_stride = 2;
    cr_assert_str_neq(hash_of(&inputs), before);
    inputs = small_inputs();
    cr_assert_str_eq(hash_of(&inputs), before);
}

Test(digest, of_a_file)
{
    struct error err = {0};
    char         hex[DIGEST_HEX];
    char         path[] = "/tmp/topkcts-digest-XXXXXX";
    int          file = mkstemp(path);
    cr_assert_geq(file, 0);
    cr_assert_eq(digest_of_file(path, hex, &err), STATUS_OK, "%s", err.text);
    cr_assert_str_eq(hex, "99aa06d3014798d86001c324468d497f");
    size_t         n_bytes = 200001;
    unsigned char *bytes = malloc(n_bytes);
    for (size_t i = 0; i < n_bytes; i++)
        bytes[i] = (unsigned char)(i ^ i >> 8);
    cr_assert_eq(write(file, bytes, n_bytes), (ssize_t)n_bytes);
    close(file);
    cr_assert_eq(digest_of_file(path, hex, &err), STATUS_OK, "%s", err.text);
    cr_assert_str_eq(hex, digest_of(bytes, n_bytes, n_bytes));
    free(bytes);
    unlink(path);
    cr_assert_eq(digest_of_file(path, hex, &err), STATUS_USAGE);
    cr_assert_not_null(strstr(err.text, path), "%s", err.text);
    cr_assert_not_null(strstr(err.text, "No such file"), "%s", err.text);
    err.status = STATUS_OK;
    cr_assert_eq(digest_of_file("/tmp", hex, &err), STATUS_USAGE);
    cr_assert_not_null(strstr(err.text, "directory"), "%s", err.text);
}
