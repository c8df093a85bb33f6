// topkcts: block=32 level=canonical
// SPDX-License-Identifier: Apache-2.0
// Writes where there is no memory: a device fault, which is `crash`.
extern "C" __global__ void topk_kernel(const float *, const int32_t *, const int32_t *, int32_t *, int32_t *, int64_t,
                                       int64_t, int32_t, int32_t, void *)
{
    *(volatile int32_t *)(uintptr_t)(8 + threadIdx.x * 4) = 1;
}
