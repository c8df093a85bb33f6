/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A launch: checks it against the simulated device, then runs its blocks one after the other. Start reading at
 * simulator_run(). Must not know how threads wait or who is next.
 */
#include "kernels/simulator/simulator.h"

#include "kernels/simulator/callouts.h"
#include "kernels/simulator/fiber.h"
#include "kernels/simulator/monitor.h"
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

/* The same, for modules. */
extern "C" {
uint3 simulator_get_thread_index(void);
uint3 simulator_get_block_index(void);
uint3 simulator_get_block_dim(void);
uint3 simulator_get_grid_dim(void);
int   simulator_get_wave_size(void);
uint3 simulator_get_thread_index(void) { return *simulator_thread_index; }
uint3 simulator_get_block_index(void) { return simulator_block_index; }
uint3 simulator_get_block_dim(void) { return {simulator_block_dim.x, simulator_block_dim.y, simulator_block_dim.z}; }
uint3 simulator_get_grid_dim(void) { return {simulator_grid_dim.x, simulator_grid_dim.y, simulator_grid_dim.z}; }
int   simulator_get_wave_size(void) { return simulator_wave_size; }
}

namespace simulator {

namespace {

/* What was wrong in the last launch, in words. */
char finding_text[1024];

uint64_t at_least_one(uint32_t n) { return n == 0 ? 1 : n; }
uint64_t threads_of(const simulator_launch &l) { return l.block * at_least_one(l.block_y) * at_least_one(l.block_z); }
uint64_t blocks_of(const simulator_launch &l) { return l.grid * at_least_one(l.grid_y) * at_least_one(l.grid_z); }

int check_lds(const simulator_launch &launch, size_t static_bytes, char *err, size_t err_size)
{
    const char *const name = launch.kernel_name;
    if (launch.dynamic_lds <= SIMULATOR_DYNAMIC_LDS_BYTES && static_bytes + launch.dynamic_lds <= SIMULATOR_LDS_BYTES)
        return 0;
    the_finding = {};
    the_finding.kind = finding_kind::lds_over_budget;
    if (launch.dynamic_lds > SIMULATOR_DYNAMIC_LDS_BYTES)
        (void)std::snprintf(finding_text, sizeof finding_text,
                            "%s: kernel %s: %zu bytes of dynamic LDS, more than the budget of %zu",
                            finding_word(the_finding.kind), name, launch.dynamic_lds, SIMULATOR_DYNAMIC_LDS_BYTES);
    else
        (void)std::snprintf(finding_text, sizeof finding_text,
                            "%s: kernel %s: %zu bytes of static and %zu of dynamic LDS are %zu, more than the %zu of a "
                            "workgroup",
                            finding_word(the_finding.kind), name, static_bytes, launch.dynamic_lds,
                            static_bytes + launch.dynamic_lds, SIMULATOR_LDS_BYTES);
    (void)std::snprintf(err, err_size, "%s", finding_text);
    return 1;
}

int check(const simulator_launch &launch, char *err, size_t err_size)
{
    const char *const name = launch.kernel_name;
    const uint64_t    threads = threads_of(launch);
    if (blocks_of(launch) < 1 || blocks_of(launch) > UINT32_MAX || threads < 1 || threads > max_threads) {
        (void)std::snprintf(err, err_size, "kernel %s: a grid of %llu blocks of %llu threads; at least 1 block of 1 to %u",
                            name, static_cast<unsigned long long>(blocks_of(launch)),
                            static_cast<unsigned long long>(threads), max_threads);
        return 1;
    }
    return check_lds(launch, the_block.where == nullptr ? launch.static_lds_bytes : the_block.where->static_bytes, err,
                     err_size);
}
/* Fills with copies of a word; the last bytes get its beginning. */
void poison(void *at, size_t bytes, uint32_t word)
{
    unsigned char *const p = static_cast<unsigned char *>(at);
    for (size_t i = 0; i < bytes; i += sizeof word)
        std::memcpy(p + i, &word, bytes - i < sizeof word ? bytes - i : sizeof word);
}

void reset_block(unsigned n_threads)
{
    block &b = the_block;
    const dim3 dim = simulator_block_dim;
    b.n_threads = n_threads;
    b.n_ended = 0;
    b.n_at_barrier = 0;
    b.barrier_votes = 0;
    for (unsigned i = 0; i < n_threads; i++) {
        b.threads[i].number = i;
        b.threads[i].index = {i % dim.x, i / dim.x % dim.y, i / dim.x / dim.y};
        b.threads[i].waits = waiting_for::nothing;
        std::memset(b.threads[i].recent, 0, sizeof b.threads[i].recent);
        b.threads[i].n_done = 0;
    }
    all_runnable();
    for (unsigned first = 0; first < n_threads; first += b.wave_size) {
        const unsigned left = n_threads - first < b.wave_size ? n_threads - first : b.wave_size;
        b.waves[first / b.wave_size] = {left == 64 ? ~uint64_t{0} : (uint64_t{1} << left) - 1, 0, true};
    }
}

void poison_lds(const simulator_launch &launch)
{
    const uint32_t word = schedule_poison();
    if (the_block.where != nullptr) {
        poison(the_block.where->lds, the_block.where->lds_bytes, word);
        return;
    }
    poison(launch.dynamic_lds_at != nullptr ? launch.dynamic_lds_at : dynamic_lds, launch.dynamic_lds, word);
    if (launch.static_lds != nullptr) poison(launch.static_lds, launch.static_lds_bytes, word);
}

void run_block(const simulator_launch &launch, uint32_t index)
{
    block     &b = the_block;
    const dim3 grid = simulator_grid_dim;
    reset_block(static_cast<unsigned>(threads_of(launch)));
    poison_lds(launch);
    simulator_block_index = {index % grid.x, index / grid.x % grid.y, index / grid.x / grid.y};
    b.current = &b.launcher;
    thread *const first = schedule_next(nullptr);
    simulator_atomics_left = schedule_burst();
    monitor_begin_block();
    callouts_begin_block();
    fiber_switch(first);
    monitor_end_block();
}

/* The module of the kernel, if it has one: 0, or non-zero with a cause. */
int find_module(const simulator_launch &launch, char *err, size_t err_size)
{
    the_block.where = nullptr;
    if (launch.module_address == nullptr) return 0;
    the_block.where = module_of(launch.module_address);
    if (the_block.where != nullptr) return 0;
    (void)std::snprintf(err, err_size, "kernel %s: its module cannot be read; it must be built for the simulator",
                        launch.kernel_name);
    return 1;
}

} // namespace

} // namespace simulator

int simulator_run(const struct simulator_launch *launch, char *err, size_t err_size)
{
    using namespace simulator;
    block &b = the_block;
    simulator_forget_finding();
    if (find_module(*launch, err, err_size) != 0 || check(*launch, err, err_size) != 0) return 1;
    if (fibers_prepare(static_cast<unsigned>(threads_of(*launch)), err, err_size) != 0) return 1;
    const uint32_t n_blocks = static_cast<uint32_t>(blocks_of(*launch));
    b.launch = launch;
    b.failed = false;
    schedule_begin_launch(n_blocks, static_cast<unsigned>(threads_of(*launch)));
    simulator_block_dim = {launch->block, static_cast<unsigned>(at_least_one(launch->block_y)),
                           static_cast<unsigned>(at_least_one(launch->block_z))};
    simulator_grid_dim = {launch->grid, static_cast<unsigned>(at_least_one(launch->grid_y)),
                          static_cast<unsigned>(at_least_one(launch->grid_z))};
    simulator_wave_size = static_cast<int>(b.wave_size);
    monitor_begin_launch(b.where, *launch);
    for (uint32_t i = 0; i < n_blocks && !b.failed; i++) run_block(*launch, schedule_block(i));
    monitor_end_launch();
    if (b.failed) {
        fibers_abandon();
        finding_spell(launch->kernel_name, finding_text, sizeof finding_text);
        (void)std::snprintf(err, err_size, "%s", finding_text);
    }
    b.launch = nullptr;
    return b.failed ? 1 : 0;
}

const char *simulator_finding(void)
{
    using namespace simulator;
    return the_finding.kind == finding_kind::none ? nullptr : finding_word(the_finding.kind);
}

const char *simulator_finding_text(void) { return simulator::finding_text; }

void simulator_forget_finding(void)
{
    simulator::the_finding = {};
    simulator::finding_text[0] = '\0';
}

uint64_t simulator_atomic_order(void) { return simulator::monitor_atomic_order(); }

uint64_t simulator_switches(void) { return simulator::fiber_switches; }
