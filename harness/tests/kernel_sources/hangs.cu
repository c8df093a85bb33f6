// topkcts: block=32 level=canonical
// SPDX-License-Identifier: Apache-2.0
// Never ends: `timeout`, and the device must still answer afterwards.
extern "C" __global__ void topk_kernel(const float *, const int32_t *lengths, const int32_t *, int32_t *, int32_t *,
                                       int64_t, int64_t, int32_t, int32_t, void *)
{
    while (*(volatile const int32_t *)lengths != -123456789) {
    }
}
