/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which column holds which rank. Most generators describe a row by rank (rank 0 is the best score) and leave to this
 * file where the ranks stand, because where the winners stand decides what a broken kernel loses.
 */
#ifndef TOPKCTS_CASES_ROW_ORDER_H
#define TOPKCTS_CASES_ROW_ORDER_H

#include <stdint.h>

#include "cases/random.h"

/* SHUFFLED: a random permutation. BEST_FIRST, BEST_LAST: sorted; a bounded buffer that fills in arrival order loses the
 * last arrivals, so each is poison for one direction of scan. OUTSIDE: the best at both ends. ONE_THREAD: the best in
 * the columns c, c + 1024, c + 2048 ..., which one thread of any block of up to 1024 visits alone. BLOCK_ENDS:
 * the best in the columns 0, 1024, 2048 ..., then 1023, 2047 ..., then 1, 1025 ...: the first and last of every block of
 * 1024, where chunks are joined and where narrow indices wrap. */
enum row_order {
    ROW_ORDER_SHUFFLED,
    ROW_ORDER_BEST_FIRST,
    ROW_ORDER_BEST_LAST,
    ROW_ORDER_OUTSIDE,
    ROW_ORDER_ONE_THREAD,
    ROW_ORDER_BLOCK_ENDS
};

/* The names of the enum, in its order: shuffled, best-first, best-last, outside, one-thread, block-ends. NULL-terminated. */
extern const char *const row_order_choices[];

struct row_placement {
    enum row_order            order;
    uint32_t                  length;
    struct random_permutation permutation;
};

/* key, row: of the random permutation. length >= 1. */
void row_placement_init(struct row_placement *placement, enum row_order order, uint64_t key, int32_t row,
                        int32_t length);

/* The column of a rank; a bijection of 0 .. length-1. */
uint32_t row_placement_column(const struct row_placement *placement, uint32_t rank);

#endif
