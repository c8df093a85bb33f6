/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind nan: the sign of NaN is lost, so that -NaN ranks above +inf where the claim places it below
 * -inf. Seen in tenstorrent/tt-metal#56626, pytorch/pytorch#117617 the other way round.
 */
#include "kernels/faulty/host_topk.h"

static uint32_t key_without_sign_of_nan(const struct host_row *row, int32_t index)
{
    uint32_t bits = host_topk_score_bits(row, index);
    uint32_t magnitude = bits & INT32_MAX;
    return host_topk_key_of_bits(magnitude > UINT32_C(0x7f800000) ? magnitude : bits);
}

static const struct host_topk_steps steps = {.key = key_without_sign_of_nan};

HOST_TOPK_FAULT(nan_sign, "faulty/nan-sign", "nan",
                "ranks -NaN above +inf although NaN is promised to rank by bits",
                .level = TOPK_LEVEL_CANONICAL, .nan = TOPK_NAN_BITS);
