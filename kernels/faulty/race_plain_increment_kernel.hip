/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted kernel fault, kind race: a histogram is counted by a plain load and store instead of an atomic.
 *
 * The count of a digit is read, other work with an atomic of its own comes between, and the count plus one is
 * stored: increments of other threads in between are lost. Shows when threads switch at atomics.
 */
#define SMALL_TOPK_COUNT(digit)                                                                                        \
    do {                                                                                                               \
        const unsigned count_before = digit_count[digit];                                                              \
        (void)atomicMax(&chosen_count, count_before);                                                                  \
        digit_count[digit] = count_before + 1;                                                                         \
    } while (0)

#include "kernels/faulty/small_topk.h"

SMALL_TOPK_FAULT(race_plain_increment, "faulty/race-plain-increment", "race",
                 "a histogram is counted by a plain load and store instead of an atomic");
