/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind tie-rule: two paths behind one entry point resolve equal scores differently: the lower index in
 * rows of up to 8192 scores, the higher one beyond. Seen in vllm-project/vllm#54955.
 */
#include "kernels/faulty/host_topk.h"

#define SHORT_PATH 8192

static uint32_t rule_of_the_path(const struct host_row *row, int32_t index)
{
    return row->n <= SHORT_PATH ? UINT32_MAX - (uint32_t)index : (uint32_t)index;
}

static const struct host_topk_steps steps = {.tie = rule_of_the_path};

HOST_TOPK_FAULT(tie_rule, "faulty/tie-rule", "tie-rule",
                "lower index wins in rows up to 8192 scores, higher index beyond",
                .level = TOPK_LEVEL_CANONICAL);
