/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placement of ranks in a row. See row_order.h.
 */
#include "cases/row_order.h"

#include <stddef.h>

#define LARGEST_BLOCK 1024u

const char *const row_order_choices[] = {"shuffled", "best-first", "best-last", "outside",
                                         "one-thread", "block-ends", NULL};

void row_placement_init(struct row_placement *placement, enum row_order order, uint64_t key, int32_t row,
                        int32_t length)
{
    placement->order  = order;
    placement->length = (uint32_t)length;
    random_permutation_init(&placement->permutation, random_key_word(random_key_text(key, "order"), (uint64_t)row),
                            (uint32_t)length);
}

/* Columns by remainder modulo the block size: all of remainder 0, then all of remainder 1, and so on. */
static uint32_t one_thread_column(uint32_t rank, uint32_t length)
{
    const uint32_t rounds = length / LARGEST_BLOCK;
    const uint32_t longer = length % LARGEST_BLOCK; /* this many remainders have one column more */
    if (rank < longer * (rounds + 1)) {
        return rank % (rounds + 1) * LARGEST_BLOCK + rank / (rounds + 1);
    }
    const uint32_t left = rank - longer * (rounds + 1);
    return left % rounds * LARGEST_BLOCK + longer + left / rounds;
}

/* How many columns the first `taken` remainders have, counted 0, 1023, 1, 1022 ... */
static uint32_t columns_of_ends(uint32_t taken, uint32_t length)
{
    const uint32_t longer = length % LARGEST_BLOCK; /* the low so many remainders have one column more */
    const uint32_t low    = taken - taken / 2;
    const uint32_t high   = taken / 2;
    const uint32_t high_with_less = LARGEST_BLOCK - longer;
    return taken * (length / LARGEST_BLOCK) + (low < longer ? low : longer) +
           (high > high_with_less ? high - high_with_less : 0);
}

/* Columns by remainder modulo the block size, from both ends inwards. */
static uint32_t block_ends_column(uint32_t rank, uint32_t length)
{
    uint32_t taken = 0; /* the most remainders that have no more than `rank` columns together */
    for (uint32_t bit = LARGEST_BLOCK / 2; bit > 0; bit /= 2) {
        if (columns_of_ends(taken + bit, length) <= rank) {
            taken += bit;
        }
    }
    const uint32_t remainder = taken % 2 == 0 ? taken / 2 : LARGEST_BLOCK - 1 - taken / 2;
    return (rank - columns_of_ends(taken, length)) * LARGEST_BLOCK + remainder;
}

uint32_t row_placement_column(const struct row_placement *placement, uint32_t rank)
{
    const uint32_t last = placement->length - 1;
    switch (placement->order) {
    case ROW_ORDER_BEST_FIRST: return rank;
    case ROW_ORDER_BEST_LAST: return last - rank;
    case ROW_ORDER_OUTSIDE: return rank % 2 == 0 ? rank / 2 : last - rank / 2;
    case ROW_ORDER_ONE_THREAD: return one_thread_column(rank, placement->length);
    case ROW_ORDER_BLOCK_ENDS: return block_ends_column(rank, placement->length);
    case ROW_ORDER_SHUFFLED: break;
    }
    return random_permutation_at(&placement->permutation, rank);
}
