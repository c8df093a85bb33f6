// topkcts: block=256 dynamic_lds=0 workspace_per_row=0 level=canonical
// SPDX-License-Identifier: Apache-2.0
/*
 * A kernel to copy, without any host code: follow the numbered steps; README.md says how to run it. One source for HIP
 * and CUDA (copy it to a name in .cu) and for the simulator; it is compiled when it is used and needs no #include.
 *
 * It works as it stands and promises the canonical form: the winners in ascending order of index. It is slow.
 */

// Step 1. The first line of the file: threads of a block, bytes of dynamic LDS, bytes of workspace for each row, and what
// the kernel promises (topk_claims in harness/provider.h, in lower case). It is launched with one block for each row.

// A number that is in the order of the scores; both zeroes are one score.
static __device__ unsigned rank_of(float score)
{
    unsigned bits = __float_as_uint(score);
    if ((bits << 1) == 0)
        bits = 0;
    return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}

// Step 2. The kernel: this name, C linkage, these ten parameters, all pointers on the device.
extern "C" __global__ void topk_kernel(const float *scores,       // [batch][score_stride]
                                       const int32_t *seq_lens,   // [batch]: valid scores of each row
                                       const int32_t *page_table, // [batch][page_table_stride]
                                       int32_t *page_indices,     // [batch][topk], or nullptr
                                       int32_t *raw_indices,      // [batch][topk], or nullptr; never both
                                       int64_t score_stride, int64_t page_table_stride, int32_t topk, int32_t page_size,
                                       void *workspace) // workspace_per_row bytes for each row, undefined contents
{
    static __shared__ unsigned at_least; // scores of the row that rank at least as high as the trial
    const int64_t  row = blockIdx.x;
    const float   *s = scores + row * score_stride;
    const int32_t  n = seq_lens[row];
    const int32_t *pages = page_table + row * page_table_stride;
    (void)workspace;

    // Step 3. The rank at the cut, bit by bit from the top: the highest that topk scores or more reach.
    unsigned cut = 0;
    for (int bit = 31; n > topk && bit >= 0; bit--) {
        const unsigned trial = cut | 1u << bit;
        if (threadIdx.x == 0)
            at_least = 0;
        __syncthreads();
        for (int32_t i = threadIdx.x; i < n; i += blockDim.x)
            if (rank_of(s[i]) >= trial)
                atomicAdd(&at_least, 1u);
        __syncthreads();
        if (at_least >= static_cast<unsigned>(topk))
            cut = trial;
        __syncthreads();
    }

    // Step 4. The outputs: all above the cut, of those that equal it the lowest indices, -1 behind the last winner.
    if (threadIdx.x != 0)
        return;
    int32_t above = 0;
    for (int32_t i = 0; i < n; i++)
        above += n > topk && rank_of(s[i]) > cut ? 1 : 0;
    int32_t ties = topk - above; // places that are left for them
    int32_t slot = 0;
    for (int32_t i = 0; slot < topk; i++) {
        if (i < n && n > topk && rank_of(s[i]) <= cut && (rank_of(s[i]) < cut || ties-- <= 0))
            continue;
        const int64_t at = row * topk + slot++;
        if (raw_indices != nullptr)
            raw_indices[at] = i < n ? i : -1;
        if (page_indices != nullptr)
            page_indices[at] = i < n ? pages[i / page_size] * page_size + i % page_size : -1;
    }
}
