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
 * Arrival order shows nowhere: digits are counts, the kept keys are a set, or a bitmap, and places come from prefix sums. The
 * workspace is written before it is read; nothing stays from launch to launch. Every kernel may begin while the launches
 * before it on its stream still run, and waits for them (port.h). topk_v1_split lets its topk_v1_merge begin only after its
 * own wait, so that the inputs of both are there.
 *
 * Knows nothing of hosts or launches. Numbers shared with the host: topk_v1.h. What each step gained: PERFORMANCE.md.
 */
#include "kernels/topk_v1_long.h"
#include "kernels/topk_v1_registers.h"
#include "kernels/topk_v1_split.h"

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
    wait_for_launches_before();
    let_next_launch_begin();
    TOPK_V1_ROW(block_number())
    TOPK_V1_OUTPUTS
    select_in_registers<256, 8>(row, outputs);
    (void)workspace;
    (void)splits;
}

extern "C" __global__ void PORT_BLOCK_THREADS(512, 2) topk_v1_wide(TOPK_V1_PARAMETERS)
{
    wait_for_launches_before();
    let_next_launch_begin();
    TOPK_V1_ROW(block_number())
    TOPK_V1_OUTPUTS
    select_in_registers<512, 16>(row, outputs);
    (void)workspace;
    (void)splits;
}

extern "C" __global__ void PORT_BLOCK_THREADS(512, 2) topk_v1_long(TOPK_V1_PARAMETERS)
{
    wait_for_launches_before();
    let_next_launch_begin();
    TOPK_V1_ROW(block_number())
    TOPK_V1_OUTPUTS
    select_long<512>(row, outputs);
    (void)workspace;
    (void)splits;
}

extern "C" __global__ void PORT_BLOCK_THREADS(512, 2) topk_v1_split(TOPK_V1_PARAMETERS)
{
    wait_for_launches_before();
    let_next_launch_begin();
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
