/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Top-k v1 for rows that several blocks share: each reads a segment of its own and keeps, in index order, the scores above
 * the row's sampled threshold and the first of those equal to it; a second launch selects among what was kept. Included by
 * topk_v1.hip.
 *
 *     keep_segment       from a segment of the row to its part of the workspace
 *     merge_segments     from the workspace to the outputs
 *     merge_otherwise    the same where ties decide, and where the sample had misled
 *
 * What is kept is marked in bitmaps in LDS first, so that it is written in index order whatever the order of arrival.
 */
#ifndef TOPKCTS_TOPK_V1_SPLIT_H
#define TOPKCTS_TOPK_V1_SPLIT_H

#include "kernels/topk_v1_long.h"

#define TOPK_V1_MOST_SPLITS 64u /* topk_v1.h repeats it */
#define TOPK_V1_BITMAP_WORDS (TOPK_V1_DIGITS / 2)
#define TOPK_V1_BITMAP_VECTORS (TOPK_V1_BITMAP_WORDS * 8) /* a bit a score */

/* A row's part of the workspace; its segments follow. */
struct topk_v1_kept {
    unsigned threshold;
    unsigned top; /* few scores of the row are above this key */
    unsigned unused[62];
    unsigned count[TOPK_V1_MOST_SPLITS]; /* scores above the threshold, at most as many as the segment has room for */
    unsigned ties[TOPK_V1_MOST_SPLITS];  /* equal to it, at most topk */
    unsigned best[TOPK_V1_MOST_SPLITS];  /* 1: there was no room; the segment's topk best stand there instead, in no order */
};

/* What a segment kept, in index order. */
struct topk_v1_segment {
    unsigned bits[TOPK_V1_BUFFER]; /* above the threshold */
    unsigned indices[TOPK_V1_BUFFER];
    unsigned tie_indices[TOPK_V1_MOST_TOPK];
};

PORT_INLINE topk_v1_kept *kept_of_row(void *workspace, unsigned row, unsigned splits)
{
    const unsigned long long bytes = sizeof(topk_v1_kept) + (unsigned long long)splits * sizeof(topk_v1_segment);
    return reinterpret_cast<topk_v1_kept *>(static_cast<char *>(workspace) + row * bytes);
}

PORT_INLINE topk_v1_segment *segment_of(topk_v1_kept *kept, unsigned split)
{
    return reinterpret_cast<topk_v1_segment *>(kept + 1) + split;
}

/* ---- a segment ------------------------------------------------------------------------------------------------ */

/* A row as vectors that are aligned to 16 bytes: number v has the scores from 4 v - lead on. The first and the last may lie
 * in the row in part only. */
struct topk_v1_vectors {
    const float *scores;
    unsigned     n; /* scores */
    unsigned     lead;
    PORT_MEMBER unsigned count() const { return (n + lead + 3) / 4; }
    PORT_MEMBER unsigned index(unsigned v) const { return 4 * v - lead; } /* wraps for scores before the row */
};

/* The bits of vector v; those of key 0 where the row has none. */
PORT_INLINE port_vector bits_of_vector(const topk_v1_vectors &row, unsigned v)
{
    const unsigned i = row.index(v);
    if (i < row.n && i + 4 <= row.n) return vector_bits(row.scores + i);
    port_vector bits = {TOPK_V1_KEY_MAX, TOPK_V1_KEY_MAX, TOPK_V1_KEY_MAX, TOPK_V1_KEY_MAX};
    if (i < row.n) bits.x = float_bits(row.scores + i);
    if (i + 1 < row.n) bits.y = float_bits(row.scores + (i + 1));
    if (i + 2 < row.n) bits.z = float_bits(row.scores + (i + 2));
    if (i + 3 < row.n) bits.w = float_bits(row.scores + (i + 3));
    return bits;
}

template <unsigned block, unsigned together>
PORT_INLINE void load_vectors(const topk_v1_vectors &row, unsigned first, unsigned end,
                              port_vector (&vectors)[together])
{
    PORT_UNROLL
    for (unsigned q = 0; q < together; q++) {
        const unsigned v = first + q * block + thread_number();
        vectors[q] = {TOPK_V1_KEY_MAX, TOPK_V1_KEY_MAX, TOPK_V1_KEY_MAX, TOPK_V1_KEY_MAX};
        if (v < end) vectors[q] = bits_of_vector(row, v);
    }
}

/* Marks the scores above the threshold among four neighbours, from index i on, in the first bitmap and puts them into the
 * buffer as far as there is room; marks those equal to it in the second. `place`: the vector's number in the bitmaps. */
PORT_INLINE void mark_vector(const port_vector &bits, unsigned i, unsigned n, unsigned threshold, unsigned place)
{
    const unsigned shift = place % 8 * 4;
    unsigned       above = 0;
    unsigned       tied = 0;
    PORT_UNROLL
    for (unsigned c = 0; c < 4; c++) {
        const unsigned key = full_key(c == 0 ? bits.x : c == 1 ? bits.y : c == 2 ? bits.z : bits.w);
        above |= key > threshold ? 1u << c : 0u;
        tied |= key == threshold && i + c < n ? 1u << c : 0u; /* what is no score has key 0 */
    }
    if (tied != 0) lds_or(&digit_count[TOPK_V1_BITMAP_WORDS + place / 8], tied << shift);
    if (above == 0) return;
    lds_or(&digit_count[place / 8], above << shift);
    unsigned slot = lds_add(&n_kept, (unsigned)count_bits(above));
    PORT_UNROLL
    for (unsigned c = 0; c < 4; c++) {
        if ((above >> c & 1u) == 0 || slot >= TOPK_V1_BUFFER) continue;
        dynamic_lds[slot] = c == 0 ? bits.x : c == 1 ? bits.y : c == 2 ? bits.z : bits.w;
        dynamic_lds[TOPK_V1_BUFFER + slot] = place * 4 + c;
        slot++;
    }
}

/* Marks what the vectors hold of the threshold or better; the thread's are number `first`, and every block-th from there. As
 * signed integers, scores order like their bits among those that are not negative (flip 0); with flip 0x7fffffff all that
 * are not negative lie above all that are. `least` is the threshold's own number in that order. */
template <unsigned block, unsigned flip, unsigned together>
PORT_INLINE void mark_vectors(const topk_v1_vectors &row, const port_vector (&vectors)[together], unsigned first,
                              unsigned base, unsigned threshold, int least)
{
    PORT_UNROLL
    for (unsigned q = 0; q < together; q++) {
        const int      x = (int)(vectors[q].x ^ flip);
        const int      y = (int)(vectors[q].y ^ flip);
        const int      z = (int)(vectors[q].z ^ flip);
        const int      w = (int)(vectors[q].w ^ flip);
        const int      xy = x > y ? x : y;
        const int      zw = z > w ? z : w;
        const unsigned v = first + q * block;
        if ((xy > zw ? xy : zw) >= least) mark_vector(vectors[q], row.index(v), row.n, threshold, v - base);
    }
}

/* What a segment has: scores above the threshold, scores equal to it, and how many of the former are in the buffer. */
struct topk_v1_found {
    unsigned count;
    unsigned ties;
    unsigned buffered;
};

/* Counts what the bitmaps have marked on, whether there is room or not. In place of the second bitmap comes how many scores
 * are marked before each word; the ties go to the segment. Barriers: before, inside, and after. */
template <unsigned block>
PORT_INLINE void count_marked(const topk_v1_vectors &row, topk_v1_segment *segment, unsigned topk, unsigned base,
                              topk_v1_found &found)
{
    constexpr unsigned words = TOPK_V1_BITMAP_WORDS / block;
    unsigned *const    above = &digit_count[thread_number() * words];
    unsigned *const    before = above + TOPK_V1_BITMAP_WORDS;
    unsigned           tied[words];
    unsigned           both = 0; /* ties in the upper half: a bitmap has 2 to the 15 bits */
    unsigned           total;
    found.buffered = smaller(n_kept, TOPK_V1_BUFFER);
    PORT_UNROLL
    for (unsigned w = 0; w < words; w++) {
        tied[w] = before[w];
        both += (unsigned)count_bits(above[w]) + ((unsigned)count_bits(tied[w]) << 16);
    }
    both = block_prefix<block>(both, total);
    unsigned tie_place = found.ties + (both >> 16);
    PORT_UNROLL
    for (unsigned w = 0; w < words; w++) {
        const unsigned first = row.index(base + (thread_number() * words + w) * 8);
        before[w] = found.count + (both & 0xffffu);
        both += (unsigned)count_bits(above[w]);
        for (; tied[w] != 0 && tie_place < topk; tied[w] &= tied[w] - 1, tie_place++)
            segment->tie_indices[tie_place] = first + lowest_bit(tied[w]);
    }
    found.count += total & 0xffffu;
    found.ties += total >> 16;
}

/* Writes what is in the buffer to its places in the segment. A barrier must stand before. */
template <unsigned block>
PORT_INLINE void write_marked(const topk_v1_vectors &row, topk_v1_segment *segment, unsigned base, unsigned buffered)
{
    for (unsigned slot = thread_number(); slot < buffered; slot += block) {
        const unsigned place = dynamic_lds[TOPK_V1_BUFFER + slot];
        const unsigned word = digit_count[place / 32];
        const unsigned to = digit_count[TOPK_V1_BITMAP_WORDS + place / 32] +
                            (unsigned)count_bits(word & ((1u << place % 32) - 1));
        if (to >= TOPK_V1_BUFFER) continue;
        segment->bits[to] = dynamic_lds[slot];
        segment->indices[to] = row.index(base) + place;
    }
}

/* Clears the bitmaps and the buffer. Barriers: before, and inside. */
template <unsigned block> PORT_INLINE void clear_marks()
{
    block_barrier();
    for (unsigned i = thread_number(); i < TOPK_V1_DIGITS; i += block) digit_count[i] = 0;
    if (thread_number() == 0) n_kept = 0;
    block_barrier();
}

/* One pass over vectors begin to end, of which the first are `ahead`: what lies above the threshold, and the first that are
 * equal to it, to the segment. Stops where there is no more room. `done` is told what was found before all is written.
 * Barriers: before, and inside; not after. */
template <unsigned block, unsigned together, typename Done>
PORT_INLINE topk_v1_found keep_marked(const topk_v1_vectors &row, unsigned begin, unsigned end, unsigned threshold,
                                      unsigned topk, topk_v1_segment *segment, port_vector (&ahead)[together],
                                      const Done &done)
{
    topk_v1_found found = {0, 0, 0};
    for (unsigned base = begin;; base += TOPK_V1_BITMAP_VECTORS) {
        const unsigned marked = smaller(base + TOPK_V1_BITMAP_VECTORS, end);
        for (unsigned v = base; v < marked; v += together * block) {
            port_vector now[together];
            PORT_UNROLL
            for (unsigned q = 0; q < together; q++) now[q] = ahead[q];
            load_vectors<block>(row, v + together * block, end, ahead);
            if (threshold > 0x80000000u)
                mark_vectors<block, 0>(row, now, v + thread_number(), base, threshold, (int)(threshold ^ 0x80000000u));
            else /* zeroes have two numbers: -1 is the lesser */
                mark_vectors<block, 0x7fffffff>(row, now, v + thread_number(), base, threshold,
                                                threshold == 0x80000000u ? -1 : (int)(threshold ^ 0x80000000u));
        }
        block_barrier();
        count_marked<block>(row, segment, topk, base, found);
        const bool last = marked == end || found.count > TOPK_V1_BUFFER;
        if (last && thread_number() == 0) done.tell(found);
        block_barrier();
        write_marked<block>(row, segment, base, found.buffered);
        if (last) return found;
        clear_marks<block>();
    }
}

/* Where a segment's header goes. */
struct topk_v1_header {
    topk_v1_kept *kept;
    unsigned      split;
    unsigned      topk;
    unsigned      threshold; /* of the row */
    bool          own;       /* the segment has a higher one of its own: of what is equal to the row's none is needed */
    PORT_MEMBER void tell(const topk_v1_found &found) const
    {
        kept->count[split] = smaller(found.count, TOPK_V1_BUFFER);
        kept->ties[split] = own ? 0 : smaller(found.ties, topk);
        kept->best[split] = 0;
        if (split != 0) return;
        kept->threshold = threshold;
        kept->top = sampled_top;
    }
};

/* What keep_segment() does where there is no room for all: a higher threshold that leaves the segment topk scores, if one is
 * found among the first `buffered`; otherwise just its topk best, in no order. Barriers: before, and inside. */
template <unsigned block>
PORT_RARE void keep_fewer(const topk_v1_row row, const topk_v1_vectors vectors, unsigned begin, unsigned end,
                          topk_v1_segment *segment, topk_v1_header header, unsigned buffered)
{
    constexpr unsigned turns = 2;
    unsigned           threshold = header.threshold;
    header.own = true;
    for (unsigned turn = 0; turn < turns && buffered >= row.topk; turn++) {
        clear_marks<block>();
        const unsigned raised = raised_threshold<block>(row, threshold, buffered) - 1;
        if (raised <= threshold) break;
        threshold = raised;
        port_vector ahead[4];
        load_vectors<block>(vectors, begin, end, ahead);
        block_barrier();
        const topk_v1_found found =
            keep_marked<block>(vectors, begin, end, threshold, row.topk, segment, ahead, header);
        if (found.count <= TOPK_V1_BUFFER) return;
        buffered = found.buffered;
    }
    const topk_v1_scores_source source = {row.scores};
    topk_v1_filter              filter = {header.threshold, 0, next_key(header.threshold), 0};
    clear_marks<block>();
    absorb<block>(source, header.split == 0 ? 0 : vectors.index(begin), smaller(vectors.index(end), row.n), row.n, row.topk,
                  filter);
    if (filter.count > row.topk) prune<block>(filter, row.n, row.topk);
    for (unsigned i = thread_number(); i < filter.count; i += block) {
        segment->bits[i] = dynamic_lds[i];
        segment->indices[i] = dynamic_lds[TOPK_V1_BUFFER + i];
    }
    if (thread_number() != 0) return;
    header.tell({filter.count, 0, 0});
    header.kept->best[header.split] = 1;
}

/* Keeps one segment's scores above the row's threshold and the first of those equal to it. */
template <unsigned block>
PORT_INLINE void keep_segment(const topk_v1_row &row, topk_v1_kept *kept, unsigned split, unsigned splits)
{
    if (row.n <= row.topk) return;
    const topk_v1_vectors  vectors = {row.scores, row.n, (unsigned)((unsigned long long)row.scores >> 2 & 3u)};
    const unsigned         length = (vectors.count() + splits - 1) / splits;
    const unsigned         begin = smaller(split * length, vectors.count());
    const unsigned         end = smaller(begin + length, vectors.count());
    topk_v1_segment *const segment = segment_of(kept, split);
    topk_v1_header         header = {kept, split, row.topk, 0, false};
    if (begin == end) {
        if (thread_number() == 0) header.tell({0, 0, 0});
        return;
    }
    port_vector ahead[4];
    load_vectors<block>(vectors, begin, end, ahead); /* on their way while the row is sampled */
    header.threshold = sample_threshold<block>(row);
    const topk_v1_found found =
        keep_marked<block>(vectors, begin, end, header.threshold, row.topk, segment, ahead, header);
    if (found.count > TOPK_V1_BUFFER)
        keep_fewer<block>(row, vectors, begin, end, segment, header, found.buffered);
}

/* ---- the row -------------------------------------------------------------------------------------------------- */

/* Of a number for each segment the sum over those before it, to `listed`; in place TOPK_V1_MOST_SPLITS that over all, and in
 * the next whether any segment has its best only. By the first wave; a barrier must follow. */
PORT_INLINE void list_begins(const topk_v1_kept *kept, const unsigned (&numbers)[TOPK_V1_MOST_SPLITS], unsigned splits)
{
    const unsigned share = TOPK_V1_MOST_SPLITS / (unsigned)wave_size(); /* 1 or 2 */
    const unsigned split = lane_number() * share;
    if (wave_number() != 0) return;
    const bool     second = share == 2 && split + 1 < splits;
    const unsigned mine = split < splits ? numbers[split] : 0;
    const unsigned next = second ? numbers[split + 1] : 0;
    const bool     best = (split < splits && kept->best[split] != 0) || (second && kept->best[split + 1] != 0);
    const bool     any_best = wave_ballot(best) != 0;
    const unsigned through = wave_sum_through(mine + next, (unsigned)wave_size());
    listed[split] = through - next - mine;
    if (share == 2) listed[split + 1] = through - next;
    if (lane_number() == (unsigned)wave_size() - 1) {
        listed[TOPK_V1_MOST_SPLITS] = through;
        listed[TOPK_V1_MOST_SPLITS + 1] = any_best ? 1 : 0;
    }
}

/* The segment that has place number `place`, given where each one's begin, and in the next place how many there are. */
PORT_INLINE unsigned segment_at(const unsigned *begins, unsigned place)
{
    unsigned split = 0;
    PORT_UNROLL
    for (unsigned step = TOPK_V1_MOST_SPLITS / 2; step != 0; step /= 2)
        if (begins[split + step] <= place) split += step;
    return split;
}

/* What of a wave's slots is flagged before each of the thread's own, and in wave_total how much in all. */
template <unsigned slots> PORT_INLINE void count_slots(unsigned flags, unsigned filled, unsigned (&before)[slots])
{
    const unsigned long long below = (1ull << lane_number()) - 1;
    unsigned                 total = 0;
    PORT_UNROLL
    for (unsigned j = 0; j < slots; j++) {
        before[j] = 0;
        if (j >= filled) continue;
        const unsigned long long flagged = wave_ballot((flags >> j & 1u) != 0);
        before[j] = total + (unsigned)count_bits(flagged & below);
        total += (unsigned)count_bits(flagged);
    }
    if (lane_number() == 0) wave_total[wave_number()] = total;
}

/* The selection among all scores above the threshold, `total` of them, that fit into the threads' slots. Those of a wave lie
 * together and the slots of its lanes side by side, so that places in the list are places in the row. */
template <unsigned block>
PORT_INLINE void select_kept(const topk_v1_row &row, const topk_v1_outputs &outputs, topk_v1_kept *kept,
                             unsigned total)
{
    constexpr unsigned slots = TOPK_V1_BUFFER / block;
    const unsigned     filled = (total + block - 1) / block;
    const unsigned     top = ~kept->top;
    const unsigned     last = ~kept->threshold - 1;
    const unsigned     first = wave_number() * filled * (unsigned)wave_size() + lane_number();
    unsigned           distances[slots]; /* at first the scores' bits */
    unsigned           indices[slots];
    unsigned           before[slots];
    unsigned           flags = 0;
    topk_v1_cut        cut = {0, 0};
    unsigned           split = segment_at(listed, smaller(first, total - 1));
    PORT_UNROLL
    for (unsigned j = 0; j < slots; j++) { /* all on their way before the first is looked at */
        distances[j] = indices[j] = TOPK_V1_KEY_MAX;
        if (j >= filled) continue;
        const unsigned place = smaller(first + j * (unsigned)wave_size(), total - 1);
        while (listed[split + 1] <= place) split++; /* the next of these, mostly */
        const topk_v1_segment *const segment = segment_of(kept, split);
        distances[j] = segment->bits[place - listed[split]];
        indices[j] = segment->indices[place - listed[split]];
    }
    PORT_UNROLL
    for (unsigned j = 0; j < slots; j++) {
        const unsigned distance = ~full_key(distances[j]);
        distances[j] = first + j * (unsigned)wave_size() < total && j < filled ? distance : TOPK_V1_KEY_MAX;
    }
    (void)find_cut<block>(distances, filled, top, last, row.topk, cut);
    const unsigned limit = cut.distance + (cut.ties == 0 ? 1u : 0u);
    PORT_UNROLL
    for (unsigned j = 0; j < slots; j++) flags |= distances[j] < limit ? 1u << j : 0u;
    unsigned all;
    if (cut.ties != 0) { /* the first of those at the cut */
        unsigned tied = 0;
        PORT_UNROLL
        for (unsigned j = 0; j < slots; j++) tied |= distances[j] == cut.distance ? 1u << j : 0u;
        count_slots(tied, filled, before);
        block_barrier();
        const unsigned begin = waves_before<block>(all);
        PORT_UNROLL
        for (unsigned j = 0; j < slots; j++)
            if ((tied >> j & 1u) != 0 && begin + before[j] < cut.ties) flags |= 1u << j;
        block_barrier();
    }
    count_slots(flags, filled, before);
    block_barrier();
    const unsigned begin = waves_before<block>(all);
    PORT_UNROLL
    for (unsigned j = 0; j < slots; j++)
        if ((flags >> j & 1u) != 0) chosen_index[begin + before[j]] = indices[j];
    block_barrier();
    for (unsigned place = thread_number(); place < row.topk; place += block)
        write_place(outputs, place, chosen_index[place]);
}

/* How many of the ascending words are less than x. */
PORT_INLINE unsigned count_less(const unsigned *words, unsigned count, unsigned x)
{
    unsigned begin = 0;
    while (count > 0) {
        const unsigned half = count / 2;
        const bool     less = words[begin + half] < x;
        begin += less ? half + 1 : 0;
        count = less ? count - half - 1 : half;
    }
    return begin;
}

/* All scores above the threshold, `total` of them, and the first that are equal to it. false, and nothing written: those
 * do not suffice. */
template <unsigned block>
PORT_INLINE bool select_with_ties(const topk_v1_row &row, const topk_v1_outputs &outputs, topk_v1_kept *kept,
                                  unsigned splits, unsigned total)
{
    unsigned *const above = dynamic_lds;
    unsigned *const tied = dynamic_lds + TOPK_V1_MOST_TOPK;
    const unsigned  needed = row.topk - total;
    for (unsigned place = thread_number(); place < total; place += block) {
        const unsigned split = segment_at(listed, place);
        above[place] = segment_of(kept, split)->indices[place - listed[split]];
    }
    block_barrier();
    list_begins(kept, kept->ties, splits);
    block_barrier();
    if (listed[TOPK_V1_MOST_SPLITS] < needed) return false;
    for (unsigned place = thread_number(); place < needed; place += block) {
        const unsigned split = segment_at(listed, place);
        tied[place] = segment_of(kept, split)->tie_indices[place - listed[split]];
    }
    block_barrier();
    for (unsigned i = thread_number(); i < total; i += block)
        write_place(outputs, i + count_less(tied, needed, above[i]), above[i]);
    for (unsigned i = thread_number(); i < needed; i += block)
        write_place(outputs, i + count_less(above, total, tied[i]), tied[i]);
    return true;
}

/* What all segments kept, as absorb() reads it: chosen_index has what list_begins() listed. */
struct topk_v1_kept_source {
    topk_v1_kept *kept;
    PORT_MEMBER unsigned bits(unsigned i) const
    {
        const unsigned split = segment_at(chosen_index, i);
        return segment_of(kept, split)->bits[i - chosen_index[split]];
    }
    PORT_MEMBER unsigned index(unsigned i) const
    {
        const unsigned split = segment_at(chosen_index, i);
        return segment_of(kept, split)->indices[i - chosen_index[split]];
    }
};

/* The scores above the threshold of all `total` that segments kept to the buffer, in the order in which they come, as far as
 * there is room; n_kept tells how many they are. A barrier must follow. */
template <unsigned block>
PORT_INLINE void buffer_kept(const topk_v1_kept_source &source, unsigned total, unsigned threshold)
{
    constexpr unsigned together = 4;
    for (unsigned base = thread_number(); base < total; base += together * block) {
        unsigned bits[together];
        unsigned indices[together];
        PORT_UNROLL
        for (unsigned q = 0; q < together; q++) {
            const unsigned i = smaller(base + q * block, total - 1);
            bits[q] = source.bits(i);
            indices[q] = source.index(i);
        }
        PORT_UNROLL
        for (unsigned q = 0; q < together; q++) {
            if (base + q * block >= total || full_key(bits[q]) <= threshold) continue;
            const unsigned slot = lds_add(&n_kept, 1);
            if (slot >= TOPK_V1_BUFFER) continue;
            dynamic_lds[slot] = bits[q];
            dynamic_lds[TOPK_V1_BUFFER + slot] = indices[q];
        }
    }
}

/* The selection where a row's slots do not do: `total` scores above the threshold, which are too many for the slots, or of
 * which a segment has its best only, or which are fewer than topk. */
template <unsigned block>
PORT_RARE void merge_otherwise(const topk_v1_row row, const topk_v1_outputs outputs, topk_v1_kept *kept,
                               unsigned splits, unsigned total)
{
    constexpr unsigned turns = 3;
    if (total < row.topk) {
        if (select_with_ties<block>(row, outputs, kept, splits, total)) return;
        block_barrier();
        select_long<block, 1>(row, outputs); /* the sample had misled: another one */
        return;
    }
    const topk_v1_kept_source source = {kept};
    unsigned                  threshold = kept->threshold;
    unsigned                  count;
    if (thread_number() < TOPK_V1_MOST_SPLITS) chosen_index[thread_number()] = listed[thread_number()];
    if (thread_number() == 0) sampled_top = kept->top;
    for (unsigned turn = 1;; turn++) {
        if (thread_number() == 0) n_kept = 0;
        block_barrier();
        buffer_kept<block>(source, total, threshold);
        block_barrier();
        count = n_kept;
        if (count <= TOPK_V1_BUFFER || turn == turns) break;
        const unsigned raised = raised_threshold<block>(row, threshold, TOPK_V1_BUFFER) - 1;
        if (raised <= threshold) break;
        threshold = raised;
        block_barrier();
    }
    topk_v1_filter filter = {threshold, 0, next_key(threshold), smaller(count, TOPK_V1_BUFFER)};
    if (count > TOPK_V1_BUFFER) {
        filter.count = 0;
        block_barrier();
        absorb<block>(source, 0, total, row.n, row.topk, filter);
    }
    finish_row<block>(row, outputs, filter.count, sampled_top, filter.low, threshold, false);
}

template <unsigned block>
PORT_INLINE void merge_segments(const topk_v1_row &row, const topk_v1_outputs &outputs, topk_v1_kept *kept,
                                unsigned splits)
{
    clear_lds<block>();
    wait_for_launches_before();
    let_next_launch_begin();
    if (row.n <= row.topk) {
        write_short_row<block>(row, outputs);
        return;
    }
    list_begins(kept, kept->count, splits);
    block_barrier();
    const unsigned total = listed[TOPK_V1_MOST_SPLITS];
    if (total >= row.topk && total <= TOPK_V1_BUFFER && listed[TOPK_V1_MOST_SPLITS + 1] == 0)
        select_kept<block>(row, outputs, kept, total);
    else
        merge_otherwise<block>(row, outputs, kept, splits, total);
}

#endif
