/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong: the last group of four is loaded whole; where scores end, memory ends too. out-of-bounds */
#define SPLIT_QUADS(n) (((n) + 3) / 4)
#include "kernels/tests/plugins/right-split.hip"
