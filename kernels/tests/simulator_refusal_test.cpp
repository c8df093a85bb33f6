/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the simulator refuses or reports, in which words; and that the launch after it works.
 */
#include <hip/hip_runtime.h>

#include "kernels/simulator/simulator.h"

#include <criterion/criterion.h>
#include <cstring>

namespace {

unsigned finished;

void nothing(const void *) { finished++; }

void skipped_barrier(const void *)
{
    if (threadIdx.x < 40) __syncthreads();
}

void early_exit(const void *)
{
    if (threadIdx.x == 9) return;
    __syncthreads();
}

void two_places(const void *)
{
    if (threadIdx.x % 2 == 0) {
        __syncthreads();
        return;
    }
    __syncthreads();
}

void foreign_mask(const void *) { (void)__ballot_sync(0xfull, 1); }

void partner_at_barrier(const void *)
{
    if (threadIdx.x != 3) (void)__ballot_sync(~0ull, 1);
    __syncthreads();
}

void other_mask(const void *)
{
    (void)__shfl_sync(threadIdx.x < 8 ? 0xffull : ~0ull, 1, 0);
    __syncthreads();
}

void exited_lanes(const void *)
{
    if (threadIdx.x >= 10) return;
    if (__ballot_sync(~0ull, 1) == 0x3ff) finished++;
}

simulator_launch launch_of(void (*kernel)(const void *))
{
    simulator_launch launch = {};
    launch.kernel_name = "victim";
    launch.entry = kernel;
    launch.grid = 2;
    launch.block = 64;
    return launch;
}

/* Fails with words `a` and `b` in its message under every order; a sound launch works afterwards. */
void expect_error(const simulator_launch &launch, const char *a, const char *b)
{
    for (const int wave_size : {32, 64}) {
        for (int order = 0; order < 3; order++) {
            char                            err[300] = "";
            const struct simulator_schedule schedule = {wave_size, static_cast<simulator_order>(order), 5};
            simulator_set_schedule(&schedule);
            cr_assert_neq(simulator_run(&launch, err, sizeof err), 0, "nothing was reported, but: %s", a);
            cr_assert_not_null(std::strstr(err, "kernel victim"), "%s", err);
            cr_assert_not_null(std::strstr(err, a), "\"%s\" lacks \"%s\"", err, a);
            cr_assert_not_null(std::strstr(err, b), "\"%s\" lacks \"%s\"", err, b);
            cr_assert_null(std::strchr(err, '\n'));
            finished = 0;
            const simulator_launch sound = launch_of(nothing);
            cr_assert_eq(simulator_run(&sound, err, sizeof err), 0, "%s", err);
            cr_assert_eq(finished, 128u);
        }
    }
}

} // namespace

Test(simulator_refusal, lds_over_the_dynamic_budget)
{
    simulator_launch launch = launch_of(nothing);
    launch.dynamic_lds = SIMULATOR_DYNAMIC_LDS_BYTES + 1;
    expect_error(launch, "49153 bytes of dynamic LDS", "more than the budget of 49152");
    launch.dynamic_lds = SIMULATOR_DYNAMIC_LDS_BYTES;
    char err[300] = "";
    cr_assert_eq(simulator_run(&launch, err, sizeof err), 0, "%s", err);
}

Test(simulator_refusal, lds_over_the_total)
{
    static unsigned char lds[20000];
    simulator_launch     launch = launch_of(nothing);
    launch.static_lds = lds;
    launch.static_lds_bytes = sizeof lds;
    launch.dynamic_lds = 65536 - sizeof lds + 1;
    expect_error(launch, "20000 bytes of static and 45537 of dynamic LDS are 65537", "more than the 65536");
    launch.dynamic_lds--;
    char err[300] = "";
    cr_assert_eq(simulator_run(&launch, err, sizeof err), 0, "%s", err);
}

Test(simulator_refusal, launches_out_of_range)
{
    simulator_launch launch = launch_of(nothing);
    launch.block = 1025;
    expect_error(launch, "a grid of 2 blocks of 1025 threads", "1 to 1024");
    launch.block = 0;
    expect_error(launch, "a grid of 2 blocks of 0 threads", "1 to 1024");
    launch.block = 64;
    launch.grid = 0;
    expect_error(launch, "a grid of 0 blocks", "at least 1");
}

Test(simulator_refusal, a_barrier_that_some_threads_skip)
{
    expect_error(launch_of(skipped_barrier), "diverged-barrier: kernel", "waits at the barrier at");
    expect_error(launch_of(skipped_barrier), ", block ", "thread 40 has ended");
}

Test(simulator_refusal, a_barrier_after_one_thread_has_ended)
{
    expect_error(launch_of(early_exit), "diverged-barrier: kernel", "thread 9 has ended");
}

Test(simulator_refusal, a_barrier_met_at_two_places)
{
    expect_error(launch_of(two_places), "diverged-barrier: kernel", "must meet at one barrier");
}

Test(simulator_refusal, a_wave_operation_whose_mask_lacks_the_caller)
{
    expect_error(launch_of(foreign_mask), "ballot at", "lacks its own lane");
}

Test(simulator_refusal, a_wave_operation_whose_partner_waits_elsewhere)
{
    expect_error(launch_of(partner_at_barrier), "diverged-wave: kernel",
                 "thread 3 waits at the barrier");
}

Test(simulator_refusal, a_wave_operation_whose_masks_disagree)
{
    simulator_launch launch = launch_of(other_mask);
    expect_error(launch, "diverged-wave: kernel", "mask 0x");
}

Test(simulator_refusal, lanes_that_ended_do_not_count_in_a_mask)
{
    for (int order = 0; order < 3; order++) {
        char                            err[300] = "";
        const struct simulator_schedule schedule = {32, static_cast<simulator_order>(order), 5};
        simulator_set_schedule(&schedule);
        simulator_launch launch = launch_of(exited_lanes);
        launch.grid = 1;
        finished = 0;
        cr_assert_eq(simulator_run(&launch, err, sizeof err), 0, "%s", err);
        cr_assert_eq(finished, 10u);
    }
}
