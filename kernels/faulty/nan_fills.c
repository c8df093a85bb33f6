/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind nan: NaN is promised never to be selected and is given the key of a score below -inf instead, so
 * that it fills the slots of a row with fewer than topk other scores. Seen the other way round in
 * intel/torch-xpu-ops#4839, where such rows yield -1.
 */
#include "kernels/faulty/host_topk.h"

static bool is_nan(const struct host_row *row, int32_t index)
{
    return (host_topk_score_bits(row, index) & INT32_MAX) > UINT32_C(0x7f800000);
}

static uint32_t key_with_nan_last(const struct host_row *row, int32_t index)
{
    return is_nan(row, index) ? 0 : host_topk_key(row, index);
}

static int32_t select_without_nan_in_short_rows(struct host_row *row, int32_t *selected)
{
    int32_t count = host_topk_select(row, selected);
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        if (!is_nan(row, selected[i]) || row->n > row->problem->topk) {
            selected[kept++] = selected[i];
        }
    }
    return count < 0 ? count : kept;
}

static const struct host_topk_steps steps = {.key = key_with_nan_last, .select = select_without_nan_in_short_rows};

HOST_TOPK_FAULT(nan_fills, "faulty/nan-fills", "nan",
                "fills long rows up with NaN although it is promised never to be selected",
                .level = TOPK_LEVEL_CANONICAL, .nan = TOPK_NAN_NEVER);
