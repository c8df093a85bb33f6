/* SPDX-License-Identifier: Apache-2.0 */
/* The text of kernels/read_once.hip, for compilers at run time. */
#ifndef TOPKCTS_READ_ONCE_H
#define TOPKCTS_READ_ONCE_H

/* One kernel of C linkage: read_once(const float *scores, int64_t n, float *sink). */
#define READ_ONCE_SYMBOL "read_once"
extern const char read_once_kernel_text[];

#endif
