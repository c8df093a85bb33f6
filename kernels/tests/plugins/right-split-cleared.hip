/* SPDX-License-Identifier: Apache-2.0 */
/* Right: host code clears the counts first, which the launch then overwrites. */
#define SPLIT_CLEAR(counts, bytes) (void)hipMemsetAsync(counts, 0, bytes, stream)
#include "kernels/tests/plugins/right-split.hip"
