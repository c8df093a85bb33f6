/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The device language on the simulator: every primitive means what it means on a GPU, at both wave sizes, in any order
 * of threads. Kernels write into `out`; the test knows what must stand there.
 */
#include <hip/hip_runtime.h>

#include "kernels/simulator/simulator.h"

#include <criterion/criterion.h>
#include <cstring>
#include <vector>

namespace {

constexpr unsigned n_threads = 192; /* 6 waves of 32, 3 of 64 */
constexpr int      n_orders = 6;

uint64_t out[1024];
uint64_t cells[8];
unsigned order_log[4096];
unsigned n_logged;

void use_order(int i, int wave_size)
{
    struct simulator_schedule schedule = {wave_size, SIMULATOR_RANDOM, static_cast<uint64_t>(i)};
    if (i == 0) schedule.order = SIMULATOR_ROUND_ROBIN;
    if (i == 1) schedule.order = SIMULATOR_REVERSED;
    simulator_set_schedule(&schedule);
}

int run(void (*kernel)(const void *), unsigned grid, unsigned block, char *err, size_t err_size)
{
    simulator_launch launch = {};
    launch.kernel_name = "kernel";
    launch.entry = kernel;
    launch.grid = grid;
    launch.block = block;
    launch.dynamic_lds = 4096;
    launch.static_lds = simulator_static_lds(&launch.static_lds_bytes);
    std::memset(out, 0, sizeof out);
    std::memset(cells, 0, sizeof cells);
    n_logged = 0;
    return simulator_run(&launch, err, err_size);
}

/* Runs the kernel under every order and both wave sizes, and `expect(wave_size)` after each. */
template <typename Expect> void everywhere(void (*kernel)(const void *), Expect expect, unsigned block = n_threads)
{
    for (const int wave_size : {32, 64}) {
        for (int i = 0; i < n_orders; i++) {
            char err[300] = "";
            use_order(i, wave_size);
            cr_assert_eq(run(kernel, 1, block, err, sizeof err), 0, "%s", err);
            expect(wave_size);
        }
    }
}

void expect_out(unsigned t, uint64_t value, int wave_size)
{
    cr_assert_eq(out[t], value, "thread %u, wave %d: %llx instead of %llx", t, wave_size,
                 static_cast<unsigned long long>(out[t]), static_cast<unsigned long long>(value));
}

bool predicate(unsigned t) { return (t * 2654435761u >> 13 & 3u) == 0; }

uint64_t expected_ballot(unsigned t, int wave_size)
{
    const unsigned first = t - t % static_cast<unsigned>(wave_size);
    uint64_t       mask = 0;
    for (unsigned lane = 0; lane < static_cast<unsigned>(wave_size); lane++)
        if (first + lane < n_threads && predicate(first + lane)) mask |= uint64_t{1} << lane;
    return mask;
}

void ballots(const void *)
{
    const unsigned t = threadIdx.x;
    for (int i = 0; i < 3; i++) out[t] = __ballot(predicate(t));
    out[t + 192] = __ballot_sync(~0ull, predicate(t));
    out[t + 384] = static_cast<unsigned>(__any(predicate(t)) * 2 + __all(predicate(t)));
    out[t + 576] = static_cast<unsigned>(__any_sync(~0ull, t == 5) * 2 + __all_sync(~0ull, t < 64));
}

void shuffles(const void *)
{
    const unsigned t = threadIdx.x;
    const int      value = static_cast<int>(t) * 10;
    out[t] = static_cast<unsigned>(__shfl(value, 3));
    out[t + 192] = static_cast<unsigned>(__shfl_up(value, 2u));
    out[t + 384] = static_cast<unsigned>(__shfl_down_sync(~0ull, value, 5u));
    out[t + 576] = static_cast<unsigned>(__shfl_xor_sync(~0ull, value, 9));
    out[t + 768] = __shfl_sync(~0ull, static_cast<unsigned long long>(t) << 40, 1, 8);
}

/* Half of each wave takes part; the halves use the same source line with masks of their own. */
void half_waves(const void *)
{
    const unsigned           t = threadIdx.x;
    const unsigned           half = static_cast<unsigned>(warpSize) / 2;
    const unsigned           lane = t % static_cast<unsigned>(warpSize);
    const unsigned long long low = (1ull << half) - 1;
    const unsigned long long mine = lane < half ? low : low << half;
    out[t] = __ballot_sync(mine, 1);
    out[t + 192] = __shfl_sync(mine, t, static_cast<int>(lane < half ? 0 : half));
}

unsigned count_wave() { return static_cast<unsigned>(__popcll(__ballot(1))); }

/* Only some lanes take the branch, and lanes leave the loop one after the other: the active lanes vote. What comes
 * behind the loop stands further up in the source. */
void diverged(const void *)
{
    const unsigned t = threadIdx.x;
    const unsigned lane = t % static_cast<unsigned>(warpSize);
    if (lane < 20) out[t] = __ballot(1);
    uint64_t last = 0;
    for (unsigned i = 0; i <= lane; i++) last = __ballot(1);
    out[t + 192] = last;
    out[t + 576] = count_wave();
    __syncthreads();
    out[t + 384] = __ballot(1);
}

void barriers(const void *)
{
    __shared__ unsigned slots[n_threads];
    const unsigned      t = threadIdx.x;
    unsigned            sum = t;
    for (unsigned i = 0; i < 4; i++) {
        slots[t] = sum;
        __syncthreads();
        sum += slots[(t + 1) % n_threads];
        __syncthreads();
    }
    out[t] = sum;
    out[t + 192] = static_cast<unsigned>(__syncthreads_count(predicate(t)));
    out[t + 384] = static_cast<unsigned>(__syncthreads_or(t == 7) * 4 + __syncthreads_and(t != 7) * 2 +
                                         __syncthreads_and(t < n_threads));
}

void atomics(const void *)
{
    __shared__ unsigned           lds_words[2];
    __shared__ unsigned long long lds_long;
    const unsigned                t = threadIdx.x;
    if (t == 0) {
        lds_words[0] = 0;
        lds_words[1] = 0xffffffffu;
        lds_long = 0;
    }
    __syncthreads();
    out[t] = atomicAdd(&lds_words[0], 1u);
    atomicMin(&lds_words[1], 1000u - t);
    atomicMax(&lds_long, (1ull << 40) + t);
    atomicAdd(&cells[0], uint64_t{1} << 33);
    atomicOr(&cells[1], uint64_t{1} << (t % 64));
    atomicXor(&cells[2], uint64_t{t});
    atomicSub(reinterpret_cast<int *>(&cells[3]), 2);
    atomicInc(reinterpret_cast<unsigned *>(&cells[4]), 9u);
    uint64_t old = cells[5];
    for (uint64_t assumed = ~old; assumed != old;) {
        assumed = old;
        old = atomicCAS(&cells[5], assumed, assumed + t);
    }
    if (atomicExch(&cells[6], uint64_t{1}) == 0) atomicAdd(&cells[7], 1);
    __syncthreads();
    if (t == 0) {
        out[1001] = lds_words[0];
        out[1002] = lds_words[1];
        out[1003] = lds_long;
    }
}

void bits(const void *)
{
    out[0] = static_cast<unsigned>(__popc(0xf0f0u) + 100 * __popcll(~0ull));
    out[1] = static_cast<unsigned>(__ffs(0) + 10 * __ffs(0x80000000u) + 1000 * __ffsll(1ull << 40));
    out[2] = static_cast<unsigned>(__clz(0) + 100 * __clz(1) + 10000 * __clzll(0));
    out[3] = __brev(0x00000003u);
    out[4] = __float_as_uint(-2.0f);
    out[5] = __uint_as_float(0x40000000u) == 2.0f;
}

void log_order(const void *)
{
    for (int i = 0; i < 3; i++) {
        order_log[n_logged++] = blockIdx.x * 1024 + threadIdx.x;
        atomicAdd(&cells[0], 1);
    }
}

std::vector<unsigned> logged(int order, int wave_size, unsigned grid)
{
    char err[300] = "";
    use_order(order, wave_size);
    cr_assert_eq(run(log_order, grid, 64, err, sizeof err), 0, "%s", err);
    cr_assert_eq(n_logged, size_t{grid} * 64 * 3);
    return std::vector<unsigned>(order_log, order_log + n_logged);
}

} // namespace

/* Outside of the namespace: dynamic_lds is the simulator's. */
static void poisoned_lds(const void *)
{
    extern __shared__ unsigned dynamic_lds[];
    __shared__ unsigned words[16];
    if (threadIdx.x < 16) {
        out[blockIdx.x * 64 + threadIdx.x] = words[threadIdx.x];
        words[threadIdx.x] = 7;
        out[blockIdx.x * 64 + 16 + threadIdx.x] = dynamic_lds[1008 + threadIdx.x];
        dynamic_lds[1008 + threadIdx.x] = 7;
    }
}

Test(simulator_primitives, ballots_collect_the_wave)
{
    everywhere(ballots, [](int wave_size) {
        for (unsigned t = 0; t < n_threads; t++) {
            const uint64_t ballot = expected_ballot(t, wave_size);
            expect_out(t, ballot, wave_size);
            expect_out(t + 192, ballot, wave_size);
            expect_out(t + 384, ballot != 0 ? 2 : 0, wave_size);
            expect_out(t + 576, (t < static_cast<unsigned>(wave_size) ? 2u : 0u) + (t < 64 ? 1u : 0u), wave_size);
        }
    });
}

Test(simulator_primitives, shuffles_read_other_lanes)
{
    everywhere(shuffles, [](int wave_size) {
        for (unsigned t = 0; t < n_threads; t++) {
            const unsigned width = static_cast<unsigned>(wave_size);
            const unsigned lane = t % width;
            const unsigned first = t - lane;
            expect_out(t, uint64_t{first + 3} * 10, wave_size);
            expect_out(t + 192, uint64_t{lane < 2 ? t : t - 2} * 10, wave_size);
            expect_out(t + 384, uint64_t{lane + 5 >= width ? t : t + 5} * 10, wave_size);
            expect_out(t + 576, uint64_t{first + (lane ^ 9u)} * 10, wave_size);
            if (t + 768 < 960) expect_out(t + 768, static_cast<uint64_t>(t - t % 8 + 1) << 40, wave_size);
        }
    });
}

Test(simulator_primitives, masks_name_the_participants)
{
    everywhere(half_waves, [](int wave_size) {
        const unsigned half = static_cast<unsigned>(wave_size) / 2;
        const uint64_t low = (uint64_t{1} << half) - 1;
        for (unsigned t = 0; t < n_threads; t++) {
            expect_out(t, t / half % 2 == 0 ? low : low << half, wave_size);
            expect_out(t + 192, t - t % half, wave_size);
        }
    });
}

Test(simulator_primitives, diverged_lanes_vote_among_themselves)
{
    everywhere(diverged, [](int wave_size) {
        const uint64_t all = wave_size == 64 ? ~uint64_t{0} : 0xffffffffu;
        for (unsigned t = 0; t < n_threads; t++) {
            const unsigned lane = t % static_cast<unsigned>(wave_size);
            expect_out(t, lane < 20 ? 0xfffffu : 0, wave_size);
            expect_out(t + 192, all & ~((uint64_t{1} << lane) - 1), wave_size);
            expect_out(t + 384, all, wave_size);
            expect_out(t + 576, static_cast<unsigned>(wave_size), wave_size);
        }
    });
}

Test(simulator_primitives, barriers_order_lds_and_count)
{
    everywhere(barriers, [](int wave_size) {
        unsigned votes = 0;
        for (unsigned t = 0; t < n_threads; t++) votes += predicate(t) ? 1 : 0;
        for (unsigned t = 0; t < n_threads; t++) {
            const unsigned weights[5] = {1, 4, 6, 4, 1};
            uint64_t       sum = 0;
            for (unsigned i = 0; i < 5; i++) sum += uint64_t{weights[i]} * ((t + i) % n_threads);
            expect_out(t, sum, wave_size);
            expect_out(t + 192, votes, wave_size);
            expect_out(t + 384, 5, wave_size);
        }
    });
}

Test(simulator_primitives, atomics_lose_nothing)
{
    everywhere(atomics, [](int wave_size) {
        std::vector<bool> seen(n_threads, false);
        for (unsigned t = 0; t < n_threads; t++) {
            cr_assert_lt(out[t], n_threads);
            cr_assert_not(seen[out[t]]);
            seen[out[t]] = true;
        }
        expect_out(1001, n_threads, wave_size);
        expect_out(1002, 1000 - (n_threads - 1), wave_size);
        expect_out(1003, (uint64_t{1} << 40) + n_threads - 1, wave_size);
        cr_assert_eq(cells[0], uint64_t{n_threads} << 33);
        cr_assert_eq(cells[1], ~uint64_t{0});
        cr_assert_eq(cells[2], 0u);
        int32_t subtracted = 0;
        std::memcpy(&subtracted, &cells[3], sizeof subtracted);
        cr_assert_eq(subtracted, -2 * static_cast<int>(n_threads));
        cr_assert_eq(cells[4], n_threads % 10);
        cr_assert_eq(cells[5], n_threads * (n_threads - 1) / 2);
        cr_assert_eq(cells[7], 1u);
    });
}

Test(simulator_primitives, bit_operations)
{
    everywhere(
        bits,
        [](int wave_size) {
            expect_out(0, 6408, wave_size);
            expect_out(1, 41320, wave_size);
            expect_out(2, 643132, wave_size);
            expect_out(3, 0xc0000000u, wave_size);
            expect_out(4, 0xc0000000u, wave_size);
            expect_out(5, 1, wave_size);
        },
        1);
}

Test(simulator_primitives, lds_is_poisoned_before_every_block)
{
    for (int i = 0; i < n_orders; i++) {
        char err[300] = "";
        use_order(i, 32);
        cr_assert_eq(run(poisoned_lds, 3, 64, err, sizeof err), 0, "%s", err);
        for (unsigned block = 0; block < 3; block++) {
            for (unsigned j = 0; j < 32; j++) {
                cr_assert_neq(out[block * 64 + j], 7u, "block %u sees the block before it", block);
                cr_assert_neq(out[block * 64 + j], 0u);
            }
        }
    }
}

Test(simulator_primitives, static_lds_is_measured_to_the_byte)
{
    /* barriers: 192 words; atomics: 2 words and a long; poisoned_lds: 16 words. */
    size_t bytes = 0;
    cr_assert_not_null(simulator_static_lds(&bytes));
    const size_t named = (192 + 2 + 2 + 16) * sizeof(unsigned);
    cr_assert_geq(bytes, named);
    cr_assert_leq(bytes, named + 64, "%zu bytes", bytes);
}

Test(simulator_primitives, deterministic_orders_are_what_they_say)
{
    const std::vector<unsigned> ascending = logged(0, 32, 2);
    const std::vector<unsigned> descending = logged(1, 32, 2);
    for (unsigned i = 0; i < ascending.size(); i++) {
        cr_assert_eq(ascending[i], i / 192 * 1024 + i % 192 / 3);
        cr_assert_eq(descending[i], (1 - i / 192) * 1024 + 63 - i % 192 / 3);
    }
}

Test(simulator_primitives, a_seed_replays_and_another_differs)
{
    for (const int wave_size : {32, 64}) {
        const std::vector<unsigned> first = logged(2, wave_size, 4);
        cr_assert(first == logged(2, wave_size, 4));
        cr_assert(first != logged(3, wave_size, 4));
        cr_assert(first != logged(0, wave_size, 4));
        /* Atomics are switching points: no thread keeps its three turns together everywhere. */
        unsigned interrupted = 0;
        for (unsigned i = 0; i + 1 < first.size(); i++) interrupted += first[i] != first[i + 1] ? 1 : 0;
        cr_assert_gt(interrupted, 256u);
    }
}
