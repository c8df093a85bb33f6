/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Top-k v1 for rows that a block holds in its registers, read once. Included by topk_v1.hip.
 *
 * A row of at least TOPK_V1_SAMPLED_FROM times topk scores takes its threshold from the scores that every eighth thread (of
 * 512) holds anyway. Ties at the cut go by place, counted across the block; no index is sorted.
 */
#ifndef TOPKCTS_TOPK_V1_REGISTERS_H
#define TOPKCTS_TOPK_V1_REGISTERS_H

#include "kernels/topk_v1_selection.h"

#define TOPK_V1_SAMPLED_FROM 4u
#define TOPK_V1_REGISTER_GROUPS 64u

/* Where a thread's keys lie in the row: four neighbours at a time, a wave's all together. */
template <unsigned items> struct topk_v1_register_places {
    unsigned first;
    PORT_MEMBER unsigned index(unsigned j) const { return first + j / 4 * 4 * (unsigned)wave_size() + j % 4; }
};

/* The bits of the thread's scores; where the row has none, those of key 0. */
template <unsigned items>
PORT_INLINE void load_bits(const topk_v1_row &row, const topk_v1_register_places<items> &at, unsigned (&bits)[items])
{
    const bool aligned = ((unsigned long long)row.scores & 15) == 0;
    PORT_UNROLL
    for (unsigned j = 0; j < items; j += 4) {
        const unsigned i = at.index(j);
        port_vector    v = {TOPK_V1_KEY_MAX, TOPK_V1_KEY_MAX, TOPK_V1_KEY_MAX, TOPK_V1_KEY_MAX};
        if (aligned && i + 4 <= row.n) {
            v = vector_bits(row.scores + i);
        } else {
            if (i < row.n) v.x = float_bits(row.scores + i);
            if (i + 1 < row.n) v.y = float_bits(row.scores + i + 1);
            if (i + 2 < row.n) v.z = float_bits(row.scores + i + 2);
            if (i + 3 < row.n) v.w = float_bits(row.scores + i + 3);
        }
        bits[j] = v.x;
        bits[j + 1] = v.y;
        bits[j + 2] = v.z;
        bits[j + 3] = v.w;
    }
}

/* Where the cut lies: above a key, or at it where the row was long enough for a sample. Few keys are above `top`. */
struct topk_v1_bounds {
    unsigned threshold;
    unsigned top;
};

/* From a sample, or the least key of the row less one and the greatest. The last barrier is inside. */
template <unsigned block, unsigned items>
PORT_INLINE topk_v1_bounds bound_keys(const topk_v1_row &row, const topk_v1_register_places<items> &at,
                                      const unsigned (&keys)[items])
{
    constexpr unsigned share = block / TOPK_V1_REGISTER_GROUPS;
    const unsigned     waves = block / (unsigned)wave_size();
    topk_v1_bounds     bounds;
    unsigned           greatest = 0;
    unsigned           in_half = 0;
    PORT_UNROLL
    for (unsigned j = 0; j < items; j++) {
        greatest = larger(greatest, keys[j]);
        if (j + 1 == items / 2) in_half = greatest;
    }
    if (row.n >= TOPK_V1_SAMPLED_FROM * row.topk) {
        if (thread_number() % share == 0)
            group_key[thread_number() / share] = items * row.topk <= row.n ? greatest : in_half;
        block_barrier();
        choose_threshold<block, TOPK_V1_REGISTER_GROUPS>();
        bounds.threshold = threshold_key;
        bounds.top = sampled_top;
        return bounds;
    }
    unsigned least = TOPK_V1_KEY_MAX;
    PORT_UNROLL
    for (unsigned j = 0; j < items; j++) least = smaller(least, at.index(j) < row.n ? keys[j] : TOPK_V1_KEY_MAX);
    greatest = wave_largest(greatest);
    least = wave_smallest(least);
    if (lane_number() == 0) {
        group_key[wave_number()] = greatest;
        group_key[TOPK_V1_MOST_GROUPS / 2 + wave_number()] = least;
    }
    block_barrier();
    bounds.top = wave_largest(group_key[lane_number() % waves]);
    least = wave_smallest(group_key[TOPK_V1_MOST_GROUPS / 2 + lane_number() % waves]);
    bounds.threshold = least - (least != 0 ? 1u : 0u);
    return bounds;
}

/* For each group of four of the thread's keys, how many of them are flagged, and how many by the lanes below. */
template <unsigned items> struct topk_v1_flagged {
    static constexpr unsigned words = (items / 4 + 1) / 2; /* two groups in a word */
    unsigned                  below[words];
    unsigned                  all[words]; /* by the wave */
};

template <unsigned items> PORT_INLINE topk_v1_flagged<items> count_flagged(unsigned flags)
{
    topk_v1_flagged<items> f;
    unsigned               of_wave = 0;
    PORT_UNROLL
    for (unsigned w = 0; w < f.words; w++) {
        const unsigned count =
            (unsigned)count_bits(flags >> (w * 8) & 15u) | (unsigned)count_bits(flags >> (w * 8 + 4) & 15u) << 16;
        const unsigned through = wave_sum_through(count, (unsigned)wave_size());
        f.below[w] = through - count;
        f.all[w] = wave_read(through, wave_size() - 1);
        of_wave += (f.all[w] & 0xffffu) + (f.all[w] >> 16);
    }
    if (lane_number() == 0) wave_total[wave_number()] = of_wave;
    return f;
}

/* How many keys are flagged before the thread's group number `group`, given those before the wave. */
template <unsigned items>
PORT_INLINE unsigned flagged_before(const topk_v1_flagged<items> &f, unsigned before_wave, unsigned group)
{
    unsigned before = before_wave + (f.below[group / 2] >> group % 2 * 16 & 0xffffu);
    PORT_UNROLL
    for (unsigned g = 0; g < group; g++) before += f.all[g / 2] >> g % 2 * 16 & 0xffffu;
    return before;
}

/* Flags of the keys at the cut that are selected: the first `ties`, by index. Barriers: before, and inside. */
template <unsigned block, unsigned items>
PORT_INLINE unsigned flag_ties(const topk_v1_cut &cut, const topk_v1_register_places<items> &at, unsigned n,
                               const unsigned (&distances)[items])
{
    unsigned tied = 0;
    unsigned flags = 0;
    unsigned total;
    PORT_UNROLL
    for (unsigned j = 0; j < items; j++)
        if (distances[j] == cut.distance && at.index(j) < n) tied |= 1u << j;
    const topk_v1_flagged<items> f = count_flagged<items>(tied);
    block_barrier();
    const unsigned before_wave = waves_before<block>(total);
    PORT_UNROLL
    for (unsigned group = 0; group < items / 4; group++) {
        unsigned before = flagged_before(f, before_wave, group);
        for (unsigned rest = tied & 15u << group * 4; rest != 0 && before < cut.ties; rest &= rest - 1) {
            flags |= rest & (0u - rest);
            before++;
        }
    }
    block_barrier();
    return flags;
}

/* The selected indices to chosen_index, in ascending order. Barriers: before, inside, and after. */
template <unsigned block, unsigned items>
PORT_INLINE void place_selected(const topk_v1_cut &cut, const topk_v1_register_places<items> &at, unsigned n,
                                const unsigned (&distances)[items])
{
    const unsigned limit = cut.distance + (cut.ties == 0 ? 1u : 0u); /* no distance that counts is the largest word */
    unsigned       flags = 0;
    unsigned       total;
    PORT_UNROLL
    for (unsigned j = 0; j < items; j++) flags |= distances[j] < limit ? 1u << j : 0u;
    if (cut.ties != 0) flags |= flag_ties<block>(cut, at, n, distances);
    const topk_v1_flagged<items> f = count_flagged<items>(flags);
    block_barrier();
    const unsigned before_wave = waves_before<block>(total);
    PORT_UNROLL
    for (unsigned group = 0; group < items / 4; group++) {
        unsigned place = flagged_before(f, before_wave, group);
        for (unsigned rest = flags >> group * 4 & 15u; rest != 0; rest &= rest - 1)
            chosen_index[place++] = at.index(group * 4) + lowest_bit(rest);
    }
}

/* How many keys of the row are equal to `key`. A barrier must stand before, and after. */
template <unsigned block, unsigned items>
PORT_INLINE unsigned count_equal(const topk_v1_register_places<items> &at, unsigned n, const unsigned (&distances)[items],
                                 unsigned distance)
{
    unsigned equal = 0;
    unsigned total;
    PORT_UNROLL
    for (unsigned j = 0; j < items; j++) equal += distances[j] == distance && at.index(j) < n ? 1u : 0u;
    (void)block_prefix<block>(equal, total);
    return total;
}

template <unsigned block, unsigned items>
PORT_INLINE void select_in_registers(const topk_v1_row &row, const topk_v1_outputs &outputs)
{
    if (row.n <= row.topk) {
        write_short_row<block>(row, outputs);
        return;
    }
    const topk_v1_register_places<items> at = {wave_number() * (unsigned)wave_size() * items + lane_number() * 4};
    unsigned                             distances[items]; /* at first the scores' bits, then their keys */
    load_bits(row, at, distances);
    clear_lds<block>();
    if (thread_number() == 0) /* while the loads are on their way */
        threshold_place = threshold_rank(row.n, row.topk, TOPK_V1_REGISTER_GROUPS,
                                         items * row.topk <= row.n ? items : items / 2,
                                         (float)row.n / (float)(block * items), 4.0f);
    PORT_UNROLL
    for (unsigned j = 0; j < items; j++) distances[j] = full_key(distances[j]);
    topk_v1_bounds bounds = bound_keys<block>(row, at, distances);
    topk_v1_cut    cut = {0, 0};
    PORT_UNROLL
    for (unsigned j = 0; j < items; j++) distances[j] = ~distances[j];
    for (;;) {
        unsigned above = 0;
        if (bounds.threshold != TOPK_V1_KEY_MAX)
            above = find_cut<block>(distances, items, ~bounds.top, ~bounds.threshold - 1, row.topk, cut);
        if (above >= row.topk) break;
        block_barrier();
        if (above + count_equal<block>(at, row.n, distances, ~bounds.threshold) >= row.topk) {
            cut.distance = ~bounds.threshold;
            cut.ties = row.topk - above;
            block_barrier();
            break;
        }
        bounds.threshold = 0;
        block_barrier();
    }
    place_selected<block>(cut, at, row.n, distances);
    block_barrier();
    for (unsigned place = thread_number(); place < row.topk; place += block)
        write_place(outputs, place, chosen_index[place]);
}

#endif
