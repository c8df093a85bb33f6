/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Top-k v1: the deterministic indexer top-k, one source for HIP, CUDA and the simulator.
 *
 * It promises the canonical answer of the contract (harness/provider.h, level canonical): the topk first places of the
 * order (score descending, index ascending), in ascending index, the same bytes on every device and for every arrival
 * order. NaN ranks by bit pattern. Which kernel serves which problem is planned in topk_v1.c; all of them go this way:
 *
 *   1. threshold    from a sample of the row, at fixed places: 128 groups of samples, the largest key of each, and of
 *                   these the one that ranks so low that the row's cut almost surely lies above it (threshold_rank)
 *   2. keep         one pass over the row keeps the keys above the threshold: few, but at least topk of them
 *   3. find_cut     radix selection among the kept keys, 2048 digits a round over just the range that they span; the
 *                   last few are ranked by comparison. Equal keys go on by index in the same way
 *   4. order        the selected indices in ascending order, their pages, and out
 *
 * A threshold is a guess about speed, never about the answer. Too high: the missing places are taken by the scores
 * equal to it in index order, or, where those do not suffice, the row is read again above a lower one. Too low, so that
 * the bounded buffer overflows: the row is read again above the topk-th best of what fitted, or by absorb(), which cuts
 * the buffer down to its topk best whenever it fills.
 *
 *   topk_v1_narrow, _wide   rows in registers: 256 x 8 and 512 x 16 scores
 *   topk_v1_long            one block reads a row of any length
 *   topk_v1_split, _merge   several blocks a row, each with a segment; a second launch selects among what they kept
 *
 * Arrival order shows nowhere: digits are counts, the kept keys are a set, places come from prefix sums. The workspace
 * is written before it is read; nothing stays from launch to launch.
 *
 * Knows nothing of hosts or launches. Numbers shared with the host: topk_v1.h. What each step gained: PERFORMANCE.md.
 */
#include "kernels/topk_v1_long.h"
#include "kernels/topk_v1_registers.h"

#define TOPK_V1_MOST_SPLITS 64u /* topk_v1.h repeats it */

/* ---- rows by several blocks ----------------------------------------------------------------------------------- */

/* A row's part of the workspace; its segments follow. */
struct topk_v1_kept {
    unsigned threshold;
    unsigned count[TOPK_V1_MOST_SPLITS];
    unsigned unused[63];
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

/* What keep_segment() does where too much lies above the threshold; how much is in the buffer then. */
template <unsigned block>
PORT_RARE unsigned absorb_segment(const topk_v1_row row, unsigned begin, unsigned end, unsigned threshold)
{
    const topk_v1_scores_source source = {row.scores};
    topk_v1_filter              filter = {threshold, 0, next_key(threshold), 0};
    absorb<block>(source, begin, end, row.n, row.topk, filter);
    if (filter.count > TOPK_V1_SEGMENT_KEPT) prune<block>(filter, row.n, row.topk);
    return filter.count;
}

/* Keeps one segment's keys above the row's threshold; where they are too many for the workspace, the topk best. */
template <unsigned block>
PORT_INLINE void keep_segment(const topk_v1_row &row, topk_v1_kept *kept, unsigned split, unsigned splits)
{
    const topk_v1_segment_sink sink = {segment_of(kept, split)};
    if (row.n <= row.topk) return;
    const unsigned length = (row.n / splits / 4 + 1) * 4;
    const unsigned begin = smaller(split * length, row.n);
    const unsigned end = smaller(begin + length, row.n);
    const unsigned threshold = sample_threshold<block>(row);
    keep_above<block>(row, begin, end, threshold, sink);
    block_barrier();
    unsigned count = n_kept;
    if (count > TOPK_V1_SEGMENT_KEPT) {
        count = absorb_segment<block>(row, begin, end, threshold);
        for (unsigned i = thread_number(); i < count; i += block) {
            sink.put(i, dynamic_lds[i], dynamic_lds[TOPK_V1_BUFFER + i]);
        }
    }
    if (thread_number() == 0) kept->count[split] = count;
    if (thread_number() == 0 && split == 0) kept->threshold = threshold;
}

/* All segments' keys, `total` of them, into the buffer: a wave takes a segment at a time. `listed` tells where each one's
 * begin, and how many they are. A barrier must follow. */
template <unsigned block> PORT_INLINE void gather_segments(topk_v1_kept *kept, unsigned splits)
{
    unsigned greatest = 0;
    for (unsigned split = wave_number(); split < splits; split += block / (unsigned)wave_size()) {
        const topk_v1_segment *const segment = segment_of(kept, split);
        const unsigned               first = listed[split];
        const unsigned               count = listed[TOPK_V1_MOST_SPLITS + split];
        for (unsigned i = lane_number(); i < count; i += (unsigned)wave_size()) {
            const unsigned bits = segment->bits[i];
            dynamic_lds[first + i] = bits;
            dynamic_lds[TOPK_V1_BUFFER + first + i] = segment->indices[i];
            greatest = larger(greatest, full_key(bits));
        }
    }
    greatest = wave_largest(greatest);
    if (lane_number() == 0) lds_max(&greatest_key, greatest);
}

/* The same where they are more than the buffer holds. */
template <unsigned block>
PORT_RARE void absorb_segments(const topk_v1_row row, topk_v1_kept *kept, unsigned splits, topk_v1_filter *filter)
{
    topk_v1_filter own = *filter;
    for (unsigned split = 0; split < splits; split++) {
        const topk_v1_kept_source source = {segment_of(kept, split)};
        absorb<block>(source, 0, kept->count[split], row.n, row.topk, own);
    }
    *filter = own;
}

template <unsigned block>
PORT_INLINE void merge_segments(const topk_v1_row &row, const topk_v1_outputs &outputs, topk_v1_kept *kept,
                                unsigned splits)
{
    if (row.n <= row.topk) {
        write_short_row<block>(row, outputs);
        return;
    }
    unsigned       total;
    const unsigned count = thread_number() < splits ? kept->count[thread_number()] : 0;
    const unsigned threshold = kept->threshold;
    unsigned       low = next_key(threshold);
    clear_lds<block>();
    const unsigned before = block_prefix<block>(count, total);
    if (thread_number() < splits) {
        listed[thread_number()] = before;
        listed[TOPK_V1_MOST_SPLITS + thread_number()] = count;
    }
    block_barrier();
    if (total <= TOPK_V1_BUFFER) {
        gather_segments<block>(kept, splits);
        block_barrier();
    } else {
        topk_v1_filter filter = {threshold, 0, low, 0};
        absorb_segments<block>(row, kept, splits, &filter);
        total = filter.count;
        low = filter.low;
    }
    finish_row<block, true>(row, outputs, total, low, threshold, false);
}

/* ---- the kernels ---------------------------------------------------------------------------------------------- */

/* The kernels' arguments: struct topk_problem without batch, which is the grid (times splits in topk_v1_split). A length
 * below 0 counts as 0, one beyond max_seq_len as max_seq_len. */
#define TOPK_V1_PARAMETERS                                                                                             \
    const float *scores, const int *seq_lens, const int *page_table, int *page_indices, int *raw_indices,              \
        long long score_stride, long long page_table_stride, int topk, int page_size, int max_seq_len,                 \
        void *workspace, int splits

#define TOPK_V1_ROW(number)                                                                                            \
    const long long b = (number);                                                                                      \
    int             n = seq_lens[b];                                                                                   \
    n = n < 0 ? 0 : n > max_seq_len ? max_seq_len : n;                                                                 \
    const topk_v1_row row = {scores + b * score_stride, (unsigned)n, (unsigned)topk};

#define TOPK_V1_OUTPUTS                                                                                                \
    const topk_v1_outputs outputs = {page_indices == nullptr ? nullptr : page_indices + b * topk,                      \
                                     raw_indices == nullptr ? nullptr : raw_indices + b * topk,                        \
                                     page_table + b * page_table_stride,                                               \
                                     31u - (unsigned)leading_zeros((unsigned)page_size)};

extern "C" __global__ void PORT_BLOCK_THREADS(256, 4) topk_v1_narrow(TOPK_V1_PARAMETERS)
{
    TOPK_V1_ROW(block_number())
    TOPK_V1_OUTPUTS
    select_in_registers<256, 8>(row, outputs);
    (void)workspace;
    (void)splits;
}

extern "C" __global__ void PORT_BLOCK_THREADS(512, 2) topk_v1_wide(TOPK_V1_PARAMETERS)
{
    TOPK_V1_ROW(block_number())
    TOPK_V1_OUTPUTS
    select_in_registers<512, 16>(row, outputs);
    (void)workspace;
    (void)splits;
}

extern "C" __global__ void PORT_BLOCK_THREADS(512, 2) topk_v1_long(TOPK_V1_PARAMETERS)
{
    TOPK_V1_ROW(block_number())
    TOPK_V1_OUTPUTS
    select_long<512>(row, outputs);
    (void)workspace;
    (void)splits;
}

extern "C" __global__ void PORT_BLOCK_THREADS(512, 2) topk_v1_split(TOPK_V1_PARAMETERS)
{
    TOPK_V1_ROW(block_number() / (unsigned)splits)
    keep_segment<512>(row, kept_of_row(workspace, (unsigned)b, (unsigned)splits), block_number() % (unsigned)splits,
                 (unsigned)splits);
    (void)page_table, (void)page_indices, (void)raw_indices, (void)page_table_stride, (void)page_size;
}

extern "C" __global__ void PORT_BLOCK_THREADS(512, 2) topk_v1_merge(TOPK_V1_PARAMETERS)
{
    TOPK_V1_ROW(block_number())
    TOPK_V1_OUTPUTS
    merge_segments<512>(row, outputs, kept_of_row(workspace, (unsigned)b, (unsigned)splits), (unsigned)splits);
}
