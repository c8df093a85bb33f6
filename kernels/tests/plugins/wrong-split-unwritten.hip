/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong: the launch that counts is left out, and its counts are read. uninitialised-workspace */
#define SPLIT_HAS_COUNTS false
#include "kernels/tests/plugins/right-split.hip"
