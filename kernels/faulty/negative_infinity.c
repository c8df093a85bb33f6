/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind negative-infinity: lanes beyond the row carry -FLT_MAX, which ranks above a real -inf; when
 * fewer than topk scores are finite, indices past the row are selected. Seen in sgl-project/sglang#38829.
 */
#include "kernels/faulty/host_topk.h"

#define LANES 64
#define NEGATIVE_FLT_MAX UINT32_C(0xff7fffff)

static int32_t row_length(const struct host_row *row)
{
    struct host_row unpadded = *row;
    host_topk_locate(&unpadded);
    return unpadded.n;
}

static uint32_t key_with_sentinel(const struct host_row *row, int32_t index)
{
    return index < row_length(row) ? host_topk_key(row, index) : host_topk_key_of_bits(NEGATIVE_FLT_MAX);
}

static int32_t select_from_padded_row(struct host_row *row, int32_t *selected)
{
    if (row->n > row->problem->topk) {
        row->n = (row->n + LANES - 1) / LANES * LANES;
    }
    return host_topk_select(row, selected);
}

/* A lane past the row has no page of its own; it goes out as it is. */
static int32_t map_lane(const struct host_row *row, int32_t index)
{
    return index < row_length(row) ? host_topk_map(row, index) : index;
}

static const struct host_topk_steps steps = {
    .key = key_with_sentinel,
    .select = select_from_padded_row,
    .map = map_lane,
};

HOST_TOPK_FAULT(negative_infinity, "faulty/negative-infinity", "negative-infinity",
                "pads the row to 64 lanes with -FLT_MAX, which beats a real -inf",
                .level = TOPK_LEVEL_CANONICAL);
