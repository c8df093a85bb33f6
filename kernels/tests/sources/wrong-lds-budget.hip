// topkcts: block=256 level=canonical
// SPDX-License-Identifier: Apache-2.0
/* Wrong: more LDS than a workgroup has. lds-over-budget */
extern "C" __global__ void __launch_bounds__(256) topk_kernel(const float *scores, const int32_t *seq_lens, const int32_t *page_table,
    int32_t *page_indices, int32_t *raw_indices, int64_t score_stride, int64_t page_table_stride,
    int32_t topk, int32_t page_size, void *workspace)
{
    __shared__ unsigned hist[256];
    __shared__ unsigned prefix, want;
    __shared__ int base, sums[256];
    const int row = blockIdx.x, t = threadIdx.x;
    const float *s = scores + row * score_stride;
    int n = seq_lens[row];
    auto write = [&](int slot, int i) {
        page_indices[row * topk + slot] = i < 0 ? -1 : page_table[row * page_table_stride + i / page_size] * page_size + i % page_size;
        if (raw_indices) raw_indices[row * topk + slot] = i;
    };
    auto key = [&](int i) { unsigned b = __float_as_uint(s[i]); if ((b << 1) == 0) b = 0; return b ^ ((b >> 31) ? 0xffffffffu : 0x80000000u); };
    __shared__ int large[16000];
    large[t] = t;
    if (n <= topk) {
        for (int i = t; i < topk; i += 256) write(i, i < n ? i : -1);
        return;
    }
    if (t == 0) { prefix = 0; want = topk; base = 0; }
    for (int shift = 24; shift >= 0; shift -= 8) {
        hist[t] = 0;
        __syncthreads();
        const unsigned p = prefix, mask = shift == 24 ? 0 : 0xffffffffu << (shift + 8);
        for (int i = t; i < n; i += 256) { unsigned k = key(i); if ((k & mask) == p) atomicAdd(&hist[k >> shift & 255], 1u); }
        __syncthreads();
        if (t == 0) {
            unsigned d = 255, left = want;
            while (hist[d] < left) left -= hist[d--];
            want = left; prefix = p | d << shift;
        }
        __syncthreads();
    }
    const unsigned cut = prefix; const int ties = want;
    int seen = 0, out = 0;
    __shared__ int tie_count[256];
    for (int first = 0; first < n; first += 256) {
        int i = first + t;
        unsigned k = i < n ? key(i) : 0;
        bool tie = i < n && k == cut, above = i < n && k > cut;
        tie_count[t] = tie; sums[t] = above;
        __syncthreads();
        int tb = 0, ab = 0, tt = 0, aa = 0;
        for (int j = 0; j < 256; j++) { if (j < t) { tb += tie_count[j]; ab += sums[j]; } tt += tie_count[j]; aa += sums[j]; }
        int rank = seen + tb;
        if (above || (tie && rank < ties)) write(out + ab + min(rank, ties) - min(seen, ties), i);
        out += aa + min(seen + tt, ties) - min(seen, ties);
        seen += tt;
        __syncthreads();
    }
}
