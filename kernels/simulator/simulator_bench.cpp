/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of the simulator; see simulator_bench.h. */
#include "kernels/simulator/simulator_bench.h"

#include "kernels/simulator/device.h"
#include "kernels/simulator/simulator.h"

#include <ctime>

namespace {

constexpr unsigned n_threads = 256;
constexpr int      n_barriers = 2000;
constexpr int      n_launches = 200;

unsigned counter;

void only_barriers(const void *)
{
    for (int i = 0; i < n_barriers; i++) __syncthreads();
}

void atomics(const void *)
{
    for (int i = 0; i < 64; i++) (void)atomicAdd(&counter, 1u);
}

double seconds_now()
{
    timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

bool launch(void (*kernel)(const void *))
{
    char             err[200];
    simulator_launch one = {};
    one.kernel_name = "bench";
    one.entry = kernel;
    one.grid = 1;
    one.block = n_threads;
    return simulator_run(&one, err, sizeof err) == 0;
}

} // namespace

double simulator_bench_switch_ns(void)
{
    const struct simulator_schedule plain = simulator_schedule_number(32, 1);
    simulator_set_schedule(&plain);
    const uint64_t before = simulator_switches();
    const double   begin = seconds_now();
    if (!launch(only_barriers)) return 0;
    return (seconds_now() - begin) * 1e9 / static_cast<double>(simulator_switches() - before);
}

double simulator_bench_schedules_per_second(void)
{
    const double begin = seconds_now();
    for (int i = 0; i < n_launches; i++) {
        const struct simulator_schedule next = simulator_schedule_number(i % 2 == 0 ? 32 : 64, static_cast<uint64_t>(i) + 1);
        simulator_set_schedule(&next);
        if (!launch(atomics)) return 0;
    }
    return n_launches / (seconds_now() - begin);
}
