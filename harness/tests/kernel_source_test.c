/* SPDX-License-Identifier: Apache-2.0 */
/* The first line of a kernel source: what is read from it, and what is refused with which words. */
#include "harness/kernel_source.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct kernel_source source;

static enum status parse(const char *line, struct error *err)
{
    *err = (struct error){0};
    return kernel_source_parse_line(line, &source, err);
}

Test(kernel_source, reads_launch_and_claims)
{
    struct error err;
    cr_assert_eq(parse("// topkcts: block=128 dynamic_lds=4096 workspace_per_row=64 level=valid tie=any max_topk=512\r", &err),
                 STATUS_OK, "%s", err.text);
    cr_assert_eq(source.block, 128);
    cr_assert_eq(source.dynamic_lds, 4096);
    cr_assert_eq(source.workspace_per_row, 64);
    cr_assert_eq(source.claims.level, TOPK_LEVEL_VALID);
    cr_assert_eq(source.claims.tie, TOPK_TIE_ANY);
    cr_assert_eq(source.claims.max_topk, 512);
}

Test(kernel_source, absent_keys_have_their_defaults)
{
    struct error err;
    source.workspace_per_row = 5;
    cr_assert_eq(parse("// topkcts: level=canonical", &err), STATUS_OK);
    cr_assert_eq(source.block, 256);
    cr_assert_eq(source.dynamic_lds, 0);
    cr_assert_eq(source.workspace_per_row, 0);
    cr_assert_eq(source.claims.tie, TOPK_TIE_LOWEST);
}

Test(kernel_source, refuses_with_what_would_be_right)
{
    static const struct {
        const char *line, *words;
    } wrong[] = {
        {"", "// topkcts: block=256"},
        {"/* topkcts: level=canonical */", "the first line must say"},
        {"// topkcts: block=256", "promises no level"},
        {"// topkcts: block=0 level=safe", "1 to 1024"},
        {"// topkcts: block=1025 level=safe", "1 to 1024"},
        {"// topkcts: block=12x level=safe", "1 to 1024"},
        {"// topkcts: dynamic_lds=-1 level=safe", "dynamic_lds=-1"},
        {"// topkcts: level=safe level=valid", "twice"},
        {"// topkcts: level=safe, block=2", "level=safe,"},
        {"// topkcts: level", "no key=value"},
        {"// topkcts: level=perfect", "canonical"},
        {"// topkcts: level=none", "must promise"},
        {"// topkcts: threads=256 level=safe", "block, dynamic_lds, workspace_per_row"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct error err;
        cr_assert_eq(parse(wrong[i].line, &err), STATUS_USAGE, "accepted: %s", wrong[i].line);
        cr_assert(strstr(err.text, wrong[i].words) != NULL, "'%s' for: %s", err.text, wrong[i].line);
    }
}

Test(kernel_source, a_file_gives_name_digest_and_vendor)
{
    char         path[] = "/tmp/kernel_source_XXXXXX.cu";
    struct error err = {0};
    int          fd = mkstemps(path, 3);
    const char   text[] = "// topkcts: level=safe\nint x;\n";
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, text, sizeof text - 1), (ssize_t)sizeof text - 1);
    close(fd);
    cr_assert_eq(kernel_source_read(path, &source, &err), STATUS_OK, "%s", err.text);
    cr_assert(source.is_cuda);
    cr_assert_str_eq(source.text, text);
    cr_assert_eq(strncmp(source.name, "kernel_source_", 14), 0);
    cr_assert_null(strchr(source.name, '.'));
    cr_assert_eq(strlen(source.digest), 32);
    kernel_source_clear(&source);
    unlink(path);
    cr_assert_eq(kernel_source_read(path, &source, &err), STATUS_USAGE);
    cr_assert(strstr(err.text, "cannot be read") != NULL);
}
