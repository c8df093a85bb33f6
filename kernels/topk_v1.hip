/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Top-k v1: the deterministic indexer top-k, one source for HIP, CUDA and the simulator. One block selects one row.
 *
 * It promises the canonical answer of the contract (harness/provider.h, level canonical): the topk first places of the
 * order (score descending, index ascending), in ascending index, the same bytes on every device and for every arrival
 * order. NaN ranks by bit pattern. How, for a row longer than topk:
 *
 *   1. count_coarse_bins   count the row's scores in 256 coarse bins: the upper 8 bits of their ordered fp16 key
 *   2. choose_digit        find the bin that the cut falls into, and how many places are left for it
 *   3. collect_bin         find the smallest and largest full key of that bin; put its keys into a bounded buffer if
 *                          they fit
 *   4. refine_cut          narrow that interval of keys, 8 bits a step, to the key at the cut. Steps count the buffer,
 *                          or the row itself as long as the interval holds more keys than the buffer: exact either way
 *   5. count_segments      every wave counts, in a contiguous segment of the row, the keys above and at the cut
 *   6. write_segments      every wave writes the selected indices of its segment to the places that the counts give
 *
 * Arrival order shows nowhere: steps 1 to 5 only add, take minima and maxima; the order of the buffer is never used; in
 * step 6 places come from counts and ballots alone.
 *
 * Knows kernels/port.h; nothing of hosts, launches or pages beyond its arguments. Block sizes: topk_v1.h.
 */
#include "kernels/port.h"

#define TOPK_V1_CANDIDATES 4096 /* keys in dynamic LDS: 16 KiB; topk_v1.h repeats it */
#define TOPK_V1_DIGITS 256
#define TOPK_V1_MOST_WAVES 32

/* The key of a score that ranks first, and last. */
#define TOPK_V1_KEY_MAX 0xffffffffu

extern __shared__ unsigned dynamic_lds[]; /* [TOPK_V1_CANDIDATES]: keys of the bin at the cut, in arrival order */

static __shared__ unsigned digit_count[TOPK_V1_DIGITS];
static __shared__ unsigned segment_above[TOPK_V1_MOST_WAVES]; /* keys above the cut in each wave's segment */
static __shared__ unsigned segment_ties[TOPK_V1_MOST_WAVES];  /* keys at the cut */
static __shared__ unsigned chosen_digit;
static __shared__ unsigned chosen_places; /* places of the answer that are left for the chosen digit's keys */
static __shared__ unsigned chosen_count;  /* keys of the chosen digit */
static __shared__ unsigned bin_low;       /* smallest and largest key of the coarse bin at the cut */
static __shared__ unsigned bin_high;
static __shared__ unsigned n_candidates;

/* One row, as every thread sees it. */
struct topk_v1_row {
    const float *scores;
    unsigned     n;    /* valid length */
    unsigned     topk;
};

/* Where the cut lies. */
struct topk_v1_cut {
    unsigned key;  /* every larger key is selected */
    unsigned ties; /* so many keys equal to it are selected, lowest indices first */
};

/* Keys that may still be the cut's: low <= key <= high. */
struct topk_v1_interval {
    unsigned low;
    unsigned high;
    unsigned places; /* places left for them, 1 <= places <= count */
    unsigned count;
};

/* The order of the scores as unsigned integers: larger is better; both zeros are one key. */
PORT_INLINE unsigned full_key(unsigned bits)
{
    if ((bits << 1) == 0) bits = 0;
    return bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u);
}

/* The magnitude of a float32, rounded to nearest even as fp16 bits. Integers only, so that all devices agree. It never
 * decreases as the magnitude's bits increase, and NaNs stay at or above infinity: that makes coarse bins intervals of
 * full keys, which everything below relies on. */
PORT_INLINE unsigned half_magnitude(unsigned magnitude)
{
    if (magnitude >= 0x7f800000u) return 0x7c00u | ((magnitude >> 13) & 0x3ffu);
    if (magnitude >= 0x477ff000u) return 0x7c00u; /* 65520 and beyond round to infinity */
    if (magnitude >= 0x38800000u) return (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    if (magnitude < 0x33000000u) return 0; /* below half of the smallest fp16 denormal */
    const unsigned shift = 126u - (magnitude >> 23);
    const unsigned mantissa = (magnitude & 0x7fffffu) | 0x800000u;
    return (mantissa + (1u << (shift - 1)) - 1u + ((mantissa >> shift) & 1u)) >> shift;
}

/* The coarse bin of a full key: 0 .. 255, never decreasing. */
PORT_INLINE unsigned coarse_bin(unsigned key)
{
    const bool     positive = (key >> 31) != 0;
    const unsigned magnitude = key ^ (positive ? 0x80000000u : 0x7fffffffu);
    const unsigned half = half_magnitude(magnitude);
    return (positive ? half | 0x8000u : half ^ 0x7fffu) >> 8;
}

PORT_INLINE unsigned key_at(const topk_v1_row &row, unsigned i) { return full_key(float_bits(row.scores + i)); }

PORT_INLINE unsigned lane_number() { return thread_number() & (unsigned)(wave_size() - 1); }
PORT_INLINE unsigned wave_number() { return thread_number() / (unsigned)wave_size(); }

/* Clears what the row needs cleared. A barrier must follow. */
template <unsigned block> PORT_INLINE void clear_counts()
{
    for (unsigned i = thread_number(); i < TOPK_V1_DIGITS; i += block) digit_count[i] = 0;
    if (thread_number() < TOPK_V1_MOST_WAVES) {
        segment_above[thread_number()] = 0;
        segment_ties[thread_number()] = 0;
    }
    if (thread_number() == 0) {
        bin_low = TOPK_V1_KEY_MAX;
        bin_high = 0;
        n_candidates = 0;
    }
}

template <unsigned block> PORT_INLINE void count_coarse_bins(const topk_v1_row &row)
{
    for (unsigned i = thread_number(); i < row.n; i += block) {
        const unsigned bin = coarse_bin(key_at(row, i));
        (void)lds_add(&digit_count[bin], 1);
    }
}

/* Finds the digit in which place number `places` falls, counting from the highest digit down, and clears digit_count
 * for the next step. The first wave works: each lane sums a run of neighbouring digits, lane 0 the highest. Barriers
 * must stand before and after. */
PORT_INLINE void choose_digit(unsigned places)
{
    if (wave_number() != 0) return;
    const unsigned run = TOPK_V1_DIGITS / (unsigned)wave_size();
    const unsigned highest = TOPK_V1_DIGITS - 1 - lane_number() * run;
    unsigned       sum = 0;
    for (unsigned j = 0; j < run; j++) sum += digit_count[highest - j];
    unsigned through = sum; /* keys in the digits of this lane and the lanes below it */
    for (int distance = 1; distance < wave_size(); distance *= 2) {
        const unsigned below = wave_shift_up(through, distance);
        if (lane_number() >= (unsigned)distance) through += below;
    }
    unsigned above = through - sum;
    for (unsigned j = 0; j < run; j++) {
        const unsigned count = digit_count[highest - j];
        digit_count[highest - j] = 0;
        if (above < places && places <= above + count) {
            chosen_digit = highest - j;
            chosen_places = places - above;
            chosen_count = count;
        }
        above += count;
    }
}

/* The smallest and largest key of coarse bin `bin`, and, if `keep`, its keys into the buffer. A barrier must follow. */
template <unsigned block> PORT_INLINE void collect_bin(const topk_v1_row &row, unsigned bin, bool keep)
{
    unsigned low = TOPK_V1_KEY_MAX;
    unsigned high = 0;
    bool     found = false;
    for (unsigned i = thread_number(); i < row.n; i += block) {
        const unsigned key = key_at(row, i);
        if (coarse_bin(key) != bin) continue;
        found = true;
        low = key < low ? key : low;
        high = key > high ? key : high;
        if (keep) dynamic_lds[lds_add(&n_candidates, 1)] = key;
    }
    if (found) {
        lds_min(&bin_low, low);
        lds_max(&bin_high, high);
    }
}

/* The row's keys within the interval into the buffer, which must hold them. A barrier must follow. */
template <unsigned block> PORT_INLINE void collect_interval(const topk_v1_row &row, const topk_v1_interval &interval)
{
    for (unsigned i = thread_number(); i < row.n; i += block) {
        const unsigned key = key_at(row, i);
        if (key >= interval.low && key <= interval.high) dynamic_lds[lds_add(&n_candidates, 1)] = key;
    }
}

/* Counts a key of the interval under the next 8 bits of its distance from the lower end. */
PORT_INLINE void count_digit(const topk_v1_interval &interval, unsigned shift, unsigned key)
{
    if (key >= interval.low && key <= interval.high) (void)lds_add(&digit_count[(key - interval.low) >> shift], 1);
}

/* Narrows the interval to the key at the cut, or until all its keys are selected anyway. The same for all threads. */
template <unsigned block>
PORT_INLINE topk_v1_cut refine_cut(const topk_v1_row &row, topk_v1_interval interval, bool buffered)
{
    unsigned n_buffered = interval.count;
    while (interval.low != interval.high && interval.places != interval.count) {
        if (!buffered && interval.count <= TOPK_V1_CANDIDATES) {
            collect_interval<block>(row, interval);
            block_barrier();
            buffered = true;
            n_buffered = interval.count;
        }
        const int      bits = 32 - leading_zeros(interval.high - interval.low);
        const unsigned shift = bits > 8 ? (unsigned)bits - 8 : 0;
        if (buffered) {
            for (unsigned i = thread_number(); i < n_buffered; i += block) count_digit(interval, shift, dynamic_lds[i]);
        } else {
            for (unsigned i = thread_number(); i < row.n; i += block) count_digit(interval, shift, key_at(row, i));
        }
        block_barrier();
        choose_digit(interval.places);
        block_barrier();
        const unsigned low = interval.low + (chosen_digit << shift);
        const unsigned span = (1u << shift) - 1;
        interval.high = interval.high - low < span ? interval.high : low + span;
        interval.low = low;
        interval.places = chosen_places;
        interval.count = chosen_count;
    }
    topk_v1_cut cut;
    cut.key = interval.low;
    /* All keys of an interval that is selected as a whole rank at or above its lower end. */
    cut.ties = interval.low == interval.high ? interval.places : TOPK_V1_KEY_MAX;
    return cut;
}

/* The wave's segment of the row: whole waves wide, so that lanes read neighbouring scores. The split never shows in
 * the answer. */
template <unsigned block> PORT_INLINE unsigned segment_begin(const topk_v1_row &row, unsigned wave)
{
    const unsigned n_waves = block / (unsigned)wave_size();
    const unsigned lanes = (unsigned)wave_size();
    const unsigned width = (row.n / n_waves / lanes + 1) * lanes;
    const unsigned long long begin = (unsigned long long)wave * width;
    return begin < row.n ? (unsigned)begin : row.n;
}

/* A barrier must follow. */
template <unsigned block> PORT_INLINE void count_segments(const topk_v1_row &row, const topk_v1_cut &cut)
{
    const unsigned end = segment_begin<block>(row, wave_number() + 1);
    unsigned       above = 0;
    unsigned       ties = 0;
    for (unsigned i = segment_begin<block>(row, wave_number()) + lane_number(); i < end; i += (unsigned)wave_size()) {
        const unsigned key = key_at(row, i);
        above += key > cut.key ? 1 : 0;
        ties += key == cut.key ? 1 : 0;
    }
    if (above != 0) (void)lds_add(&segment_above[wave_number()], above);
    if (ties != 0) (void)lds_add(&segment_ties[wave_number()], ties);
}

/* The outputs of one row; either array may be null. */
struct topk_v1_outputs {
    int       *page_indices;
    int       *raw_indices;
    const int *page_table;
    unsigned   page_shift;
};

PORT_INLINE void write_place(const topk_v1_outputs &outputs, unsigned place, unsigned index)
{
    if (outputs.raw_indices != nullptr) outputs.raw_indices[place] = (int)index;
    if (outputs.page_indices != nullptr) {
        const unsigned page = (unsigned)outputs.page_table[index >> outputs.page_shift];
        const unsigned within = index & ((1u << outputs.page_shift) - 1);
        outputs.page_indices[place] = (int)((page << outputs.page_shift) + within);
    }
}

PORT_INLINE unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }

/* A selected index goes to the place that the number of selected indices before it gives. */
template <unsigned block>
PORT_INLINE void write_segments(const topk_v1_row &row, const topk_v1_cut &cut, const topk_v1_outputs &outputs)
{
    unsigned above = 0; /* keys above the cut before this wave's place in the row, and keys at it */
    unsigned ties = 0;
    for (unsigned wave = 0; wave < wave_number(); wave++) {
        above += segment_above[wave];
        ties += segment_ties[wave];
    }
    const bool no_tie = segment_ties[wave_number()] == 0 || ties >= cut.ties;
    if (segment_above[wave_number()] == 0 && no_tie) return;

    const unsigned           end = segment_begin<block>(row, wave_number() + 1);
    const unsigned long long lanes_below = (1ull << lane_number()) - 1;
    for (unsigned first = segment_begin<block>(row, wave_number()); first < end; first += (unsigned)wave_size()) {
        const unsigned i = first + lane_number();
        const unsigned key = i < end ? key_at(row, i) : 0;
        const bool     at_or_above = i < end && key >= cut.key;
        const unsigned long long candidates = wave_ballot(at_or_above);
        if (candidates == 0) continue;
        const unsigned long long tied = wave_ballot(at_or_above && key == cut.key);
        const unsigned above_here = above + (unsigned)count_bits(candidates & ~tied & lanes_below);
        const unsigned ties_here = ties + (unsigned)count_bits(tied & lanes_below);
        if (at_or_above && (key != cut.key || ties_here < cut.ties))
            write_place(outputs, above_here + smaller(ties_here, cut.ties), i);
        above += (unsigned)count_bits(candidates & ~tied);
        ties += (unsigned)count_bits(tied);
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

template <unsigned block> PORT_INLINE void select_row(const topk_v1_row &row, const topk_v1_outputs &outputs)
{
    if (row.n <= row.topk) {
        write_short_row<block>(row, outputs);
        return;
    }
    clear_counts<block>();
    block_barrier();
    count_coarse_bins<block>(row);
    block_barrier();
    choose_digit(row.topk);
    block_barrier();
    topk_v1_interval interval;
    interval.places = chosen_places;
    interval.count = chosen_count;
    const bool fits = interval.count <= TOPK_V1_CANDIDATES;
    collect_bin<block>(row, chosen_digit, fits);
    block_barrier();
    interval.low = bin_low;
    interval.high = bin_high;
    const topk_v1_cut cut = refine_cut<block>(row, interval, fits);
    count_segments<block>(row, cut);
    block_barrier();
    write_segments<block>(row, cut, outputs);
}

/* The kernel's arguments: struct topk_problem without batch, which is the grid. A length below 0 counts as 0, one
 * beyond max_seq_len as max_seq_len. */
#define TOPK_V1_PARAMETERS                                                                                             \
    const float *scores, const int *seq_lens, const int *page_table, int *page_indices, int *raw_indices,              \
        long long score_stride, long long page_table_stride, int topk, int page_size, int max_seq_len

template <unsigned block> PORT_INLINE void topk_v1_block_main(TOPK_V1_PARAMETERS)
{
    const long long b = block_number();
    int             n = seq_lens[b];
    n = n < 0 ? 0 : n;
    n = n > max_seq_len ? max_seq_len : n;
    topk_v1_row row;
    row.scores = scores + b * score_stride;
    row.n = (unsigned)n;
    row.topk = (unsigned)topk;
    topk_v1_outputs outputs;
    outputs.page_indices = page_indices == nullptr ? nullptr : page_indices + b * topk;
    outputs.raw_indices = raw_indices == nullptr ? nullptr : raw_indices + b * topk;
    outputs.page_table = page_table + b * page_table_stride;
    outputs.page_shift = (31u - (unsigned)leading_zeros((unsigned)page_size)) & 31u;
    select_row<block>(row, outputs);
}

#define TOPK_V1_ARGUMENTS                                                                                              \
    scores, seq_lens, page_table, page_indices, raw_indices, score_stride, page_table_stride, topk, page_size,         \
        max_seq_len

extern "C" __global__ void PORT_BLOCK_THREADS(256) topk_v1_256(TOPK_V1_PARAMETERS)
{
    topk_v1_block_main<256>(TOPK_V1_ARGUMENTS);
}

extern "C" __global__ void PORT_BLOCK_THREADS(1024) topk_v1_1024(TOPK_V1_PARAMETERS)
{
    topk_v1_block_main<1024>(TOPK_V1_ARGUMENTS);
}
