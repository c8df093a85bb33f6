/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind stride: the row width is taken for the stride, so that every row but the first starts inside the
 * one before. Seen in vllm-project/vllm#42169.
 */
#include "kernels/faulty/host_topk.h"

static void locate_packed(struct host_row *row)
{
    host_topk_locate(row);
    row->scores = row->problem->scores + (int64_t)row->number * row->problem->max_seq_len;
}

static const struct host_topk_steps steps = {.locate = locate_packed};

HOST_TOPK_FAULT(stride_width, "faulty/stride-width", "stride",
                "takes the row width for the stride between rows",
                .level = TOPK_LEVEL_CANONICAL);
