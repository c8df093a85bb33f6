/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugins that people copy: built as kernels/plugin/README.md says, loaded, and right by what they promise.
 *
 * Runs from the root of the repository, with the compiler named by CC or else cc.
 */
#include "kernels/tests/host_problem.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

typedef const struct topk_provider *(*entry_function)(void);

/* Builds kernels/plugin/<name>.c and loads it; the library stays loaded until the test's process ends. */
static const struct topk_provider *load(const char *name)
{
    char        library[64] = "/tmp/topkcts-plugin-XXXXXX";
    char        command[512];
    const char *compiler = getenv("CC") != NULL ? getenv("CC") : "cc";
    int         descriptor = mkstemp(library);
    cr_assert_geq(descriptor, 0);
    close(descriptor);
    snprintf(command, sizeof command, "%s -O2 -shared -fPIC -I harness -o %s kernels/plugin/%s.c", compiler, library,
             name);
    cr_assert_eq(system(command), 0, "%s", command);
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    unlink(library);
    cr_assert_not_null(handle, "%s", dlerror());
    entry_function entry = NULL;
    void          *symbol = dlsym(handle, "topk_provider_entry");
    memcpy(&entry, &symbol, sizeof entry);
    cr_assert(entry != NULL);
    cr_assert_eq(entry()->abi, TOPK_PROVIDER_ABI);
    cr_assert_str_eq(entry()->name, name);
    return entry();
}

Test(plugin, correct_is_canonical, .timeout = 60)
{
    static const int32_t        lengths[] = {0, 1, 511, 512, 513, 4097};
    const struct topk_provider *correct = load("correct");
    cr_assert_eq(correct->claims.level, TOPK_LEVEL_CANONICAL);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        for (uint32_t mask_bits = 0; mask_bits < 32; mask_bits += 10) {
            struct host_problem host = host_problem_open(4, lengths[l], 512, l % 2 == 0 ? 1 : 64);
            host.rules.nan = REFERENCE_NAN_BITS;
            host.seq_lens[2] = -7;
            host.seq_lens[3] = INT32_MAX;
            for (int32_t row = 0; row < 4; row++) {
                for (int32_t i = 0; i < lengths[l]; i++) {
                    uint32_t bits = host_problem_random((uint64_t)row << 32 | (uint32_t)i);
                    host_problem_row(&host, row)[i] = bits & ~((UINT32_C(1) << mask_bits) - 1);
                }
            }
            host_problem_seal(&host);
            cr_assert_eq(host_problem_right_launches(&host, correct, 2), 2, "length %d mask %u", lengths[l], mask_bits);
            host_problem_close(&host);
        }
    }
}

Test(plugin, correct_says_what_it_supports_and_where_it_went)
{
    const struct topk_provider *correct = load("correct");
    char                        why[128] = "";
    void                       *self = NULL;
    struct host_problem         host = host_problem_open(1, 100, 8, 64);
    host_problem_seal(&host);
    cr_assert_eq(correct->open(0, &self, why, sizeof why), 0);
    cr_assert_eq(correct->supports(self, &host.problem, why, sizeof why), 1);
    host.problem.topk = 4097;
    cr_assert_eq(correct->supports(self, &host.problem, why, sizeof why), 0);
    cr_assert_str_eq(why, "topk 4097 is above 4096");
    host.problem.topk = 8;
    host_problem_launch(&host, correct, self);
    cr_assert_str_eq(correct->path(self), "long-rows");
    host.seq_lens[0] = 8;
    host_problem_launch(&host, correct, self);
    cr_assert_str_eq(correct->path(self), "short-rows");
    correct->close(self);
    host_problem_close(&host);
}

static int ascending(const void *left, const void *right)
{
    int32_t a = *(const int32_t *)left;
    int32_t b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

/* Without equal scores the set is determined; its order is the template's own affair. */
Test(plugin, template_selects_the_right_set, .timeout = 60)
{
    static const int32_t        lengths[] = {0, 1, 511, 512, 513, 4097};
    const struct topk_provider *template = load("template");
    cr_assert_eq(template->claims.level, TOPK_LEVEL_VALID);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        struct host_problem host = host_problem_open(2, lengths[l], 512, 64);
        for (int32_t row = 0; row < 2; row++) {
            for (int32_t i = 0; i < lengths[l]; i++) {
                host_problem_row(&host, row)[i] = 0x3f800000 + (uint32_t)i * 7919 % 8191;
            }
        }
        char  err[128] = "";
        void *self = NULL;
        host_problem_seal(&host);
        cr_assert_eq(template->open(0, &self, err, sizeof err), 0);
        host_problem_launch(&host, template, self);
        template->close(self);
        for (int32_t row = 0; row < 2; row++) {
            int32_t *raw = host.problem.raw_indices + (ptrdiff_t)row * 512;
            int32_t *page = host.problem.page_indices + (ptrdiff_t)row * 512;
            int32_t  mapped[512];
            int32_t  count = lengths[l] < 512 ? lengths[l] : 512;
            reference_map_pages(raw, 512, host.problem.page_table + row * host.problem.page_table_stride, 64, mapped);
            cr_assert_arr_eq(page, mapped, sizeof mapped);
            qsort(raw, (size_t)count, sizeof *raw, ascending);
            cr_assert_arr_eq(raw, host.expected_raw + (ptrdiff_t)row * 512, sizeof mapped, "length %d", lengths[l]);
        }
        host_problem_close(&host);
    }
}
