/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reference: what the right answer is, for one row at a time.
 *
 * Two implementations by different routes answer the same question; the harness asks both on every case and refuses to
 * judge a kernel when they differ. They work on the bit patterns of the scores, never on float arithmetic, and are
 * compiled without fast-math.
 *
 * This folder knows nothing of the harness.
 */
#ifndef TOPKCTS_REFERENCE_H
#define TOPKCTS_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

/* How NaN ranks. UNRANKED: no rule was promised; treated like BITS so that there is an answer. */
enum reference_nan { REFERENCE_NAN_UNRANKED, REFERENCE_NAN_BITS, REFERENCE_NAN_LARGEST, REFERENCE_NAN_NEVER };

/* The rules where kernels differ; all zeroes is the base contract. */
struct reference_rules {
    bool               zeros_by_bits;   /* -0.0 ranks below +0.0 instead of being equal to it */
    bool               neg_inf_is_hole; /* -inf is never selected */
    enum reference_nan nan;
};

/* The rank of a score as an unsigned integer: a larger key ranks earlier; equal keys are equal scores. A score that is
 * never selected under the rules has key 0; so has, under zeros_by_bits, the NaN 0xffffffff, because then every bit
 * pattern has a rank of its own. Ask reference_selectable before keys are compared. */
uint32_t reference_key(uint32_t score_bits, const struct reference_rules *rules);

/* Whether the score may be selected at all under the rules. */
bool reference_selectable(uint32_t score_bits, const struct reference_rules *rules);

/* Selects from one row: the first min(topk, selectable) places of the order (key descending, index ascending), written
 * as logical indices in ascending order to indices[0 .. count-1], then -1 up to indices[topk-1].
 * A row with n <= topk selects every selectable index: all of 0 .. n-1 under the base contract, whatever the scores;
 * what the rules call never selected is not selected there either. n <= 0 is an empty row. Returns count, or -1 when out of memory.
 * scores: [n] bit patterns. indices: [topk], the caller's. */
int32_t reference_select(const uint32_t *scores, int32_t n, int32_t topk, const struct reference_rules *rules,
                         int32_t *indices);

/* The same answer by another route (no comparison between two scores is ever made: keys are counted digit by digit,
 * most significant first, to find the key at the cut). Same arguments and result. */
int32_t reference_select_by_counting(const uint32_t *scores, int32_t n, int32_t topk,
                                     const struct reference_rules *rules, int32_t *indices);

/* Maps logical indices through one row's page table: page_indices[j] = page_table[i / page_size] * page_size +
 * i % page_size for i = indices[j]; -1 stays -1. Arrays: [topk]. page_size: a power of two. */
void reference_map_pages(const int32_t *indices, int32_t topk, const int32_t *page_table, int32_t page_size,
                         int32_t *page_indices);

#endif
