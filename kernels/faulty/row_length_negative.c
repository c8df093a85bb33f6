/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind row-length: a negative length is read as an unsigned number, far beyond the width, and clamped
 * to the width instead of 0. Seen in vllm-project/vllm#51593.
 */
#include "kernels/faulty/host_topk.h"

static void locate_unsigned(struct host_row *row)
{
    host_topk_locate(row);
    uint32_t length = (uint32_t)row->problem->seq_lens[row->number];
    uint32_t width = (uint32_t)row->problem->max_seq_len;
    row->n = (int32_t)(length < width ? length : width);
}

static const struct host_topk_steps steps = {.locate = locate_unsigned};

HOST_TOPK_FAULT(row_length_negative, "faulty/row-length-negative", "row-length",
                "reads a negative length as unsigned, so that the whole width is valid",
                .level = TOPK_LEVEL_CANONICAL, .negative_length = TOPK_NEGATIVE_LENGTH_EMPTY);
