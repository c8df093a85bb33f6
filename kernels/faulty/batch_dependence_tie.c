/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind batch-dependence: the path is chosen by the number of rows, and the one for 32 rows or more lets
 * the higher index win among equal scores. Seen in vllm-project/vllm#57815.
 */
#include "kernels/faulty/host_topk.h"

#define WIDE_BATCH 32

static uint32_t rule_of_the_batch(const struct host_row *row, int32_t index)
{
    return row->problem->batch >= WIDE_BATCH ? (uint32_t)index : UINT32_MAX - (uint32_t)index;
}

static const struct host_topk_steps steps = {.tie = rule_of_the_batch};

HOST_TOPK_FAULT(batch_dependence_tie, "faulty/batch-dependence-tie", "batch-dependence",
                "in batches of 32 rows or more the higher index wins among equals",
                .level = TOPK_LEVEL_CANONICAL);
