// topkcts: block=256 level=canonical
// SPDX-License-Identifier: Apache-2.0
// A working compiler rejects this: the verdict is `fail`, with the compiler's words.
extern "C" __global__ void topk_kernel(const float *scores)
{
    this_name_is_declared_nowhere(scores);
}
