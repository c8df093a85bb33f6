/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The monitor's rules, one small kernel each (kernels/tests/watched_kernels.hip), under the first schedules of both wave
 * sizes: what must be found is found under each, in its words; what is right is silent and has its values. Then: a
 * schedule's number is all that a rerun needs.
 */
#include "harness/simulator_build.h"
#include "kernels/simulator/simulator.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SCHEDULES = 12, WORDS = 64, THREADS = 64 };

typedef void kernel(uint32_t *words, uint32_t *seen);

struct call {
    kernel   *kernel;
    uint32_t *words, *seen;
};

static _Alignas(64) uint32_t words[WORDS], seen[WORDS];
static void *module;
static uint32_t *arrivals;

static void load(void)
{
    static char             project[PATH_MAX], object[PATH_MAX], text[SIMULATOR_BUILD_TEXT];
    static const char      *files[] = {"kernels/tests/watched_kernels.hip"};
    struct simulator_source source = {.files = files, .n_files = 1, .project = getcwd(project, sizeof project)};
    cr_assert_eq(simulator_build(&source, object, text), SIMULATOR_BUILT, "%s", text);
    module = dlopen(object, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    cr_assert_not_null(module, "%s", dlerror());
    arrivals = dlsym(module, "arrivals");
    cr_assert_not_null(arrivals);
}

static void enter(const void *arguments)
{
    const struct call *call = arguments;
    call->kernel(call->words, call->seen);
}

/* The buffers, with nothing in them. */
static void declare(void)
{
    memset(words, 0xee, sizeof words);
    memset(seen, 0xee, sizeof seen);
    simulator_add_buffer("words", words, sizeof words, SIMULATOR_OUTPUT);
    simulator_add_buffer("seen", seen, sizeof seen, SIMULATOR_OUTPUT);
}

static int launch(const char *name, uint32_t grid, int wave_size, uint64_t schedule, char *err, size_t err_size)
{
    struct call call = {.words = words, .seen = seen};
    void       *symbol = dlsym(module, name);
    cr_assert_not_null(symbol, "%s", name);
    memcpy(&call.kernel, &symbol, sizeof symbol);
    struct simulator_launch launch = {.kernel_name = name, .entry = enter, .arguments = &call, .grid = grid, .block = THREADS,
                                      .dynamic_lds = THREADS * sizeof(uint32_t), .module_address = symbol};
    struct simulator_schedule chosen = simulator_schedule_number(wave_size, schedule);
    simulator_set_schedule(&chosen);
    err[0] = '\0';
    *arrivals = 0;
    return simulator_run(&launch, err, err_size);
}

/* Found under every schedule: the reason begins with the word and holds the text. */
static void finds_at(int wave_size, const char *name, uint32_t grid, const char *word, const char *holds)
{
    for (uint64_t s = 1; s <= SCHEDULES; s++) {
        char err[1024];
        declare();
        cr_assert_neq(launch(name, grid, wave_size, s, err, sizeof err), 0, "%s, wave %d, schedule %d: nothing was found",
                      name, wave_size, (int)s);
        cr_assert_str_eq(simulator_finding(), word, "%s", err);
        cr_assert_not_null(strstr(err, holds), "\"%s\" lacks \"%s\"", err, holds);
        cr_assert_not_null(strstr(err, name), "%s", err);
        cr_assert_not_null(strstr(err, "watched_kernels.hip:"), "no source line: %s", err);
    }
}

static void finds(const char *name, uint32_t grid, const char *word, const char *holds)
{
    finds_at(32, name, grid, word, holds);
    finds_at(64, name, grid, word, holds);
}

/* Silent under every schedule; `check` looks at what was written. */
static void passes_at(int wave_size, const char *name, uint32_t grid, void (*check)(uint32_t grid))
{
    for (uint64_t s = 1; s <= SCHEDULES; s++) {
        char err[1024];
        declare();
        cr_assert_eq(launch(name, grid, wave_size, s, err, sizeof err), 0, "%s, wave %d, schedule %d: %s", name, wave_size,
                     (int)s, err);
        cr_assert_null(simulator_finding());
        if (check)
            check(grid);
    }
}

static void passes(const char *name, uint32_t grid, void (*check)(uint32_t grid))
{
    passes_at(32, name, grid, check);
    passes_at(64, name, grid, check);
}

static void seen_is_sum_of_blocks(uint32_t grid)
{
    cr_assert_eq(seen[0], grid * (grid + 1) / 2);
}

Test(watched_kernels, stores_of_other_blocks_need_a_fence, .init = load, .timeout = 60)
{
    passes("fenced", 5, seen_is_sum_of_blocks);
    passes("published_by_atomics", 5, seen_is_sum_of_blocks);
    passes("published_by_release", 5, seen_is_sum_of_blocks);
    finds("unfenced", 5, "race", "no fence and atomic orders the two blocks");
    finds("fenced_for_the_block_alone", 5, "race", "no fence and atomic");
    finds("fenced_too_early", 5, "race", "no fence and atomic");
}

/* How many of `grid` blocks have seen a store of another one. */
static uint32_t sum_seen(uint32_t grid)
{
    uint32_t sum = 0;
    for (uint32_t b = 0; b < grid; b++)
        sum += seen[b];
    return sum;
}

static void nothing_is_seen_but_all_is_there(uint32_t grid)
{
    cr_assert_eq(sum_seen(grid), 0, "stores of other blocks were seen before any fence");
    for (uint32_t b = 0; b < grid; b++)
        cr_assert_eq(words[b], 1, "the store of block %d is lost", (int)b);
}

/* Blocks run one after the other: each sees all those before it. */
static void all_before_is_seen(uint32_t grid)
{
    cr_assert_eq(sum_seen(grid), grid * (grid - 1) / 2);
    for (uint32_t b = 0; b < grid; b++)
        cr_assert_eq(words[b], 1);
}

static void after_clearing(const char *name, void (*check)(uint32_t))
{
    for (int wave_size = 32; wave_size <= 64; wave_size += 32)
        for (uint64_t s = 1; s <= SCHEDULES; s++) {
            char err[1024];
            declare();
            cr_assert_eq(launch("clear_words", 1, wave_size, s, err, sizeof err), 0, "%s", err);
            cr_assert_eq(launch(name, 6, wave_size, s, err, sizeof err), 0, "%s", err);
            check(6);
        }
}

Test(watched_kernels, late_stores_are_hidden_until_the_launch_ends, .init = load, .timeout = 60)
{
    after_clearing("store_volatile", nothing_is_seen_but_all_is_there);
    after_clearing("store_volatile_and_fence", all_before_is_seen);
}

Test(watched_kernels, a_later_launch_sees_what_was_written, .init = load, .timeout = 60)
{
    char err[1024];
    declare();
    cr_assert_eq(launch("clear_words", 3, 32, 1, err, sizeof err), 0, "%s", err);
    cr_assert_eq(launch("vector_off_alignment", 1, 32, 1, err, sizeof err), 1);
    cr_assert_eq(launch("store_volatile", 2, 32, 1, err, sizeof err), 0, "%s", err);
    declare();
    cr_assert_eq(launch("store_volatile", 2, 32, 1, err, sizeof err), 1, "buffers that are handed over anew hold nothing");
    cr_assert_str_eq(simulator_finding(), "uninitialised-output");
    declare();
    simulator_mark_written(words, sizeof words - 8);
    cr_assert_eq(launch("store_volatile", 2, 32, 1, err, sizeof err), 0, "%s", err);
}

static void words_are_reversed(uint32_t grid)
{
    (void)grid;
    for (uint32_t i = 0; i < THREADS; i++)
        cr_assert_eq(words[i], 63 - i);
}

static void all_stores_are_seen(uint32_t grid)
{
    (void)grid;
    cr_assert_eq(seen[0], THREADS);
}

Test(watched_kernels, what_orders_threads_of_a_block, .init = load, .timeout = 60)
{
    passes("barrier_orders", 1, words_are_reversed);
    finds("nothing_orders", 1, "race", "no barrier, wave operation or atomic orders them");
    passes("wave_orders", 1, NULL);
    finds_at(32, "wave_is_no_block", 1, "race", "box[");
    passes_at(64, "wave_is_no_block", 1, NULL);
    passes("half_a_wave_orders_itself", 1, NULL);
    finds("half_a_wave_orders_no_more", 1, "race", "box[");
    passes("atomics_order", 1, all_stores_are_seen);
    passes("one_value_from_all", 1, NULL);
    finds("two_values", 1, "race", "words[0]");
    finds("atomic_meets_plain", 1, "race", "updates atomically");
}

Test(watched_kernels, bytes_are_told_apart, .init = load, .timeout = 60)
{
    passes("bytes_apart", 1, NULL);
    finds("bytes_overlap", 1, "race", "bytes");
    passes("byte_written", 1, NULL);
    finds("byte_unwritten", 1, "uninitialised-lds", "nobody has written it in this block");
}

Test(watched_kernels, places_are_exact, .init = load, .timeout = 60)
{
    passes("vector_within", 1, NULL);
    finds("vector_off_alignment", 1, "misaligned", "multiple of 16; this one is 8 past one");
    finds("vector_across_the_end", 1, "out-of-bounds", "past the end of words (256 bytes)");
    passes("dynamic_within", 1, NULL);
    finds("dynamic_beyond", 1, "out-of-bounds", "dynamic LDS + 256 bytes");
}

/* Whatever the order in force, whoever is waited for gets a turn; a wait for nobody ends. */
Test(watched_kernels, waiting_in_a_loop_ends, .init = load, .timeout = 60)
{
    passes("waits_for_neighbour", 1, NULL);
    passes("waits_by_atomics", 1, NULL);
    passes("takes_a_lock", 1, all_stores_are_seen);
    finds("waits_for_nobody", 1, "deadlock", "no thread of the block changes it");
}

/* Under some schedules threads do not come between a load and a store: found under most of them. */
static int n_found(const char *name, const char *word)
{
    int n = 0;
    for (int wave_size = 32; wave_size <= 64; wave_size += 32)
        for (uint64_t s = 1; s <= SCHEDULES; s++) {
            char err[1024];
            declare();
            if (launch(name, 1, wave_size, s, err, sizeof err) == 0)
                continue;
            cr_assert_str_eq(simulator_finding(), word, "%s", err);
            cr_assert_not_null(strstr(err, "watched_kernels.hip:"), "%s", err);
            n++;
        }
    return n;
}

Test(watched_kernels, volatile_is_no_atomic, .init = load, .timeout = 60)
{
    cr_assert_geq(n_found("volatile_increments", "race"), SCHEDULES);
    passes("volatile_flag_from_all", 1, NULL);
    passes("volatile_flag_in_rounds", 1, NULL);
    passes("volatile_neighbours", 1, NULL);
}

Test(watched_kernels, a_skipped_barrier_is_the_cause_of_its_races, .init = load, .timeout = 60)
{
    finds("barrier_in_a_branch", 1, "diverged-barrier", "barrier");
    finds("barrier_too_late", 1, "race", "box[");
}

/* The same number gives the same order of threads, hence the same bytes, whatever ran before; others give others. */
Test(watched_kernels, a_number_reruns_its_schedule, .init = load, .timeout = 60)
{
    enum { NUMBERS = 40 };
    static uint32_t first[2][NUMBERS][WORDS];
    static uint64_t orders[2][NUMBERS];
    char            err[1024];
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 2 * NUMBERS; i++) {
            int at = round == 1 ? 2 * NUMBERS - 1 - i : i; /* in another order, too */
            int wave = at % 2, number = at / 2;
            declare();
            cr_assert_eq(launch("arrival", 1, wave ? 64 : 32, (uint64_t)number + 1, err, sizeof err), 0, "%s", err);
            if (round == 0) {
                memcpy(first[wave][number], words, sizeof words);
                orders[wave][number] = simulator_atomic_order();
                continue;
            }
            cr_assert_eq(orders[wave][number], simulator_atomic_order(), "schedule %d is another one", number + 1);
            cr_assert_eq(memcmp(first[wave][number], words, sizeof words), 0, "schedule %d gives other bytes", number + 1);
        }
    int distinct = 0;
    for (int a = 0; a < NUMBERS; a++) {
        int same = 0;
        for (int b = 0; b < a; b++)
            same += memcmp(first[0][a], first[0][b], sizeof words) == 0;
        distinct += same == 0;
    }
    cr_assert_gt(distinct, NUMBERS * 3 / 4, "only %d of %d schedules differ", distinct, NUMBERS);
}
