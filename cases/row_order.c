/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placement of ranks in a row. See row_order.h.
 */
#include "cases/row_order.h"

#include <stddef.h>

#define LARGEST_BLOCK 1024u

const char *const row_order_choices[] = {"shuffled", "best-first", "best-last", "outside", "one-thread", NULL};

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

uint32_t row_placement_column(const struct row_placement *placement, uint32_t rank)
{
    const uint32_t last = placement->length - 1;
    switch (placement->order) {
    case ROW_ORDER_BEST_FIRST: return rank;
    case ROW_ORDER_BEST_LAST: return last - rank;
    case ROW_ORDER_OUTSIDE: return rank % 2 == 0 ? rank / 2 : last - rank / 2;
    case ROW_ORDER_ONE_THREAD: return one_thread_column(rank, placement->length);
    case ROW_ORDER_SHUFFLED: break;
    }
    return random_permutation_at(&placement->permutation, rank);
}
