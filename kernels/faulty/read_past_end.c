/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind read-past-end: scores are read four at a time and the length is not looked at again, so that up
 * to three columns beyond the row take part. Seen in flashinfer-ai/flashinfer#2308.
 */
#include "kernels/faulty/host_topk.h"

#define VECTOR 4

static void locate_whole_vectors(struct host_row *row)
{
    host_topk_locate(row);
    row->n = (row->n + VECTOR - 1) / VECTOR * VECTOR;
}

/* The page table need not reach beyond the row width. */
static int32_t map_within_width(const struct host_row *row, int32_t index)
{
    return index < row->problem->max_seq_len ? host_topk_map(row, index) : index;
}

static const struct host_topk_steps steps = {.locate = locate_whole_vectors, .map = map_within_width};

HOST_TOPK_FAULT(read_past_end, "faulty/read-past-end", "read-past-end",
                "takes part of the next four-score vector beyond the row for scores of the row",
                .level = TOPK_LEVEL_CANONICAL);
