/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A launch: checks it against the simulated device, then runs its blocks one after the other. Start reading at
 * simulator_run(). Must not know how threads wait or who is next.
 */
#include "kernels/simulator/simulator.h"

#include "kernels/simulator/fiber.h"
#include "kernels/simulator/schedule.h"

#include <cstdio>
#include <cstring>

const uint3 *simulator_thread_index;
uint3        simulator_block_index;
dim3         simulator_block_dim;
dim3         simulator_grid_dim;
int          simulator_wave_size = 32;

/* What `extern __shared__ T dynamic_lds[]` names in a kernel. */
alignas(64) thread_local unsigned char dynamic_lds[SIMULATOR_DYNAMIC_LDS_BYTES];

namespace simulator {

namespace {

int check(const simulator_launch &launch, char *err, size_t err_size)
{
    const char *const name = launch.kernel_name;
    if (launch.grid < 1 || launch.block < 1 || launch.block > max_threads) {
        (void)std::snprintf(err, err_size, "kernel %s: a grid of %u blocks of %u threads; at least 1 block of 1 to %u",
                            name, launch.grid, launch.block, max_threads);
        return 1;
    }
    if (launch.dynamic_lds > SIMULATOR_DYNAMIC_LDS_BYTES) {
        (void)std::snprintf(err, err_size, "kernel %s: %zu bytes of dynamic LDS, more than the budget of %zu", name,
                            launch.dynamic_lds, SIMULATOR_DYNAMIC_LDS_BYTES);
        return 1;
    }
    if (launch.static_lds_bytes + launch.dynamic_lds > SIMULATOR_LDS_BYTES) {
        (void)std::snprintf(err, err_size,
                            "kernel %s: %zu bytes of static and %zu of dynamic LDS are %zu, more than the %zu of a "
                            "workgroup",
                            name, launch.static_lds_bytes, launch.dynamic_lds,
                            launch.static_lds_bytes + launch.dynamic_lds, SIMULATOR_LDS_BYTES);
        return 1;
    }
    return 0;
}

/* Fills with copies of a word; the last bytes get its beginning. */
void poison(void *at, size_t bytes, uint32_t word)
{
    unsigned char *const p = static_cast<unsigned char *>(at);
    for (size_t i = 0; i < bytes; i += sizeof word)
        std::memcpy(p + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word);
}

void reset_block(const simulator_launch &launch)
{
    block &b = the_block;
    b.n_threads = launch.block;
    b.n_ended = 0;
    b.n_at_barrier = 0;
    b.barrier_votes = 0;
    for (unsigned i = 0; i < launch.block; i++) {
        b.threads[i].number = i;
        b.threads[i].index = {i, 0, 0};
        b.threads[i].waits = waiting_for::nothing;
        std::memset(b.threads[i].recent, 0, sizeof b.threads[i].recent);
        b.threads[i].n_done = 0;
    }
    all_runnable();
    for (unsigned first = 0; first < launch.block; first += b.wave_size) {
        const unsigned left = launch.block - first < b.wave_size ? launch.block - first : b.wave_size;
        b.waves[first / b.wave_size] = {left == 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1, 0, true};
    }
}

void run_block(const simulator_launch &launch, uint32_t index)
{
    block &b = the_block;
    reset_block(launch);
    const uint32_t word = schedule_poison();
    poison(launch.dynamic_lds_at != nullptr ? launch.dynamic_lds_at : dynamic_lds, launch.dynamic_lds, word);
    if (launch.static_lds != nullptr) poison(launch.static_lds, launch.static_lds_bytes, word);
    simulator_block_index = {index, 0, 0};
    b.current = &b.launcher;
    thread *const first = schedule_next(nullptr);
    simulator_atomics_left = schedule_burst();
    fiber_switch(first);
}

} // namespace

} // namespace simulator

int simulator_run(const struct simulator_launch *launch, char *err, size_t err_size)
{
    using namespace simulator;
    block &b = the_block;
    if (check(*launch, err, err_size) != 0) return 1;
    if (fibers_prepare(launch->block, err, err_size) != 0) return 1;
    b.launch = launch;
    b.err = err;
    b.err_size = err_size;
    b.failed = false;
    schedule_begin_launch(launch->grid);
    simulator_block_dim = {launch->block, 1, 1};
    simulator_grid_dim = {launch->grid, 1, 1};
    simulator_wave_size = static_cast<int>(b.wave_size);
    for (uint32_t i = 0; i < launch->grid && !b.failed; i++) run_block(*launch, schedule_block(i));
    if (b.failed) fibers_abandon();
    b.launch = nullptr;
    return b.failed ? 1 : 0;
}

uint64_t simulator_switches(void) { return simulator::fiber_switches; }
