/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted faults of lengths, addresses, outputs and state, and those that end the process; and the list as a whole.
 */
#include "kernels/tests/host_problem.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LAUNCHES 3
#define CAUGHT(identifier, host) check(find("faulty/" identifier), host, 0, LAUNCHES - 1)
#define SPARED(identifier, host) check(find("faulty/" identifier), host, LAUNCHES, LAUNCHES)

static const struct topk_provider *find(const char *name)
{
    for (size_t i = 0; builtin_providers[i] != NULL; i++) {
        if (strcmp(builtin_providers[i]->provider->name, name) == 0) {
            return builtin_providers[i]->provider;
        }
    }
    cr_assert(false, "no built-in provider %s", name);
    return NULL;
}

/* Seals and closes the problem; at least `least`, at most `most` of the launches are right. */
static void check(const struct topk_provider *provider, struct host_problem *host, int least, int most)
{
    host_problem_seal(host);
    int right = host_problem_right_launches(host, provider, LAUNCHES);
    cr_assert(right >= least && right <= most, "%s: %d of %d launches are right, expected %d to %d", provider->name,
              right, LAUNCHES, least, most);
    host_problem_close(host);
}

Test(faulty_layout, lengths_are_misread)
{
    struct host_problem host = host_problem_open(2, 100, 8, 64);
    host.seq_lens[1] = -4;
    CAUGHT("row-length-negative", &host);
    host = host_problem_open(2, 100, 8, 64);
    host.seq_lens[1] = 0;
    SPARED("row-length-negative", &host);

    host = host_problem_open(2, 100, 8, 64);
    host.seq_lens[1] = 101;
    CAUGHT("row-length-overlong", &host);
    host = host_problem_open(2, 100, 8, 64);
    SPARED("row-length-overlong", &host);

    host = host_problem_open(2, 100, 8, 64);
    host.seq_lens[1] = 99;
    host_problem_row(&host, 1)[99] = SCORE_BEYOND;
    CAUGHT("row-length-first", &host);
    host = host_problem_open(2, 100, 8, 64);
    SPARED("row-length-first", &host);
}

/* Two rows of 100 scores, a row width and 5 elements apart. */
static struct host_problem far_rows(int32_t width)
{
    struct host_problem host = host_problem_open(2, width, 8, 64);
    host.seq_lens[0] = 100;
    host.seq_lens[1] = 100;
    return host;
}

Test(faulty_layout, rows_start_elsewhere)
{
    struct host_problem host = host_problem_open(2, 100, 8, 64);
    CAUGHT("stride-width", &host);
    host = host_problem_open(1, 100, 8, 64);
    SPARED("stride-width", &host);
    /* A stride of 105 elements: of four rows at most one starts on a 16-byte boundary. */
    host = host_problem_open(4, 100, 8, 64);
    CAUGHT("stride-aligned", &host);
    host = host_problem_open(1, 100, 8, 64);
    host.problem.scores = (const float *)(const void *)(host.scores + GUARD);
    cr_assert_eq((uintptr_t)host.problem.scores % 16, 0);
    SPARED("stride-aligned", &host);
    host = far_rows(4194304 - 5);
    CAUGHT("offset-overflow-row", &host);
    host = far_rows(4194304 - 6);
    SPARED("offset-overflow-row", &host);
}

Test(faulty_layout, pages_are_mapped_otherwise)
{
    struct host_problem host = host_problem_open(1, 300, 8, 64);
    CAUGHT("page-mapping-offset", &host);
    host = host_problem_open(1, 300, 8, 1);
    CAUGHT("page-mapping-offset", &host);
    host = host_problem_open(1, 300, 8, 256);
    SPARED("page-mapping-offset", &host);

    host = host_problem_open(2, 300, 8, 64);
    CAUGHT("page-mapping-row", &host);
    host = host_problem_open(1, 300, 8, 64);
    SPARED("page-mapping-row", &host);

    host = host_problem_open(1, 7, 8, 64);
    CAUGHT("short-row-mapped-padding", &host);
    host = host_problem_open(1, 8, 8, 64);
    SPARED("short-row-mapped-padding", &host);
}

Test(faulty_layout, scores_behind_the_row_take_part)
{
    struct host_problem host = host_problem_open(1, 101, 8, 64);
    CAUGHT("read-past-end", &host);
    host = host_problem_open(1, 100, 8, 64);
    SPARED("read-past-end", &host);
    host = host_problem_open(1, 65537, 8, 64);
    host.seq_lens[0] = 100;
    host_problem_row(&host, 0)[100] = SCORE_BEYOND;
    CAUGHT("read-past-end-width", &host);
    host = host_problem_open(1, 65536, 8, 64);
    host.seq_lens[0] = 100;
    host_problem_row(&host, 0)[100] = SCORE_BEYOND;
    SPARED("read-past-end-width", &host);
}

Test(faulty_layout, slots_outside_the_row_are_written)
{
    struct host_problem host = host_problem_open(2, 100, 8, 64);
    CAUGHT("write-outside-end", &host);
    host = host_problem_open(2, 100, 8, 64);
    CAUGHT("write-outside-neighbour", &host);
    host = host_problem_open(1, 100, 8, 64);
    SPARED("write-outside-neighbour", &host);
    host = host_problem_open(2, 100, 8, 64);
    host.seq_lens[1] = -1;
    CAUGHT("row-length-padding", &host);
    host = host_problem_open(2, 100, 8, 64);
    host.seq_lens[1] = 0;
    SPARED("row-length-padding", &host);
}

Test(faulty_layout, inputs_are_written)
{
    struct host_problem host = host_problem_open(1, 100, 8, 64);
    CAUGHT("writes-inputs", &host);
    host = host_problem_open(1, 0, 8, 64);
    SPARED("writes-inputs", &host);
}

Test(faulty_layout, state_is_stale)
{
    struct host_problem host = host_problem_open(3, 100, 8, 64);
    for (int32_t i = 0; i < 100; i++) {
        host_problem_row(&host, 1)[i] += 0x00800000;
    }
    CAUGHT("stale-state-cut", &host);
    host = host_problem_open(1, 100, 8, 64);
    SPARED("stale-state-cut", &host);

    host = host_problem_open(2, 100, 50, 64);
    CAUGHT("stale-state-workspace", &host);
    host = host_problem_open(2, 50, 50, 64);
    SPARED("stale-state-workspace", &host);
    for (int32_t shorter = 0; shorter < 2; shorter++) {
        host = host_problem_open(3, 100, 8, 64);
        host.seq_lens[1] = shorter == 1 ? 3 : 100;
        for (int32_t i = 0; i < 100; i++) {
            host_problem_row(&host, 0)[i] += 0x00800000;
        }
        if (shorter == 1) {
            CAUGHT("stale-state-short-row", &host);
        } else {
            SPARED("stale-state-short-row", &host);
        }
    }
}

/* One row of ordinary scores, three of them never to be selected. */
static struct host_problem with_unselectable(int32_t length, uint32_t bits)
{
    struct host_problem host = host_problem_open(1, length, 16, 64);
    host.rules = (struct reference_rules){.neg_inf_is_hole = true, .nan = REFERENCE_NAN_NEVER};
    for (int32_t i = 0; i < 3; i++) {
        host_problem_row(&host, 0)[4 * i] = bits;
    }
    return host;
}

Test(faulty_layout, what_is_never_selected_is_selected)
{
    struct host_problem host = with_unselectable(16, 0xff800000);
    CAUGHT("negative-infinity-short", &host);
    host = with_unselectable(17, 0xff800000);
    SPARED("negative-infinity-short", &host);
    host = with_unselectable(17, 0x7fc00000);
    CAUGHT("nan-fills", &host);
    host = with_unselectable(16, 0x7fc00000);
    SPARED("nan-fills", &host);
    host = with_unselectable(19, 0x7fc00000);
    SPARED("nan-fills", &host);
}

Test(faulty_layout, results_change_from_launch_to_launch)
{
    struct host_problem host = host_problem_open(1, 100, 8, 64);
    CAUGHT("race-order", &host);
    host = host_problem_open(1, 8, 8, 64);
    SPARED("race-order", &host);

    host = host_problem_open(1, 100, 8, 64);
    host_problem_seal(&host);
    cr_assert_eq(host_problem_right_launches(&host, find("faulty/race-rare"), 28), 28);
    cr_assert_eq(host_problem_right_launches(&host, find("faulty/race-rare"), 100), 97);
    host_problem_close(&host);
}

Test(faulty_layout, the_batch_decides)
{
    struct host_problem host = host_problem_open(32, 100, 8, 64);
    for (int32_t row = 0; row < 32; row++) {
        memset(host_problem_row(&host, row), 0, 100 * sizeof(uint32_t));
    }
    CAUGHT("batch-dependence-tie", &host);
    host = host_problem_open(31, 100, 8, 64);
    for (int32_t row = 0; row < 31; row++) {
        memset(host_problem_row(&host, row), 0, 100 * sizeof(uint32_t));
    }
    SPARED("batch-dependence-tie", &host);
    host = host_problem_open(32, 100, 8, 64);
    CAUGHT("batch-dependence-lane", &host);
    host = host_problem_open(31, 100, 8, 64);
    SPARED("batch-dependence-lane", &host);
}

Test(faulty_layout, a_long_row_runs_into_unmapped_memory, .signal = SIGSEGV)
{
    struct host_problem host = host_problem_open(1, 513, 8, 64);
    host_problem_seal(&host);
    signal(SIGSEGV, SIG_DFL); /* a sanitizer would end the process in another way */
    host_problem_right_launches(&host, find("faulty/read-past-end-crash"), 1);
}

Test(faulty_layout, a_row_of_512_does_not)
{
    struct host_problem host = host_problem_open(1, 512, 8, 64);
    SPARED("read-past-end-crash", &host);
}

Test(faulty_layout, an_empty_row_never_ends)
{
    struct host_problem host = host_problem_open(2, 100, 8, 64);
    SPARED("hang-empty-row", &host);

    host = host_problem_open(2, 100, 8, 64);
    host.seq_lens[1] = 0;
    host_problem_seal(&host);
    pid_t child = fork();
    cr_assert_neq(child, -1);
    if (child == 0) {
        host_problem_right_launches(&host, find("faulty/hang-empty-row"), 1);
        _exit(0);
    }
    const struct timespec a_while = {.tv_nsec = 300000000L};
    nanosleep(&a_while, NULL);
    int status = 0;
    cr_assert_eq(waitpid(child, &status, WNOHANG), 0, "the launch ended");
    kill(child, SIGKILL);
    cr_assert_eq(waitpid(child, &status, 0), child);
    host_problem_close(&host);
}

Test(builtin, every_fault_names_its_kind_and_its_build)
{
    size_t n_host_faults = 0;
    for (size_t i = 0; builtin_providers[i] != NULL; i++) {
        const struct builtin_provider *builtin = builtin_providers[i];
        const char                    *name = builtin->provider->name;
        cr_assert_eq(builtin->provider->abi, TOPK_PROVIDER_ABI, "%s", name);
        cr_assert_not_null(builtin->provider->open, "%s", name);
        cr_assert_not_null(builtin->provider->launch, "%s", name);
        cr_assert_not_null(builtin->provider->close, "%s", name);
        cr_assert_not_null(builtin->summary, "%s", name);
        if (builtin->place == BUILTIN_SOURCE)
            cr_assert_eq(access(builtin->file, R_OK), 0, "%s: no file %s", name, builtin->file);
        else
            cr_assert_gt(strlen(builtin->source), 200, "%s: the source text is missing", name);
        cr_assert_eq(builtin->fault != NULL, strncmp(name, "faulty/", strlen("faulty/")) == 0, "%s", name);
        if (builtin->fault != NULL && builtin->place == BUILTIN_HOST) {
            n_host_faults++;
            cr_assert_eq(builtin->provider->claims.level, TOPK_LEVEL_CANONICAL, "%s", name);
            cr_assert_not_null(strstr(builtin->source, name), "%s: the source is another's", name);
            cr_assert_not_null(strstr(builtin->source, "int host_topk_launch"), "%s: the shared source", name);
        }
        for (size_t j = 0; j < i; j++) {
            cr_assert_str_neq(name, builtin_providers[j]->provider->name);
        }
    }
    cr_assert_geq(n_host_faults, 22);
}
