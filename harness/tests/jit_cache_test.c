/* SPDX-License-Identifier: Apache-2.0 */
/* The cache of compiled code: whole entries come back, damaged ones do not, writers at the same time do not mix. */
#include "harness/jit.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64], path[128];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/jit_cache_XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    strcat(folder, "/deeper/still"); /* made when first written */
    snprintf(path, sizeof path, "%s/key.code", folder);
}

static bool has(const char *bytes, size_t n)
{
    void  *found;
    size_t n_found = 0;
    bool   there = jit_cache_read(folder, "key", &found, &n_found) && n_found == n && memcmp(found, bytes, n) == 0;
    free(found);
    return there;
}

Test(jit_cache, gives_back_what_was_written)
{
    make_folder();
    cr_assert_not(has("abc", 3));
    cr_assert(jit_cache_write(folder, "key", "abc", 3));
    cr_assert(has("abc", 3));
    cr_assert(jit_cache_write(folder, "key", "defg", 4));
    cr_assert(has("defg", 4));
}

Test(jit_cache, damaged_entries_are_none)
{
    static char code[5000];
    make_folder();
    for (size_t i = 0; i < sizeof code; i++)
        code[i] = (char)(i * 31);
    for (off_t at = 0; at < 5000; at += 487) {
        cr_assert(jit_cache_write(folder, "key", code, sizeof code));
        cr_assert(has(code, sizeof code));
        int  fd = open(path, O_RDWR | O_CLOEXEC);
        char byte;
        cr_assert_eq(pread(fd, &byte, 1, at < 57 ? at % 48 : at), 1);
        byte = (char)(byte ^ 1);
        cr_assert_eq(pwrite(fd, &byte, 1, at < 57 ? at % 48 : at), 1);
        close(fd);
        cr_assert_not(has(code, sizeof code), "a byte at %ld was changed", (long)at);
    }
    cr_assert(jit_cache_write(folder, "key", code, sizeof code));
    cr_assert_eq(truncate(path, 4000), 0);
    cr_assert_not(has(code, sizeof code));
    cr_assert(jit_cache_write(folder, "key", code, sizeof code));
    cr_assert_eq(truncate(path, 6000), 0);
    cr_assert_not(has(code, sizeof code));
    cr_assert_eq(truncate(path, 0), 0);
    cr_assert_not(has(code, sizeof code));
}

Test(jit_cache, concurrent_writers_leave_a_whole_entry)
{
    enum { WRITERS = 4, ROUNDS = 60, BYTES = 20000 };
    static char code[BYTES];
    make_folder();
    for (int w = 0; w < WRITERS; w++)
        if (fork() == 0) {
            memset(code, 'a' + w, sizeof code);
            for (int r = 0; r < ROUNDS; r++)
                if (!jit_cache_write(folder, "key", code, sizeof code))
                    _exit(1);
            _exit(0);
        }
    for (int r = 0; r < ROUNDS; r++) {
        void  *bytes;
        size_t n = 0;
        if (jit_cache_read(folder, "key", &bytes, &n)) {
            const char *text = bytes;
            cr_assert_eq(n, sizeof code);
            cr_assert_eq(memcmp(text, text + 1, n - 1), 0, "two writers' bytes in one entry");
        } else
            cr_assert_neq(access(path, F_OK), 0, "an entry that is there is not whole");
        free(bytes);
    }
    for (int w = 0; w < WRITERS; w++) {
        int status;
        wait(&status);
        cr_assert_eq(status, 0);
    }
}

Test(jit_cache, a_folder_that_cannot_be_written_is_no_cache)
{
    cr_assert_not(jit_cache_write("/proc/none", "key", "abc", 3));
    cr_assert_not(jit_cache_write("/dev/null", "key", "abc", 3));
}
