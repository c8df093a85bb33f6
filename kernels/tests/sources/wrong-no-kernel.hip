// topkcts: block=256 level=canonical nan=bits negative_length=empty
// SPDX-License-Identifier: Apache-2.0
/* Rejected: asks for what nobody offers. reject */
extern "C" __global__ void topk_kernel() { grid_of_all_blocks_sync(); }
