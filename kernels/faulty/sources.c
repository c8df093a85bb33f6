/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted faults that are kernel sources, faulty/sources/NAME.hip: watched on the simulator like anybody's source. Here
 * is their list; what is wrong in each, its own file tells.
 */
#include "kernels/builtin.h"

#include <stddef.h>

/* Never called: a source is compiled and launched by the harness, which takes name and claims from here. */
static int refuse_open(int device, void **self, char *err, size_t err_size)
{
    (void)device;
    (void)self;
    if (err_size > 0) err[0] = '\0';
    return 1;
}

static int refuse_launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    (void)self;
    (void)problem;
    if (err_size > 0) err[0] = '\0';
    return 1;
}

static void close_nothing(void *self) { (void)self; }

#define SOURCE_FAULT(symbol, stem, kind, what_is_wrong)                                                                \
    static const struct topk_provider provider_##symbol = {                                                            \
        .abi = TOPK_PROVIDER_ABI,                                                                                      \
        .name = "faulty/" stem,                                                                                        \
        .version = "1",                                                                                                \
        .memory = TOPK_MEMORY_HOST,                                                                                    \
        .claims = {.level = TOPK_LEVEL_CANONICAL, .nan = TOPK_NAN_BITS, .negative_length = TOPK_NEGATIVE_LENGTH_EMPTY}, \
        .open = refuse_open,                                                                                           \
        .launch = refuse_launch,                                                                                       \
        .close = close_nothing,                                                                                        \
    };                                                                                                                 \
    const struct builtin_provider builtin_faulty_##symbol = {                                                          \
        .provider = &provider_##symbol,                                                                                \
        .place = BUILTIN_SOURCE,                                                                                       \
        .fault = kind,                                                                                                 \
        .summary = what_is_wrong,                                                                                      \
        .file = "kernels/faulty/sources/" stem ".hip",                                                                 \
    }

SOURCE_FAULT(barrier_in_branch, "barrier-in-branch", "hang",
             "threads beyond the end of the row skip the barriers of the last tile");
SOURCE_FAULT(candidates_clipped, "candidates-clipped", "overflow",
             "candidates beyond the capacity of their buffer are dropped");
SOURCE_FAULT(clear_meets_read, "clear-meets-read", "race",
             "the next round clears the counts while one thread still reads them");
SOURCE_FAULT(clear_without_barrier, "clear-without-barrier", "race",
             "no barrier stands between clearing the counts and counting");
SOURCE_FAULT(counter_reset_early, "counter-reset-early", "race",
             "one thread resets the counter of candidates while others still read it");
SOURCE_FAULT(counter_stale, "counter-stale", "stale-state",
             "a counter in global memory is not reset between rows and launches");
SOURCE_FAULT(fence_missing, "fence-missing", "race",
             "the last block reads what other blocks wrote without a fence");
SOURCE_FAULT(lds_unwritten, "lds-unwritten", "race", "a place comes from LDS that nobody has written");
SOURCE_FAULT(overflow_unguarded, "overflow-unguarded", "overflow",
             "candidates are written beyond their buffer in LDS");
SOURCE_FAULT(plain_increment, "plain-increment", "race", "a histogram is counted by plain increments");
SOURCE_FAULT(scalar_stale, "scalar-stale", "stale-state",
             "blocks loop over rows, and a scalar in LDS is not reset for rows little longer than topk");
SOURCE_FAULT(tie_by_arrival, "tie-by-arrival", "tie-break",
             "equal scores win in the order in which their threads come to a counter");
SOURCE_FAULT(vector_load, "vector-load", "stride", "scores are loaded four at a time, off alignment");
SOURCE_FAULT(vector_load_past_row, "vector-load-past-row", "read-past-end",
             "aligned scores are loaded four at a time, past the end of the last row");
SOURCE_FAULT(wave_of_64, "wave-of-64", "wave-size", "block scans take every wave for 64 lanes wide");
