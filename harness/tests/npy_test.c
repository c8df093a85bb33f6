/* SPDX-License-Identifier: Apache-2.0 */
/* .npy files, byte by byte. */
#include "harness/npy.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[64];

static void make_path(void)
{
    snprintf(path, sizeof path, "/tmp/topkcts-npy-XXXXXX");
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    close(file);
}

static void remove_path(void)
{
    unlink(path);
}

TestSuite(npy, .init = make_path, .fini = remove_path);

/* The file must be magic, version 1.0, a header of 118 bytes that starts with `text` and is filled up with spaces and
 * a newline, then `data`. */
static void assert_file(const char *text, const void *data, size_t n_data)
{
    unsigned char bytes[1024];
    char          header[119];
    FILE         *file = fopen(path, "rb");
    cr_assert_not_null(file);
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    cr_assert_eq(n, 128 + n_data);
    cr_assert_eq(memcmp(bytes, "\x93NUMPY\x01\x00\x76\x00", 10), 0);
    snprintf(header, sizeof header, "%-117s\n", text);
    cr_assert_eq(memcmp(bytes + 10, header, 118), 0, "%.118s", (const char *)bytes + 10);
    cr_assert_eq(memcmp(bytes + 128, data, n_data), 0);
}

Test(npy, two_dimensions_of_floats)
{
    static const float data[2][3] = {{1.5F, -2.0F, 0.0F}, {3.25F, 1e30F, -1e-40F}};
    struct error       err = {0};
    cr_assert_eq(npy_write(path, NPY_FLOAT32, (const int64_t[]){2, 3}, 2, data, &err), STATUS_OK, "%s", err.text);
    assert_file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", data, sizeof data);
}

Test(npy, one_dimension_of_integers)
{
    static const int32_t data[] = {1, -1, 2147483647};
    struct error         err = {0};
    cr_assert_eq(npy_write(path, NPY_INT32, (const int64_t[]){3}, 1, data, &err), STATUS_OK, "%s", err.text);
    assert_file("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", data, sizeof data);
}

Test(npy, integers_are_little_endian)
{
    struct error  err = {0};
    const int32_t data[] = {0x01020304};
    cr_assert_eq(npy_write(path, NPY_INT32, (const int64_t[]){1}, 1, data, &err), STATUS_OK, "%s", err.text);
    assert_file("{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }", "\x04\x03\x02\x01", 4);
}

Test(npy, extents_may_be_zero)
{
    struct error err = {0};
    cr_assert_eq(npy_write(path, NPY_FLOAT32, (const int64_t[]){0, 7}, 2, "", &err), STATUS_OK, "%s", err.text);
    assert_file("{'descr': '<f4', 'fortran_order': False, 'shape': (0, 7), }", "", 0);
}

Test(npy, a_file_is_replaced)
{
    static const int32_t data[] = {1, 2, 3, 4};
    struct error         err = {0};
    cr_assert_eq(npy_write(path, NPY_INT32, (const int64_t[]){4}, 1, data, &err), STATUS_OK, "%s", err.text);
    cr_assert_eq(npy_write(path, NPY_INT32, (const int64_t[]){1}, 1, data, &err), STATUS_OK, "%s", err.text);
    assert_file("{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }", data, 4);
}

static void assert_refused(enum status status, const char *file, const int64_t *shape, int n_dims, const char *expected)
{
    struct error err = {0};
    cr_assert_eq(npy_write(file, NPY_INT32, shape, n_dims, "", &err), status);
    cr_assert_not_null(strstr(err.text, expected), "no '%s' in '%s'", expected, err.text);
}

Test(npy, what_cannot_be_written_is_refused)
{
    unlink(path);
    assert_refused(STATUS_USAGE, path, (const int64_t[]){1, 1, 1}, 3, "3 dimensions");
    assert_refused(STATUS_USAGE, path, NULL, 0, "0 dimensions");
    assert_refused(STATUS_USAGE, path, (const int64_t[]){2, -1}, 2, "extent 1 is -1");
    assert_refused(STATUS_USAGE, path, (const int64_t[]){INT64_MAX, 4}, 2, "too large");
    cr_assert_neq(access(path, F_OK), 0, "a refused file was made");
    assert_refused(STATUS_BOOKS, "/tmp/topkcts-no-such-folder/x.npy", (const int64_t[]){0}, 1, "No such file or directory");
    assert_refused(STATUS_BOOKS, "/dev/full", (const int64_t[]){0}, 1, "No space left on device");
}

static enum status read_header(const char *text, int version, struct npy_header *header, struct error *err)
{
    unsigned char bytes[512] = "\x93NUMPY";
    size_t        length = strlen(text);
    bytes[6] = (unsigned char)version;
    bytes[8] = (unsigned char)length;
    memcpy(bytes + (version > 1 ? 12 : 10), text, length);
    return npy_read_header("x.npy", bytes, (version > 1 ? 12 : 10) + length, header, err);
}

Test(npy, headers_of_every_version_and_spelling_are_read)
{
    struct npy_header header;
    struct error      err = {0};
    cr_assert_eq(read_header("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n", 1, &header, &err), STATUS_OK,
                 "%s", err.text);
    cr_assert(strcmp(header.type, "f4") == 0 && !header.is_big_endian && !header.is_fortran && header.n_dims == 2 &&
              header.shape[0] == 3 && header.shape[1] == 4);
    cr_assert_eq(read_header("{\"shape\":(5L,),\"fortran_order\":True,\"descr\":\">i8\"}", 2, &header, &err), STATUS_OK, "%s",
                 err.text);
    cr_assert(strcmp(header.type, "i8") == 0 && header.is_big_endian && header.is_fortran && header.n_dims == 1 &&
              header.shape[0] == 5);
    cr_assert_eq(read_header("{'descr': '|u1', 'fortran_order': False, 'shape': ()}", 3, &header, &err), STATUS_OK);
    cr_assert_eq(header.n_dims, 0);
}

Test(npy, headers_that_are_none_are_refused)
{
    static const char *const wrong[] = {"",
                                        "{",
                                        "{'descr': '<f4'}",
                                        "{'descr': '<f4', 'fortran_order': False}",
                                        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}",
                                        "{'descr': '<f4', 'fortran_order': False, 'shape': (1}",
                                        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
                                        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
                                        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,2,3,4,5,6,7,8,9)}",
                                        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
                                        "{'descr': 'f4', 'fortran_order': False, 'shape': (1,)}",
                                        "{'descr': '', 'fortran_order': False, 'shape': (1,)}",
                                        "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
                                        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
                                        "{'other': 1, 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
                                        "{'descr': '<ffffffffffffffffffffffff', 'fortran_order': False, 'shape': (1,)}"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct npy_header header;
        struct error      err = {0};
        cr_assert_eq(read_header(wrong[i], 1, &header, &err), STATUS_USAGE, "'%s' was accepted", wrong[i]);
    }
}
