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

/* Numbers of the kernel where its ways part; the kernel repeats those that it needs. */
#define TOPK_V1_NARROW_WIDTH 2048   /* rows at most this wide: 256 threads, in registers */
#define TOPK_V1_WIDE_WIDTH 8192     /* rows at most this wide: 512 threads, in registers */
#define TOPK_V1_SPLIT_WIDTH 32768   /* rows at least this wide are split over several blocks in batches of at most 32 */
#define TOPK_V1_SPLIT_BATCH 32
#define TOPK_V1_ALWAYS_SPLIT 131072 /* and rows this wide in larger ones too, as long as the device is not full */
#define TOPK_V1_SEGMENT 2048        /* scores that a block of a split row has at least, give or take the rounding */
#define TOPK_V1_BUFFER_KEYS 4096    /* kept keys in LDS, or of a segment; where there are more, it is read again */
#define TOPK_V1_MAX_SPLITS 64
#define TOPK_V1_FULL_DEVICE 264     /* blocks that rows are split into in order to fill a device */

/* One launch: grid.x blocks of block.x threads. */
struct topk_v1_launch {
    const char *kernel; /* the symbol */
    uint32_t    grid;
    uint32_t    block;
    uint32_t    dynamic_lds; /* bytes */
};

enum { TOPK_V1_MAX_LAUNCHES = 2 };

/* What serves a problem: launches one after the other on one stream. Their arguments, in order: scores, seq_lens,
 * page_table, page_indices, raw_indices (pointers), score_stride, page_table_stride (int64), topk, page_size,
 * max_seq_len (int32), workspace (pointer), splits (int32). */
struct topk_v1_plan {
    struct topk_v1_launch launches[TOPK_V1_MAX_LAUNCHES];
    int32_t               n_launches;
    int32_t               splits; /* blocks a row in the first of two launches; 1 otherwise */
};

/* Every kernel of topk_v1.hip, grid 0; ends with a NULL symbol. */
extern const struct topk_v1_launch topk_v1_kernels[];

/* What v1 promises, for the providers that carry it to a device. `memory` is not part of it. */
extern const struct topk_claims topk_v1_claims;
extern const struct topk_limit  topk_v1_limits[];

/* The kernel's source: topk_v1.hip first, then what it includes, by the names that it uses; ends with a NULL name. */
struct topk_v1_text {
    const char *name;
    const char *text;
};
extern const struct topk_v1_text topk_v1_texts[];

/* 0 when v1 can run the problem; otherwise non-zero, and `err` names the argument, its value and what would be right.
 * Looks at no memory behind the pointers. */
int topk_v1_check(const struct topk_problem *problem, char *err, size_t err_size);

/* The launches for a problem that topk_v1_check accepted. Depends on batch and max_seq_len only, so that a captured
 * graph stays right when lengths change. */
struct topk_v1_plan topk_v1_plan(const struct topk_problem *problem);

/* Bytes of workspace that the plan needs; 0 for rows that one block serves. Contents at entry do not matter. */
size_t topk_v1_workspace_bytes(const struct topk_problem *problem);

/* What a watched v1, which is a module of its own, takes from the program. The program exports this name alone: a plugin that
 * brings a topk_v1.c of its own must find its own functions, not the program's. */
struct topk_v1_host {
    const struct topk_claims *claims;
    const struct topk_limit  *limits;
    int (*check)(const struct topk_problem *problem, char *err, size_t err_size);
    struct topk_v1_plan (*plan)(const struct topk_problem *problem);
    size_t (*workspace_bytes)(const struct topk_problem *problem);
};
extern const struct topk_v1_host simulator_v1_host;

/* Checks the problem, then runs its plan on the simulator under the schedule in force. 0, or non-zero with a cause;
 * refused problems leave the outputs untouched. All pointers are host memory. */
int topk_v1_launch_simulator(const struct topk_problem *problem, char *err, size_t err_size);

/* One launch of the plan alone. The problem must have passed topk_v1_check. */
int topk_v1_simulate(const struct topk_problem *problem, const struct topk_v1_launch *launch, int32_t splits, char *err,
                     size_t err_size);

#ifdef __cplusplus
}
#endif
#endif
