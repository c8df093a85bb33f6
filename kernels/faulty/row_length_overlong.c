/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind row-length: a length beyond the width is clamped to the row's stride, so that columns between
 * width and stride take part. Seen in ROCm/aiter#4355.
 */
#include "kernels/faulty/host_topk.h"

static void locate_within_stride(struct host_row *row)
{
    host_topk_locate(row);
    int64_t length = row->problem->seq_lens[row->number];
    int64_t stride = row->problem->score_stride;
    length = length < stride ? length : stride;
    row->n = length > 0 ? (int32_t)length : 0;
}

/* Columns beyond the width have no page; they go out as they are. */
static int32_t map_within_width(const struct host_row *row, int32_t index)
{
    return index < row->problem->max_seq_len ? host_topk_map(row, index) : index;
}

static const struct host_topk_steps steps = {.locate = locate_within_stride, .map = map_within_width};

HOST_TOPK_FAULT(row_length_overlong, "faulty/row-length-overlong", "row-length",
                "clamps an overlong length to the stride instead of the width",
                .level = TOPK_LEVEL_CANONICAL, .overlong = TOPK_OVERLONG_CLAMPED);
