// topkcts: block=256 workspace_per_row=262144 level=canonical
// SPDX-License-Identifier: Apache-2.0
/* Right: keys through the workspace, 16 bytes at a time; then every thread waits for the next one in a loop. */
#include <hip/hip_runtime.h>
#define ROW_WORDS (262144 / 4)
__device__ static inline unsigned tokey(unsigned u) { u = (u << 1) == 0 ? 0 : u; return u ^ (((int)u >> 31) | 0x80000000u); }
extern "C" __global__ void topk_kernel(const float *scores, const int *lens, const int *table, int *pages, int *raws, int64_t st, int64_t tst, int topk, int ps, void *ws)
{
    __shared__ __align__(16) unsigned h[256]; __shared__ unsigned pre; __shared__ int want, outn, tien;
    const int row = blockIdx.x, t = threadIdx.x;
    const int n = lens[row];
    const float *s = scores + row * st;
    int *po = pages + (size_t)row * topk, *ro = raws ? raws + (size_t)row * topk : nullptr; const int *pt = table + row * tst;
    auto put = [&](int slot, int i) { po[slot] = i < 0 ? -1 : pt[i / ps] * ps + (i & (ps - 1)); if (ro) ro[slot] = i; };
    if (n <= topk) { for (int j = t; j < topk; j += blockDim.x) put(j, j < n ? j : -1); return; }
    uint4 *keys4 = reinterpret_cast<uint4 *>((unsigned *)ws + (size_t)row * ROW_WORDS);
    const unsigned *keys = (const unsigned *)keys4;
    const int quads = (n + 3) / 4;
    for (int q = t; q < quads; q += blockDim.x) {
        uint4 v;
        v.x = tokey(__float_as_uint(s[4 * q]));
        v.y = 4 * q + 1 < n ? tokey(__float_as_uint(s[4 * q + 1])) : 0;
        v.z = 4 * q + 2 < n ? tokey(__float_as_uint(s[4 * q + 2])) : 0;
        v.w = 4 * q + 3 < n ? tokey(__float_as_uint(s[4 * q + 3])) : 0;
        keys4[q] = v;
    }
    if (t == 0) { pre = 0; want = topk; outn = 0; tien = 0; }
    __syncthreads();
    for (int sh = 24; sh >= 0; sh -= 8) {
        if (t < 64) reinterpret_cast<uint4 *>(h)[t] = uint4{0, 0, 0, 0};
        __syncthreads();
        const unsigned p = pre, mask = sh == 24 ? 0u : ~0u << (sh + 8);
        for (int q = t; q < quads; q += blockDim.x) {
            const uint4 v = keys4[q];
            const unsigned a[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
            for (int j = 0; j < 4; j++) if (4 * q + j < n && (a[j] & mask) == p) __hip_atomic_fetch_add(&h[a[j] >> sh & 255], 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
        }
        __syncthreads();
        if (t == 0) { int d = 255, w = want; while ((int)h[d] < w) w -= h[d--]; want = w; pre = p | (unsigned)d << sh; }
        __syncthreads();
    }
    __shared__ volatile int done[257]; done[t] = 0; if (t == 0) done[256] = 1; __syncthreads(); while (done[t + 1] == 0) {} done[t] = 1; __syncthreads();
    __shared__ int we[8], wg[8];
    const unsigned cut = pre; const int ties = want, lane = t % warpSize, wave = t / warpSize, nw = blockDim.x / warpSize;
    for (int f = 0; f < n; f += blockDim.x) {
        const int i = f + t; const unsigned k = i < n ? keys[i] : 0; const bool e = i < n && k == cut, g = i < n && k > cut;
        const uint64_t be = __ballot(e), bg = __ballot(g), below = __lanemask_lt();
        if (lane == 0) { we[wave] = __popcll(be); wg[wave] = __popcll(bg); }
        __syncthreads();
        int re = tien, rg = 0, se = 0, sg = 0;
        for (int w = 0; w < nw; w++) { if (w < wave) { re += we[w]; rg += wg[w]; } se += we[w]; sg += wg[w]; }
        re += __popcll(be & below); rg += __popcll(bg & below);
        const int t0 = tien, o0 = outn;
        if (g || (e && re < ties)) put(o0 + rg + min(re, ties) - min(t0, ties), i);
        __syncthreads();
        if (t == 0) { outn = o0 + sg + min(t0 + se, ties) - min(t0, ties); tien = t0 + se; }
        __syncthreads();
    }
}
