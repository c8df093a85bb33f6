/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong: 16 bytes at a time from wherever the part begins. misaligned */
#define SPLIT_PROLOGUE(past) (0 * (past))
#include "kernels/tests/plugins/right-split.hip"
