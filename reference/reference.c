/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first reference: keeps the best places seen so far, one score after the other.
 *
 * Owns the meaning of reference_key and reference_selectable, and one of the two answers. It must not share more than
 * the header with counting.c, which judges it, and must not do arithmetic on scores: everything is bits and integers.
 *
 * Algorithm: a place in the order is one 64-bit number, key above, complement of the index below, so that the larger
 * number comes first and no two are equal. A heap holds the topk largest places with the smallest at its root; after
 * the last score the root is the last selected place, and one more walk over the row writes what is not behind it.
 */
#include "reference/reference.h"

#include <stddef.h>
#include <stdlib.h>

#define SIGN UINT32_C(0x80000000)
#define INFINITY_BITS UINT32_C(0x7f800000)

static bool is_nan(uint32_t score_bits)
{
    return (score_bits & ~SIGN) > INFINITY_BITS;
}

bool reference_selectable(uint32_t score_bits, const struct reference_rules *rules)
{
    if (rules->nan == REFERENCE_NAN_NEVER && is_nan(score_bits)) {
        return false;
    }
    return !(rules->neg_inf_is_hole && score_bits == (SIGN | INFINITY_BITS));
}

uint32_t reference_key(uint32_t score_bits, const struct reference_rules *rules)
{
    if (!reference_selectable(score_bits, rules)) {
        return 0;
    }
    if (rules->nan == REFERENCE_NAN_LARGEST && is_nan(score_bits)) {
        return UINT32_MAX;
    }
    if ((score_bits & SIGN) == 0) {
        return score_bits | SIGN;
    }
    /* Of two negative numbers the one with the larger bits is the smaller. The negation takes -0 to the key of +0, the
     * complement to the key below it. */
    return rules->zeros_by_bits ? ~score_bits : 0u - score_bits;
}

static uint64_t place_of(const uint32_t *scores, int32_t index, const struct reference_rules *rules)
{
    return (uint64_t)reference_key(scores[index], rules) << 32 | (UINT32_MAX - (uint32_t)index);
}

/* Adds a place to a heap of `size` places, smallest at the root. */
static void heap_add(uint64_t *heap, size_t size, uint64_t place)
{
    size_t hole = size;
    while (hole > 0 && heap[(hole - 1) / 2] > place) {
        heap[hole] = heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    heap[hole] = place;
}

/* Drops the smallest of `size` places and adds `place`. */
static void heap_replace_smallest(uint64_t *heap, size_t size, uint64_t place)
{
    size_t hole = 0;
    for (;;) {
        size_t child = 2 * hole + 1;
        if (child >= size) {
            break;
        }
        if (child + 1 < size && heap[child + 1] < heap[child]) {
            child++;
        }
        if (heap[child] >= place) {
            break;
        }
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = place;
}

int32_t reference_select(const uint32_t *scores, int32_t n, int32_t topk, const struct reference_rules *rules,
                         int32_t *indices)
{
    int32_t count = 0;
    if (n > 0 && topk > 0) {
        size_t    wanted = (size_t)(n < topk ? n : topk);
        size_t    held = 0;
        uint64_t *best = malloc(wanted * sizeof *best);
        if (best == NULL) {
            return -1;
        }
        for (int32_t i = 0; i < n; i++) {
            if (!reference_selectable(scores[i], rules)) {
                continue;
            }
            uint64_t place = place_of(scores, i, rules);
            if (held < wanted) {
                heap_add(best, held++, place);
            } else if (place > best[0]) {
                heap_replace_smallest(best, held, place);
            }
        }
        for (int32_t i = 0; i < n && held > 0; i++) {
            if (reference_selectable(scores[i], rules) && place_of(scores, i, rules) >= best[0]) {
                indices[count++] = i;
            }
        }
        free(best);
    }
    for (int32_t slot = count; slot < topk; slot++) {
        indices[slot] = -1;
    }
    return count;
}

void reference_map_pages(const int32_t *indices, int32_t topk, const int32_t *page_table, int32_t page_size,
                         int32_t *page_indices)
{
    for (int32_t slot = 0; slot < topk; slot++) {
        int32_t index = indices[slot];
        page_indices[slot] = index < 0 ? -1 : page_table[index / page_size] * page_size + index % page_size;
    }
}
