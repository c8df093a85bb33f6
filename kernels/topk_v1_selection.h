/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all kernels of top-k v1 are made of: keys, prefix sums over a block, the threshold from a sample, the cut by radix
 * selection, and the outputs. Included once, by topk_v1.hip, which says how they go together.
 *
 * From find_cut() on, keys are held as distances: ~key, so that less is better. What is no key has the greatest, beyond all
 * that count.
 */
#ifndef TOPKCTS_TOPK_V1_SELECTION_H
#define TOPKCTS_TOPK_V1_SELECTION_H

#include "kernels/port.h"

#define TOPK_V1_DIGITS 2048u
#define TOPK_V1_MOST_GROUPS 128u
#define TOPK_V1_LISTED 128u /* so many keys are ranked by comparison */
#define TOPK_V1_MOST_TOPK 1024u
#define TOPK_V1_KEY_MAX 0xffffffffu

static __shared__ unsigned digit_count[TOPK_V1_DIGITS] __attribute__((aligned(16))); /* all 0 between uses */
static __shared__ unsigned group_key[TOPK_V1_MOST_GROUPS] __attribute__((aligned(16)));
static __shared__ unsigned wave_total[32];
static __shared__ unsigned listed[TOPK_V1_LISTED] __attribute__((aligned(16))); /* distances */
static __shared__ unsigned chosen_index[TOPK_V1_MOST_TOPK];
static __shared__ unsigned chosen[4] __attribute__((aligned(16))); /* digit, places left in it, its count; all counted */
static __shared__ unsigned nearest, farthest; /* distances in the digit at the cut */
static __shared__ unsigned cut_distance, cut_ties;
static __shared__ unsigned greatest_key, least_key, sampled_top, threshold_key, threshold_place;
static __shared__ unsigned n_listed;

/* One row, as every thread sees it. */
struct topk_v1_row {
    const float *scores;
    unsigned     n; /* valid length */
    unsigned     topk;
};

/* The outputs of one row; either array may be null. */
struct topk_v1_outputs {
    int       *page_indices;
    int       *raw_indices;
    const int *page_table;
    unsigned   page_shift;
};

/* Selected are smaller distances, and those equal to it: all of them where `ties` is 0, otherwise that many, by index. */
struct topk_v1_cut {
    unsigned distance;
    unsigned ties;
};

/* The order of the scores as unsigned integers: larger is better; both zeros are one key. */
PORT_INLINE unsigned full_key(unsigned bits)
{
    const unsigned key = bits ^ ((unsigned)((int)bits >> 31) | 0x80000000u);
    return key + (key == 0x7fffffffu ? 1u : 0u);
}

/* The lowest key above a threshold; for the greatest key itself, above which nothing is, that key. */
PORT_INLINE unsigned next_key(unsigned key) { return key + (key != TOPK_V1_KEY_MAX ? 1u : 0u); }

PORT_INLINE unsigned key_at(const topk_v1_row &row, unsigned i) { return full_key(float_bits(row.scores + i)); }
PORT_INLINE unsigned lane_number() { return thread_number() & (unsigned)(wave_size() - 1); }
PORT_INLINE unsigned wave_number() { return thread_number() / (unsigned)wave_size(); }
PORT_INLINE unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }
PORT_INLINE unsigned larger(unsigned a, unsigned b) { return a > b ? a : b; }

/* ---- a block's sums ------------------------------------------------------------------------------------------- */

/* The sum of x over this lane and those below it, of the first `lanes` lanes of the wave. */
PORT_INLINE unsigned wave_sum_through(unsigned x, unsigned lanes)
{
    PORT_UNROLL
    for (unsigned distance = 1; distance < lanes; distance *= 2) {
        const unsigned below = wave_shift_up(x, (int)distance);
        if (lane_number() >= distance) x += below;
    }
    return x;
}

/* The sum of what the waves below this one put into wave_total; `total` gets that over all. A barrier must stand before,
 * and between this and the next change of wave_total. */
template <unsigned block> PORT_INLINE unsigned waves_before(unsigned &total)
{
    const unsigned waves = block / (unsigned)wave_size();
    const unsigned through = wave_sum_through(wave_total[lane_number() % waves], waves);
    const unsigned before = wave_read(through, (int)smaller(wave_number() - 1, waves - 1));
    total = wave_read(through, (int)waves - 1);
    return wave_number() == 0 ? 0 : before;
}

/* The sum of x over the threads below this one; `total` gets that over all. One barrier inside; another must stand
 * between two calls. */
template <unsigned block> PORT_INLINE unsigned block_prefix(unsigned x, unsigned &total)
{
    const unsigned through = wave_sum_through(x, (unsigned)wave_size());
    if (lane_number() == (unsigned)wave_size() - 1) wave_total[wave_number()] = through;
    block_barrier();
    return waves_before<block>(total) + through - x;
}

/* What every kernel clears first. A barrier must follow. */
template <unsigned block> PORT_INLINE void clear_lds()
{
    const port_vector zeroes = {0, 0, 0, 0};
    PORT_UNROLL
    for (unsigned i = 0; i < TOPK_V1_DIGITS / 4; i += block)
        if (i + thread_number() < TOPK_V1_DIGITS / 4)
            reinterpret_cast<port_vector *>(digit_count)[i + thread_number()] = zeroes;
    if (thread_number() == 0) {
        greatest_key = 0;
        least_key = TOPK_V1_KEY_MAX;
        threshold_key = TOPK_V1_KEY_MAX;
        sampled_top = TOPK_V1_KEY_MAX;
    }
}

/* ---- the threshold -------------------------------------------------------------------------------------------- */

/* Which of the groups' largest keys, counted from the largest down, almost surely lies below the cut: groups that hold a
 * key of the topk best are binomial; their mean, `deviations` of them, and a little for what a binomial is not. `group`
 * samples each; `filled` of 1: the share of groups that hold any. Only speed depends on the outcome. */
PORT_INLINE unsigned threshold_rank(unsigned n, unsigned topk, unsigned groups, unsigned group, float filled,
                                    float deviations)
{
    float none = 1.0f - (float)topk / (float)n;
    for (unsigned size = group; size > 1; size /= 2) none *= none;
    const float hit = filled * (1.0f - none);
    const float mean = (float)groups * hit;
    const float variance = mean * (1.0f - hit);
    float       deviation = 0.5f * (1.0f + variance); /* Heron's root */
    for (int i = 0; i < 4; i++) deviation = 0.5f * (deviation + variance / deviation);
    return smaller((unsigned)(mean + deviations * deviation + 0.7f * deviations), groups);
}

/* threshold_key becomes the key of place threshold_place among the groups' keys, least_key the last of all, sampled_top the
 * first. Barriers: before, and inside. */
template <unsigned block, unsigned groups> PORT_INLINE void choose_threshold()
{
    constexpr unsigned share = block / groups; /* threads that compare one group with all */
    const unsigned     part = thread_number() % share;
    const unsigned     mine = group_key[thread_number() / share];
    unsigned           greater = 0;
    PORT_UNROLL
    for (unsigned q = 0; q < groups / 4 / share; q++) {
        const port_vector other = reinterpret_cast<const port_vector *>(group_key)[q * share + part];
        greater += (other.x > mine ? 1u : 0u) + (other.y > mine ? 1u : 0u);
        greater += (other.z > mine ? 1u : 0u) + (other.w > mine ? 1u : 0u);
    }
    PORT_UNROLL
    for (unsigned mask = 1; mask < share; mask *= 2) greater += wave_exchange(greater, mask);
    const unsigned within = wave_smallest(greater < threshold_place ? mine : TOPK_V1_KEY_MAX);
    const unsigned least = wave_smallest(mine);
    if (greater == 0) sampled_top = mine; /* all that are equal store the same */
    if (lane_number() == 0) {
        lds_min(&threshold_key, within);
        lds_min(&least_key, least);
    }
    block_barrier();
}

/* ---- the cut -------------------------------------------------------------------------------------------------- */

/* Finds the digit in which place number `places` falls, digit 0 being the best, and clears digit_count and the list;
 * `chosen` tells. Where fewer than `places` are counted, no digit is chosen. Barriers: before, and inside. */
template <unsigned block> PORT_INLINE void choose_digit(unsigned places)
{
    constexpr unsigned choosers = 256; /* threads; more would only make the sums longer */
    constexpr unsigned vectors = TOPK_V1_DIGITS / 4 / choosers;
    port_vector        counts[vectors] = {};
    unsigned           sum = 0;
    unsigned           through = 0;
    const port_vector  zeroes = {0, 0, 0, 0};
    if (thread_number() < choosers) {
        PORT_UNROLL
        for (unsigned i = 0; i < vectors; i++) {
            port_vector *const at = reinterpret_cast<port_vector *>(digit_count) + thread_number() * vectors + i;
            counts[i] = *at;
            *at = zeroes;
            sum += counts[i].x + counts[i].y + counts[i].z + counts[i].w;
        }
        through = wave_sum_through(sum, (unsigned)wave_size());
        if (lane_number() == (unsigned)wave_size() - 1) wave_total[wave_number()] = through;
    }
    if (thread_number() >= block - TOPK_V1_LISTED) listed[block - 1 - thread_number()] = TOPK_V1_KEY_MAX;
    if (thread_number() == block - 1) {
        n_listed = 0;
        nearest = TOPK_V1_KEY_MAX;
        farthest = 0;
    }
    block_barrier();
    if (thread_number() < choosers) {
        unsigned total;
        unsigned before = waves_before<choosers>(total) + through - sum;
        if (thread_number() == 0) chosen[3] = total;
        if (before < places && places <= before + sum) {
            PORT_UNROLL
            for (unsigned i = 0; i < vectors * 4; i++) {
                const port_vector &v = counts[i / 4];
                const unsigned     count = i % 4 == 0 ? v.x : i % 4 == 1 ? v.y : i % 4 == 2 ? v.z : v.w;
                if (before < places && places <= before + count) {
                    chosen[0] = thread_number() * vectors * 4 + i;
                    chosen[1] = places - before;
                    chosen[2] = count;
                }
                before += count;
            }
        }
    }
    block_barrier();
}

/* The few distances of first to last to the list. A barrier must follow. */
template <unsigned items>
PORT_INLINE void list_between(const unsigned (&distances)[items], unsigned filled, unsigned first, unsigned last)
{
    unsigned hits = 0;
    unsigned hit = 0;
    PORT_UNROLL
    for (unsigned j = 0; j < items; j++) {
        if (j < filled && distances[j] - first <= last - first) {
            hits++;
            hit = distances[j];
        }
    }
    if (hits == 0) return;
    unsigned slot = lds_add(&n_listed, hits);
    listed[slot] = hit;
    if (hits == 1) return;
    PORT_UNROLL
    for (unsigned j = 0; j < items; j++) /* all but the last, which stands there */
        if (j < filled && distances[j] - first <= last - first && --hits != 0) listed[++slot] = distances[j];
}

/* The cut at place number `places` of the listed distances, by comparing each with all. Barriers: before, and inside. */
template <unsigned block> PORT_INLINE void cut_of_list(unsigned count, unsigned places, topk_v1_cut &cut)
{
    constexpr unsigned share = block / TOPK_V1_LISTED;
    const unsigned     entry = thread_number() / share;
    const unsigned     distance = listed[entry];
    unsigned           nearer = 0;
    unsigned           through = 0; /* nearer or equal */
    if (entry - lane_number() / share < count) {
        for (unsigned q = thread_number() % share; q * 4 < count; q += share) {
            const port_vector other = reinterpret_cast<const port_vector *>(listed)[q];
            nearer += (other.x < distance ? 1u : 0u) + (other.y < distance ? 1u : 0u);
            nearer += (other.z < distance ? 1u : 0u) + (other.w < distance ? 1u : 0u);
            through += (other.x <= distance ? 1u : 0u) + (other.y <= distance ? 1u : 0u);
            through += (other.z <= distance ? 1u : 0u) + (other.w <= distance ? 1u : 0u);
        }
        PORT_UNROLL
        for (unsigned mask = 1; mask < share; mask *= 2) {
            nearer += wave_exchange(nearer, mask);
            through += wave_exchange(through, mask);
        }
        if (entry < count && nearer < places && places <= through) {
            cut_distance = distance; /* all that are equal store the same */
            cut_ties = places == through ? 0 : places - nearer;
        }
    }
    block_barrier();
    cut.distance = cut_distance;
    cut.ties = cut_ties;
}

/* Where place number `places` falls among the distances up to `last`, of which no thread has more than the first `filled`.
 * Those up to `top` are thought to be few: they are one digit. Returns how many there are; fewer than `places`: no cut.
 * digit_count must be clear, and is again. Barriers: before, and inside. All threads get the same cut. */
template <unsigned block, unsigned items>
PORT_INLINE unsigned find_cut(const unsigned (&distances)[items], unsigned filled, unsigned top, unsigned last,
                              unsigned places, topk_v1_cut &cut)
{
    if (top > last) top = last;
    unsigned shift = last - top >= TOPK_V1_DIGITS ? 21u - (unsigned)leading_zeros(last - top) : 0u;
    PORT_UNROLL
    for (unsigned j = 0; j < items; j++) {
        if (j < filled && distances[j] <= last)
            (void)lds_add(&digit_count[(larger(distances[j], top) - top) >> shift], 1);
    }
    block_barrier();
    choose_digit<block>(places);
    const unsigned in_all = chosen[3];
    unsigned       first = 0;
    if (in_all < places) return in_all;
    for (bool outermost = true;; outermost = false) {
        const unsigned count = chosen[2];
        const unsigned width = ((1u << shift) - 1) + (outermost && chosen[0] == 0 ? top : 0);
        places = chosen[1];
        if (outermost && chosen[0] != 0) first = top;
        first += chosen[0] << shift;
        last = last - first < width ? last : first + width;
        cut.distance = last;
        cut.ties = 0;
        if (count == places) return in_all; /* the whole digit is selected */
        if (count <= TOPK_V1_LISTED) break;
        /* Many in one digit: often one and the same key, so that the next round's range is taken from what is there. */
        unsigned near = TOPK_V1_KEY_MAX;
        unsigned far = 0;
        PORT_UNROLL
        for (unsigned j = 0; j < items; j++) {
            const bool inside = j < filled && distances[j] - first <= last - first;
            near = inside ? smaller(near, distances[j]) : near;
            far = inside ? larger(far, distances[j]) : far;
        }
        near = wave_smallest(near);
        far = wave_largest(far);
        if (lane_number() == 0) lds_min(&nearest, near);
        if (lane_number() == 0) lds_max(&farthest, far);
        block_barrier();
        first = nearest;
        last = farthest;
        cut.distance = first;
        cut.ties = places;
        if (first == last) return in_all;
        shift = last - first >= TOPK_V1_DIGITS ? 21u - (unsigned)leading_zeros(last - first) : 0u;
        PORT_UNROLL
        for (unsigned j = 0; j < items; j++)
            if (j < filled && distances[j] - first <= last - first) (void)lds_add(&digit_count[(distances[j] - first) >> shift], 1);
        block_barrier();
        choose_digit<block>(places);
    }
    list_between(distances, filled, first, last);
    block_barrier();
    cut_of_list<block>(n_listed, places, cut);
    return in_all;
}

/* ---- the outputs ---------------------------------------------------------------------------------------------- */

PORT_INLINE void write_place(const topk_v1_outputs &outputs, unsigned place, unsigned index)
{
    if (outputs.raw_indices != nullptr) outputs.raw_indices[place] = (int)index;
    if (outputs.page_indices != nullptr) {
        const unsigned page = (unsigned)outputs.page_table[index >> outputs.page_shift];
        const unsigned within = index & ((1u << outputs.page_shift) - 1);
        outputs.page_indices[place] = (int)((page << outputs.page_shift) + within);
    }
}

/* A row that is not longer than topk: all of it, then -1. */
template <unsigned block> PORT_INLINE void write_short_row(const topk_v1_row &row, const topk_v1_outputs &outputs)
{
    for (unsigned place = thread_number(); place < row.topk; place += block) {
        if (place < row.n) {
            write_place(outputs, place, place);
        } else {
            if (outputs.raw_indices != nullptr) outputs.raw_indices[place] = -1;
            if (outputs.page_indices != nullptr) outputs.page_indices[place] = -1;
        }
    }
}

#endif
