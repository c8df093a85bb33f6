/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host side of top-k v1 (topk_v1.hip): what it accepts, and which kernel with which launch shape serves a problem.
 * Pure C without any GPU library: a launcher checks, plans, and launches the plan in its own way.
 */
#ifndef TOPKCTS_TOPK_V1_H
#define TOPKCTS_TOPK_V1_H

#include "harness/provider.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TOPK_V1_MAX_TOPK 1024

/* Keys of one coarse bin that are refined in LDS; a larger bin is rescanned in the row. Same in topk_v1.hip. */
#define TOPK_V1_CANDIDATE_CAPACITY 4096

/* Rows at most this wide are served by the smaller block. */
#define TOPK_V1_NARROW_WIDTH 4096

/* A launch: grid.x blocks of block.x threads. Its arguments, in order: scores, seq_lens, page_table, page_indices,
 * raw_indices (pointers), score_stride, page_table_stride (int64), topk, page_size, max_seq_len (int32). */
struct topk_v1_plan {
    const char *kernel; /* the symbol */
    uint32_t    grid;
    uint32_t    block;
    uint32_t    dynamic_lds; /* bytes */
};

/* What v1 promises, for the providers that carry it to a device. `memory` is not part of it. */
extern const struct topk_claims topk_v1_claims;
extern const struct topk_limit  topk_v1_limits[];

/* The texts of kernels/topk_v1.hip and of kernels/port.h, which it includes as "kernels/port.h". */
extern const char topk_v1_kernel_text[];
extern const char topk_v1_port_text[];

/* 0 when v1 can run the problem; otherwise non-zero, and `err` names the argument, its value and what would be right.
 * Looks at no memory behind the pointers. */
int topk_v1_check(const struct topk_problem *problem, char *err, size_t err_size);

/* The launch for a problem that topk_v1_check accepted. Depends on batch and max_seq_len only. */
struct topk_v1_plan topk_v1_plan(const struct topk_problem *problem);

/* Checks the problem, then runs it on the simulator under the schedule in force. 0, or non-zero with a cause; refused
 * problems leave the outputs untouched. All pointers are host memory. */
int topk_v1_launch_simulator(const struct topk_problem *problem, char *err, size_t err_size);

#ifdef __cplusplus
}
#endif
#endif
