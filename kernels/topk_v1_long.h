/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Top-k v1 for rows of any length: the scores above a sampled threshold are kept in a buffer in LDS while the row is read
 * once, and the selection is among these. Included by topk_v1.hip.
 *
 *     sample_threshold   what to keep
 *     keep_above         one pass over a row, or a part of it
 *     absorb             any pass, slower, that cannot overflow
 *     finish_row         from the buffer to the outputs
 *     select_long        all of it, for a block that has the row to itself
 */
#ifndef TOPKCTS_TOPK_V1_LONG_H
#define TOPKCTS_TOPK_V1_LONG_H

#include "kernels/topk_v1_selection.h"

#define TOPK_V1_LONG_GROUPS 128u
#define TOPK_V1_KEPT_WHOLE 2304u    /* rows that are shorter are kept without a threshold */
#define TOPK_V1_BUFFER 4096u        /* scores in LDS; topk_v1.h repeats it */

/* [TOPK_V1_BUFFER] bits of kept scores, then as many indices; in the end the ordered indices. */
extern __shared__ unsigned dynamic_lds[];

static __shared__ unsigned n_kept; /* more than there is room for: the others are lost */

/* ---- rows of any length: what is kept ------------------------------------------------------------------------- */

/* Where kept scores go, in the order in which they come. */
struct topk_v1_buffer_sink {
    static constexpr unsigned room = TOPK_V1_BUFFER;
    unsigned                 *bits; /* dynamic_lds */
    PORT_MEMBER void put(unsigned slot, unsigned of_score, unsigned index) const
    {
        bits[slot] = of_score;
        bits[TOPK_V1_BUFFER + slot] = index;
    }
};

PORT_INLINE unsigned hashed(unsigned x)
{
    x *= 0x9e3779b1u;
    x = (x ^ x >> 15) * 0x85ebca77u;
    return x ^ x >> 13;
}

/* An order of bits like that of keys, with two zeroes, in two operations. */
PORT_INLINE int signed_order(unsigned bits) { return (int)(bits ^ ((unsigned)((int)bits >> 31) & 0x7fffffffu)); }

/* The largest of four scores, in signed_order(). */
PORT_INLINE int largest_of_vector(const port_vector &bits)
{
    const int x = signed_order(bits.x);
    const int y = signed_order(bits.y);
    const int z = signed_order(bits.z);
    const int w = signed_order(bits.w);
    const int xy = x > y ? x : y;
    const int zw = z > w ? z : w;
    return xy > zw ? xy : zw;
}

/* The threshold of a row from samples, others for each `seed`: lines of 32 neighbours, one in every equal part of the row, of
 * which each goes to eight threads. A group's threads have lines from all over the row, so that rows that rise or fall
 * sample well. 0 for a row that is short enough to be kept whole. Clears what the kernels count in. Ends with a barrier. */
template <unsigned block, unsigned seed = 0> PORT_INLINE unsigned sample_threshold(const topk_v1_row &row)
{
    constexpr unsigned share = block / TOPK_V1_LONG_GROUPS;
    constexpr unsigned most = 2048 / block; /* vectors a thread */
    const unsigned     head = (4u - (unsigned)((unsigned long long)row.scores >> 2 & 3u)) & 3u;
    const unsigned     n_lines = (row.n - smaller(head, row.n)) / 32;
    if (thread_number() == 0) n_kept = 0;
    if (row.n < TOPK_V1_KEPT_WHOLE || row.n < 4 * row.topk) {
        clear_lds<block>();
        block_barrier();
        return 0;
    }
    unsigned each = 4 * most; /* samples a thread: a group is to hold at most one key in two of the topk best */
    while (each > 1 && (2 * each * share > row.n / row.topk || n_lines * 32 < each * block)) each /= 2;
    const unsigned steps = each > 4 ? each / 4 : 1;
    const unsigned parts = block / 8 * steps; /* a power of two */
    const unsigned width = n_lines / parts;
    port_vector    read[most];
    PORT_UNROLL
    for (unsigned step = 0; step < most; step++) {
        if (step >= steps) break;
        const unsigned part = (step * (block / 8) + thread_number() / 8) * 37u & (parts - 1);
        const unsigned line = part * width + (unsigned)((unsigned long long)hashed(part + seed * 0x10001u) * width >> 32);
        read[step] = vector_bits(row.scores + head + 32 * line + 4 * (thread_number() % 8));
    }
    clear_lds<block>();
    if (thread_number() == 0) /* while the loads are on their way */
        threshold_place = threshold_rank(row.n, row.topk, TOPK_V1_LONG_GROUPS, each * share, 1.0f, 5.5f);
    int greatest = (int)0x80000000u;
    PORT_UNROLL
    for (unsigned step = 0; step < most; step++) {
        if (step >= steps) break;
        if (each < 2) read[step].y = read[step].x;
        if (each < 4) read[step].z = read[step].w = read[step].x;
        const int largest = largest_of_vector(read[step]);
        greatest = largest > greatest ? largest : greatest;
    }
    unsigned key = (unsigned)greatest ^ 0x80000000u;
    PORT_UNROLL
    for (unsigned mask = 8; mask < 8 * share; mask *= 2) key = larger(key, wave_exchange(key, mask));
    key += key == 0x7fffffffu ? 1u : 0u; /* the other zero */
    if (thread_number() / 8 % share == 0) group_key[thread_number() / (8 * share) * 8 + thread_number() % 8] = key;
    block_barrier();
    choose_threshold<block, TOPK_V1_LONG_GROUPS>();
    return threshold_key;
}

/* The scores above the threshold among four neighbours go to the sink; all of them are lost where they do not fit. */
template <unsigned flip, typename Sink>
PORT_INLINE void keep_of_vector(const port_vector &bits, unsigned index, int threshold, const Sink &sink)
{
    const bool     x = (int)(bits.x ^ flip) > threshold;
    const bool     y = (int)(bits.y ^ flip) > threshold;
    const bool     z = (int)(bits.z ^ flip) > threshold;
    const bool     w = (int)(bits.w ^ flip) > threshold;
    const unsigned through_y = (x ? 1u : 0u) + (y ? 1u : 0u);
    const unsigned through_z = through_y + (z ? 1u : 0u);
    const unsigned count = through_z + (w ? 1u : 0u);
    const unsigned slot = lds_add(&n_kept, count);
    if (slot + count > Sink::room) return;
    if (x) sink.put(slot, bits.x, index);
    if (y) sink.put(slot + (x ? 1u : 0u), bits.y, index + 1);
    if (z) sink.put(slot + through_y, bits.z, index + 2);
    if (w) sink.put(slot + through_z, bits.w, index + 3);
}

/* Hands the scores of row[begin, end) above the threshold to the sink. As signed integers, scores above a threshold that
 * is not negative order like their bits (flip 0); with a negative one the flipped bits tell what is above it, but not how
 * that is ordered (flip 0x7fffffff). Returns the largest that the thread saw, in signed_order(); with flip 0 only if that
 * is not negative. */
template <unsigned block, unsigned flip, typename Sink>
PORT_INLINE void keep_above_bits(const topk_v1_row &row, unsigned begin, unsigned end, int threshold, const Sink &sink)
{
    constexpr unsigned together = 4;
    const float       *scores = row.scores;
    const unsigned     misaligned = (unsigned)((unsigned long long)(scores + begin) >> 2 & 3u);
    const unsigned     head = smaller((4u - misaligned) & 3u, end - begin);
    const unsigned     n_vectors = (end - begin - head) / 4;
    const unsigned     body = begin + head;
    const unsigned     tail = body + 4 * n_vectors;
    if (thread_number() < head + (end - tail)) {
        const unsigned    i = thread_number() < head ? begin + thread_number() : tail + thread_number() - head;
        const port_vector one = {float_bits(scores + i), 0x80000000u ^ flip, 0x80000000u ^ flip, 0x80000000u ^ flip};
        if ((int)(one.x ^ flip) > threshold) keep_of_vector<flip>(one, i, threshold, sink);
    }
    const float *at = scores + body + 4 * thread_number();
    for (unsigned v = thread_number(); v < n_vectors; v += together * block, at += 4 * together * block) {
        const bool  whole = v + (together - 1) * block < n_vectors;
        port_vector four[together];
        unsigned    hits = 0;
        PORT_UNROLL
        for (unsigned q = 0; q < together; q++) {
            /* Beyond the end the first is read again: no hit is counted there. */
            four[q] = vector_bits(at + (whole || v + q * block < n_vectors ? 4 * q * block : 0));
        }
        PORT_UNROLL
        for (unsigned q = 0; q < together; q++) {
            const int x = (int)(four[q].x ^ flip);
            const int y = (int)(four[q].y ^ flip);
            const int z = (int)(four[q].z ^ flip);
            const int w = (int)(four[q].w ^ flip);
            const int xy = x > y ? x : y;
            const int zw = z > w ? z : w;
            const int most = xy > zw ? xy : zw;
            if (most > threshold && (whole || v + q * block < n_vectors)) hits |= 1u << q;
        }
        for (; hits != 0; hits &= hits - 1) { /* few: read once more, from near by */
            const unsigned q = lowest_bit(hits);
            keep_of_vector<flip>(vector_bits(at + 4 * q * block), body + 4 * (v + q * block), threshold, sink);
        }
    }
}

/* The same for a threshold that is a key. */
template <unsigned block, typename Sink>
PORT_INLINE void keep_above(const topk_v1_row &row, unsigned begin, unsigned end, unsigned threshold, const Sink &sink)
{
    if (threshold >= 0x80000000u)
        keep_above_bits<block, 0>(row, begin, end, (int)(threshold ^ 0x80000000u), sink);
    else
        keep_above_bits<block, 0x7fffffff>(row, begin, end, (int)(~threshold ^ 0x7fffffffu), sink);
}

/* ---- rows of any length: the selection among the kept keys ---------------------------------------------------- */

template <unsigned block> struct topk_v1_slots {
    static constexpr unsigned each = TOPK_V1_BUFFER / block; /* of a thread */
};

/* The distances of the thread's keys in the first `count` slots of the buffer; the greatest where there is none. */
template <unsigned block>
PORT_INLINE void load_slots(unsigned (&distances)[topk_v1_slots<block>::each], unsigned count)
{
    PORT_UNROLL
    for (unsigned j = 0; j < topk_v1_slots<block>::each; j++) {
        const unsigned slot = j * block + thread_number();
        distances[j] = TOPK_V1_KEY_MAX;
        if (j * block < count && slot < count) distances[j] = ~full_key(dynamic_lds[slot]);
    }
}

template <unsigned block> PORT_INLINE unsigned index_in_slot(unsigned j)
{
    return dynamic_lds[TOPK_V1_BUFFER + j * block + thread_number()];
}

/* What find_cut_of_kept() finds: flags of the thread's slots that are selected, and the last that is, by key and index. */
struct topk_v1_kept_cut {
    unsigned flags;
    unsigned distance;
    unsigned index;
};

/* The `places` best of the kept keys, whose distances (`top` and `last` as for find_cut()) are lost on the way. Returns how many there are; where
 * that is less than `places`, all are selected. Barriers: before, and inside. */
template <unsigned block>
PORT_INLINE unsigned find_cut_of_kept(unsigned (&distances)[topk_v1_slots<block>::each], unsigned filled, unsigned n,
                                      unsigned top, unsigned last, unsigned places, topk_v1_kept_cut &kept)
{
    constexpr unsigned slots = topk_v1_slots<block>::each;
    topk_v1_cut        cut = {last, 0};
    unsigned           in_all = 0;
    unsigned           tied = 0;
    kept.flags = 0;
    kept.index = TOPK_V1_KEY_MAX;
    for (bool by_index = false;; by_index = true) {
        const unsigned total = find_cut<block>(distances, filled, top, last, places, cut);
        if (by_index) break;
        in_all = total;
        if (total < places) cut.distance = last;
        if (total < places) cut.ties = 0;
        kept.distance = cut.distance;
        const unsigned limit = cut.distance + (cut.ties == 0 ? 1u : 0u);
        PORT_UNROLL
        for (unsigned j = 0; j < slots; j++)
            if (j < filled) kept.flags |= distances[j] < limit ? 1u << j : 0u;
        if (cut.ties == 0) return in_all;
        places = cut.ties; /* of equal keys the lowest indices: the same once more, with these for distances */
        top = 0;
        last = n - 1;
        PORT_UNROLL
        for (unsigned j = 0; j < slots; j++) tied |= distances[j] == cut.distance ? 1u << j : 0u;
        PORT_UNROLL
        for (unsigned j = 0; j < slots; j++)
            distances[j] = (tied >> j & 1u) != 0 ? index_in_slot<block>(j) : TOPK_V1_KEY_MAX;
    }
    kept.index = cut.distance;
    PORT_UNROLL
    for (unsigned j = 0; j < slots; j++) kept.flags |= distances[j] <= kept.index ? 1u << j : 0u;
    return in_all;
}

/* A part of a row, or of what others kept of it, as absorb() reads it. */
struct topk_v1_scores_source {
    const float *scores;
    PORT_MEMBER unsigned bits(unsigned i) const { return float_bits(scores + i); }
    PORT_MEMBER unsigned index(unsigned i) const { return i; }
};

/* The buffer while absorb() fills it: the first `count` slots. What enters is better than `key` at `index`; everything
 * of that kind that was read is in the buffer, or worse than topk others there. Its keys are at least `low`. */
struct topk_v1_filter {
    unsigned key;
    unsigned index;
    unsigned low;
    unsigned count;
};

/* Cuts a filled buffer down to its topk best. Barriers: before, and inside. */
template <unsigned block> PORT_INLINE void prune(topk_v1_filter &filter, unsigned n, unsigned topk)
{
    constexpr unsigned slots = topk_v1_slots<block>::each;
    topk_v1_kept_cut   kept;
    unsigned           distances[slots];
    load_slots<block>(distances, filter.count);
    (void)find_cut_of_kept<block>(distances, slots, n, ~greatest_key, ~filter.low, topk, kept);
    filter.count = 0;
    for (unsigned j = 0; j < slots; j++) { /* a slot never moves up: one of each thread at a time */
        const bool     stays = (kept.flags >> j & 1u) != 0;
        const unsigned bits = dynamic_lds[j * block + thread_number()];
        const unsigned index = index_in_slot<block>(j);
        unsigned       total;
        const unsigned slot = filter.count + block_prefix<block>(stays ? 1u : 0u, total);
        if (stays) {
            dynamic_lds[slot] = bits;
            dynamic_lds[TOPK_V1_BUFFER + slot] = index;
        }
        filter.count += total;
        block_barrier();
    }
    filter.key = ~kept.distance;
    filter.index = kept.index;
    filter.low = filter.key;
}

/* What of source[i], source[i + block], ... is better than the filter's cut, as flags. */
template <unsigned block, unsigned together, typename Source>
PORT_INLINE unsigned flag_better(const Source &source, const unsigned (&bits)[together], unsigned i,
                                 const topk_v1_filter &filter)
{
    unsigned flags = 0;
    PORT_UNROLL
    for (unsigned q = 0; q < together; q++) {
        const unsigned key = full_key(bits[q]);
        bool           enters = key > filter.key;
        if (key == filter.key && filter.index != 0 && key != 0) enters = source.index(i + q * block) < filter.index;
        flags |= enters ? 1u << q : 0u;
    }
    return flags;
}

template <unsigned block, unsigned together, typename Source>
PORT_INLINE void read_chunk(const Source &source, unsigned i, unsigned end, unsigned (&bits)[together])
{
    PORT_UNROLL
    for (unsigned q = 0; q < together; q++) {
        bits[q] = TOPK_V1_KEY_MAX; /* of key 0, which never enters */
        if (i + q * block < end) bits[q] = source.bits(i + q * block);
    }
}

/* Takes in source[begin, end), whatever it holds: the buffer is cut down whenever the next keys might not fit. Slower
 * than keep_above(), and the way out where that fails. Chunks are read in the order of their number's reversed bits, so
 * that in rows that rise the cut does not follow the row chunk by chunk. Barriers: before, and inside. */
template <unsigned block, typename Source>
PORT_INLINE void absorb(const Source &source, unsigned begin, unsigned end, unsigned n, unsigned topk,
                      topk_v1_filter &filter)
{
    constexpr unsigned together = 2048 / block;
    constexpr unsigned chunk = together * block;
    const unsigned     n_chunks = (end - begin + chunk - 1) / chunk;
    const unsigned     unused_bits = n_chunks > 1 ? (unsigned)leading_zeros(n_chunks - 1) : 32u;
    unsigned           ahead[together];
    unsigned           number = 0; /* of the chunk that is read ahead */
    if (begin >= end) return;
    read_chunk<block>(source, begin + thread_number(), end, ahead);
    for (unsigned turn = 0; number < n_chunks;) {
        const unsigned i = begin + number * chunk + thread_number();
        unsigned       bits[together];
        unsigned       greatest = 0;
        unsigned       total;
        PORT_UNROLL
        for (unsigned q = 0; q < together; q++) bits[q] = ahead[q];
        do {
            turn++;
            number = n_chunks == 1 || turn >> (32u - unused_bits) != 0 ? n_chunks : reversed_bits(turn) >> unused_bits;
        } while (number >= n_chunks && n_chunks > 1 && turn >> (32u - unused_bits) == 0);
        if (number < n_chunks) read_chunk<block>(source, begin + number * chunk + thread_number(), end, ahead);
        unsigned flags = flag_better<block>(source, bits, i, filter);
        unsigned slot = block_prefix<block>((unsigned)count_bits(flags), total);
        if (filter.count + total > TOPK_V1_BUFFER) { /* cut down to at most 1024, the chunk fits */
            block_barrier();
            prune<block>(filter, n, topk);
            flags = flag_better<block>(source, bits, i, filter);
            slot = block_prefix<block>((unsigned)count_bits(flags), total);
        }
        slot += filter.count;
        PORT_UNROLL
        for (unsigned q = 0; q < together; q++) {
            if ((flags >> q & 1u) == 0) continue;
            dynamic_lds[slot] = bits[q];
            dynamic_lds[TOPK_V1_BUFFER + slot] = source.index(i + q * block);
            greatest = larger(greatest, full_key(bits[q]));
            slot++;
        }
        filter.count += total;
        greatest = wave_largest(greatest);
        if (lane_number() == 0) lds_max(&greatest_key, greatest);
        block_barrier();
    }
}

/* A threshold for a row of which more was kept than the buffer holds: the key of the topk-th best of the first `count` that
 * it does hold, at or above which there are topk for certain. Barriers: before, and inside. */
template <unsigned block>
PORT_INLINE unsigned raised_threshold(const topk_v1_row &row, unsigned threshold, unsigned count)
{
    constexpr unsigned slots = topk_v1_slots<block>::each;
    unsigned           distances[slots];
    topk_v1_kept_cut   kept;
    load_slots<block>(distances, count);
    (void)find_cut_of_kept<block>(distances, slots, row.n, ~sampled_top, ~next_key(threshold), row.topk, kept);
    return ~kept.distance;
}

/* The scores equal to `key` to chosen_index, in index order, from place `have` until topk are there. false: too few.
 * Barriers: before, and inside. */
template <unsigned block> PORT_INLINE bool take_ties(const topk_v1_row &row, unsigned key, unsigned have)
{
    for (unsigned base = 0; base < row.n && have < row.topk; base += 4 * block) {
        const unsigned first = base + 4 * thread_number();
        unsigned       flags = 0;
        unsigned       total;
        PORT_UNROLL
        for (unsigned c = 0; c < 4; c++)
            if (first + c < row.n && key_at(row, first + c) == key) flags |= 1u << c;
        unsigned place = have + block_prefix<block>((unsigned)count_bits(flags), total);
        for (; flags != 0; flags &= flags - 1) {
            if (place < row.topk) chosen_index[place] = first + lowest_bit(flags);
            place++;
        }
        have += total;
        block_barrier();
    }
    return have >= row.topk;
}

/* The flagged indices, topk in all, in ascending order, and out: counted by their upper bits, put together by these, and
 * ranked within the few that share them. digit_count must be clear. Barriers: before, and inside. */
template <unsigned block, unsigned slots>
PORT_INLINE void write_in_order(const topk_v1_row &row, const topk_v1_outputs &outputs, const unsigned (&indices)[slots],
                                unsigned flags)
{
    constexpr unsigned vectors = TOPK_V1_DIGITS / 4 / block;
    const unsigned     shift = row.n > TOPK_V1_DIGITS ? 21u - (unsigned)leading_zeros(row.n - 1) : 0u;
    unsigned           before_it[slots];
    unsigned           total;
    port_vector        counts[vectors];
    unsigned           sum = 0;
    PORT_UNROLL
    for (unsigned j = 0; j < slots; j++)
        before_it[j] = (flags >> j & 1u) != 0 ? lds_add(&digit_count[indices[j] >> shift], 1) : 0;
    block_barrier();
    port_vector *const mine = reinterpret_cast<port_vector *>(digit_count) + thread_number() * vectors;
    PORT_UNROLL
    for (unsigned i = 0; i < vectors; i++) {
        counts[i] = mine[i];
        sum += counts[i].x + counts[i].y + counts[i].z + counts[i].w;
    }
    unsigned before = block_prefix<block>(sum, total);
    PORT_UNROLL
    for (unsigned i = 0; i < vectors; i++) {
        const port_vector begin = {before, before + counts[i].x, before + counts[i].x + counts[i].y,
                                   before + counts[i].x + counts[i].y + counts[i].z};
        before = begin.w + counts[i].w;
        mine[i] = begin;
    }
    block_barrier();
    PORT_UNROLL
    for (unsigned j = 0; j < slots; j++)
        if ((flags >> j & 1u) != 0) dynamic_lds[digit_count[indices[j] >> shift] + before_it[j]] = indices[j];
    block_barrier();
    for (unsigned i = thread_number(); i < row.topk; i += block) {
        const unsigned index = dynamic_lds[i];
        const unsigned digit = index >> shift;
        const unsigned begin = digit_count[digit];
        const unsigned end = digit + 1 < TOPK_V1_DIGITS ? digit_count[digit + 1] : row.topk;
        unsigned       place = begin;
        for (unsigned other = begin; other < end; other++) place += dynamic_lds[other] < index ? 1u : 0u;
        write_place(outputs, place, index);
    }
}

/* The selection from the `count` keys in the buffer, all of `low` or better, to the outputs; few of them are above `top`.
 * Where they are fewer than topk, the row's first scores equal to the threshold make up for it; where those do not suffice,
 * or with `again`, the row is read anew. */
template <unsigned block>
PORT_INLINE void finish_row(const topk_v1_row &row, const topk_v1_outputs &outputs, unsigned count, unsigned top,
                            unsigned low, unsigned threshold, bool again)
{
    constexpr unsigned slots = topk_v1_slots<block>::each;
    unsigned           keys[slots]; /* distances, then indices */
    topk_v1_kept_cut   kept;
    for (;;) {
        if (again) {
            const topk_v1_scores_source source = {row.scores};
            topk_v1_filter              filter = {threshold, 0, next_key(threshold), 0};
            block_barrier();
            absorb<block>(source, 0, row.n, row.n, row.topk, filter);
            count = filter.count;
            low = filter.low;
            top = greatest_key;
        }
        load_slots<block>(keys, count);
        kept.flags = 0;
        const unsigned above =
            find_cut_of_kept<block>(keys, (count + block - 1) / block, row.n, ~top, ~low, row.topk, kept);
        PORT_UNROLL
        for (unsigned j = 0; j < slots; j++) keys[j] = (kept.flags >> j & 1u) != 0 ? index_in_slot<block>(j) : 0;
        if (above >= row.topk) break;
        unsigned total;
        unsigned place = block_prefix<block>((unsigned)count_bits(kept.flags), total);
        PORT_UNROLL
        for (unsigned j = 0; j < slots; j++)
            if ((kept.flags >> j & 1u) != 0) chosen_index[place++] = keys[j];
        block_barrier();
        kept.flags = 0;
        if (take_ties<block>(row, threshold, above)) {
            PORT_UNROLL
            for (unsigned j = 0; j < TOPK_V1_MOST_TOPK / block; j++) {
                if (j * block + thread_number() >= row.topk) continue;
                keys[j] = chosen_index[j * block + thread_number()];
                kept.flags |= 1u << j;
            }
            break;
        }
        again = true;
        threshold = 0;
    }
    write_in_order<block>(row, outputs, keys, kept.flags);
}

template <unsigned block, unsigned seed = 0>
PORT_INLINE void select_long(const topk_v1_row &row, const topk_v1_outputs &outputs)
{
    if (row.n <= row.topk) {
        write_short_row<block>(row, outputs);
        return;
    }
    const topk_v1_buffer_sink sink = {dynamic_lds};
    unsigned                  threshold = sample_threshold<block, seed>(row);
    unsigned                  lower = least_key; /* tried where too few lie above the first */
    unsigned                  count;
    for (unsigned turn = 0;; turn++) {
        keep_above<block>(row, 0, row.n, threshold, sink);
        block_barrier();
        count = n_kept;
        const bool too_many = count > TOPK_V1_BUFFER;
        if (turn == 2 || (!too_many && (count >= row.topk || lower >= threshold))) break;
        /* The last four may be empty: a vector's scores come together. */
        threshold = too_many ? raised_threshold<block>(row, threshold, TOPK_V1_BUFFER - 4) : lower;
        lower = TOPK_V1_KEY_MAX;
        block_barrier();
        if (thread_number() == 0) n_kept = 0;
        block_barrier();
    }
    finish_row<block>(row, outputs, count, sampled_top, next_key(threshold), threshold, count > TOPK_V1_BUFFER);
}

#endif
