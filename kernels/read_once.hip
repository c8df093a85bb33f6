/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A yardstick for `topkcts bench`: reads every float of an array once and does nothing with it. No selection can take
 * less time than this, as long as it must look at every score.
 *
 * Any grid and block; scores 16-byte aligned. `sink` is one float that is written only when the sum has one particular
 * value, so that no compiler may drop the loads.
 */
extern "C" __global__ void read_once(const float *scores, int64_t n, float *sink)
{
    const float4 *quads = (const float4 *)scores;
    const int64_t n_quads = n / 4;
    const int64_t step = (int64_t)gridDim.x * blockDim.x;
    const int64_t first = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    float         sum = 0;
    int64_t       i = first;
    /* Four loads in flight a thread. */
    for (; i + 3 * step < n_quads; i += 4 * step) {
        const float4 a = quads[i], b = quads[i + step], c = quads[i + 2 * step], d = quads[i + 3 * step];
        sum += (a.x + a.y + a.z + a.w) + (b.x + b.y + b.z + b.w) + (c.x + c.y + c.z + c.w) + (d.x + d.y + d.z + d.w);
    }
    for (; i < n_quads; i += step) {
        const float4 a = quads[i];
        sum += a.x + a.y + a.z + a.w;
    }
    for (i = n_quads * 4 + first; i < n; i += step)
        sum += scores[i];
    if (sum == 1.2345678e-37f)
        *sink = sum;
}
