// topkcts: block=256 dynamic_lds=0 workspace_per_row=0 level=invariant
// SPDX-License-Identifier: Apache-2.0
//
// A kernel source that is right: each score's rank is the number of scores that come before it, counted. The output is in
// rank order, so it promises everything but the canonical form. Slow on purpose; for tests of the road that sources take.

__device__ unsigned ordered_key(float score)
{
    unsigned bits = __float_as_uint(score);
    bits = (bits << 1) == 0 ? 0 : bits;
    return bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u);
}

extern "C" __global__ void topk_kernel(const float *scores, const int32_t *seq_lens, const int32_t *page_table,
                                       int32_t *page_indices, int32_t *raw_indices, int64_t score_stride,
                                       int64_t page_table_stride, int32_t topk, int32_t page_size, void *workspace)
{
    const int64_t  row = blockIdx.x;
    const float   *s = scores + row * score_stride;
    const int32_t *table = page_table + row * page_table_stride;
    const int32_t  n = seq_lens[row];
    (void)workspace;
    for (int32_t i = threadIdx.x; i < (n > topk ? n : topk); i += blockDim.x) {
        int32_t place = i;
        if (n > topk) {
            const unsigned key = ordered_key(s[i]);
            place = 0;
            for (int32_t j = 0; j < n; j++) {
                const unsigned other = ordered_key(s[j]);
                place += other > key || (other == key && j < i) ? 1 : 0;
            }
        }
        if (place >= topk) continue;
        const int32_t index = i < n ? i : -1;
        page_indices[row * topk + place] = index < 0 ? -1 : table[index / page_size] * page_size + index % page_size;
        if (raw_indices != nullptr) raw_indices[row * topk + place] = index;
    }
}
