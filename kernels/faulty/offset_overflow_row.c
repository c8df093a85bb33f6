/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind offset-overflow: where a row begins is kept in 22 bits, so that rows beyond 4194304 elements are
 * read from the front of the scores. Seen with 31 and 32 bits in vllm-project/vllm#30754 and
 * flashinfer-ai/flashinfer#2937.
 */
#include "kernels/faulty/host_topk.h"

#define OFFSET_BITS 22

static void locate_in_few_bits(struct host_row *row)
{
    host_topk_locate(row);
    int64_t offset = row->number * row->problem->score_stride;
    row->scores = row->problem->scores + (offset & ((INT64_C(1) << OFFSET_BITS) - 1));
}

static const struct host_topk_steps steps = {.locate = locate_in_few_bits};

HOST_TOPK_FAULT(offset_overflow_row, "faulty/offset-overflow-row", "offset-overflow",
                "keeps the offset of a row in 22 bits, so that element 4194304 becomes 0",
                .level = TOPK_LEVEL_CANONICAL);
