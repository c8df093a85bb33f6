// topkcts: block=256 dynamic_lds=8192 level=canonical
// SPDX-License-Identifier: Apache-2.0
/* Right, CUDA: what kernels use of the language: block scans with storage of their own, match, reduce, constants, half2. */
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cooperative_groups.h>
#include <stdint.h>
namespace cg = cooperative_groups;
__constant__ int kShift[4] = {24, 16, 8, 0};
__device__ const unsigned kMask[4] = {0u, 0xff000000u, 0xffff0000u, 0xffffff00u};
static __device__ unsigned long long g_stat;
template <int N> struct BlockScan {
  struct TempStorage { int warp[N / 32]; int total; };
  TempStorage &t;
  __device__ __forceinline__ explicit BlockScan(TempStorage &s) : t(s) {}
  __device__ __forceinline__ void ExclusiveSum(int in, int &out, int &agg) {
    const int lane = threadIdx.x & 31, w = threadIdx.x >> 5;
    int x = in;
    #pragma unroll
    for (int d = 1; d < 32; d *= 2) { const int y = __shfl_up_sync(__activemask(), x, d, 32); x += lane >= d ? y : 0; }
    if (lane == 31) t.warp[w] = x;
    __syncthreads();
    if (threadIdx.x == 0) { int s = 0; for (int i = 0; i < N / 32; ++i) { int v = t.warp[i]; t.warp[i] = s; s += v; } t.total = s; }
    __syncthreads();
    out = t.warp[w] + x - in; agg = t.total;
  }
};
template <typename F> __device__ void strided(int n, F &&f) { for (int i = threadIdx.x; i < n; i += blockDim.x) f(i); }
__device__ __noinline__ unsigned key_of(const float *p) { const float f = __ldg(p); const unsigned u = __float_as_uint(f == 0.f ? 0.f : f); return u ^ ((unsigned)((int)u >> 31) | 0x80000000u); }
extern "C" __global__ __launch_bounds__(256, 2) void topk_kernel(const float *__restrict__ scores, const int32_t *__restrict__ lens, const int32_t *__restrict__ table,
    int32_t *__restrict__ pages, int32_t *__restrict__ raws, int64_t stride, int64_t tstride, int32_t topk, int32_t ps, void *ws)
{
  extern __shared__ float4 smem4[];
  union Shared { BlockScan<256>::TempStorage scan; unsigned pad[32]; };
  __shared__ Shared sh;
  __shared__ unsigned hist[2][128];
  __shared__ unsigned s_cut; __shared__ int s_need; __shared__ unsigned long long s_best; __shared__ float s_max;
  unsigned (&h)[256] = reinterpret_cast<unsigned (&)[256]>(hist);
  const unsigned row = blockIdx.x; const int n = lens[row];
  const float *s = scores + row * stride;
  auto put = [&](int slot, int i) { pages[(size_t)row * topk + slot] = i < 0 ? -1 : __ldg(table + row * tstride + i / ps) * ps + i % ps; if (raws != nullptr) raws[(size_t)row * topk + slot] = i; };
  if (n <= topk) { strided(topk, [&](int i) { put(i, i < n ? i : -1); }); return; }
  if (threadIdx.x == 0) { s_cut = 0; s_need = topk; s_best = 0; s_max = -1e30f; }
  smem4[threadIdx.x] = make_float4(0, 0, 0, 0);
  __syncthreads();
  strided(n, [&](int i) { atomicMax(&s_best, (unsigned long long)key_of(s + i) << 32 | i); });
  // float max by CAS
  float mine = -1e30f; strided(n, [&](int i) { mine = fmaxf(mine, s[i]); });
  for (int o = 16; o; o >>= 1) mine = fmaxf(mine, __shfl_xor_sync(0xffffffff, mine, o));
  if ((threadIdx.x & 31) == 0) { int *a = (int *)&s_max, old = *(volatile int *)a, assumed; do { assumed = old; if (__int_as_float(assumed) >= mine) break; old = atomicCAS(a, assumed, __float_as_int(mine)); } while (old != assumed); }
  __syncthreads();
  assert(!(s_max < s[(int)(s_best & 0xffffffff)]));
  for (int p = 0; p < 4; ++p) {
    h[threadIdx.x] = 0; __syncthreads();
    const unsigned cut = s_cut; const int need = s_need;
    for (int base = 0; base < n; base += blockDim.x) {
      const int i = base + threadIdx.x; const unsigned k = i < n ? key_of(s + i) : 0; const bool in = i < n && (k & kMask[p]) == cut;
      const unsigned act = __ballot_sync(0xffffffffu, in);
      if (in) { const unsigned d = k >> kShift[p] & 255; const unsigned peers = __match_any_sync(act, d); if ((int)(threadIdx.x & 31) == __ffs(peers) - 1) atomicAdd(&h[d], (unsigned)__popc(peers)); }
    }
    __syncthreads();
    int before, total; BlockScan<256>(sh.scan).ExclusiveSum((int)h[255 - threadIdx.x], before, total);
    if (before < need && before + (int)h[255 - threadIdx.x] >= need) { s_cut = cut | (255 - threadIdx.x) << kShift[p]; s_need = need - before; }
    __syncthreads();
  }
  const unsigned cut = s_cut; const int need = s_need; int out = 0, seen = 0;
  for (int base = 0; base < n; base += blockDim.x) {
    const int i = base + threadIdx.x; const unsigned k = i < n ? key_of(s + i) : 0; const int e = i < n && k == cut, g = i < n && k > cut;
    int re, te, rg, tg; BlockScan<256>(sh.scan).ExclusiveSum(e, re, te); __syncthreads(); BlockScan<256>(sh.scan).ExclusiveSum(g, rg, tg); __syncthreads();
    if (g || (e && seen + re < need)) put(out + rg + min(seen + re, need) - min(seen, need), i);
    out += tg + min(seen + te, need) - min(seen, need); seen += te;
  }
  const int votes = __syncthreads_count(threadIdx.x & 1);
  const unsigned mx = __reduce_max_sync(0xffffffffu, threadIdx.x), sm = __reduce_add_sync(0xffffffffu, 1u), bits = __reduce_or_sync(0xffffffffu, 1u << (threadIdx.x & 31));
  int all; const unsigned eq = __match_all_sync(0xffffffffu, votes, &all);
  half2 q = __hadd2(__float2half2_rn(1.f), __floats2half2_rn(2.f, 3.f)); const half z = __hmul(__low2half(q), __float2half(2.f)); const float w = __half2float(z) + (float)(z + z);
  if (threadIdx.x == 0) { atomicAdd(&g_stat, (unsigned long long)(votes + mx + sm + (bits != 0) + (eq != 0) + all)); if (w < 0) printf("%f\n", w); if (__popc(__brev(votes)) > 40 || __clz(votes) > 40) __trap(); }
  const long long t0 = clock64(); (void)t0; const float r = rsqrtf(4.f) + __fdividef(1.f, 2.f) + __expf(0.f) + fminf(1.f, 2.f) + floorf(1.5f) + (isnan(w) ? 1 : 0) + __saturatef(2.f) + fabsf(-1.f); (void)r;
  const unsigned f = __funnelshift_l(1u, 2u, 3) + __byte_perm(1, 2, 0x3210) + __umulhi(3u, 4u) + __dp4a(1, 2, 3) + __usad(1u, 2u, 3u); (void)f;
}
