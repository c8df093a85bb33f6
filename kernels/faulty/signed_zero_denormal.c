/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind signed-zero: the two zeroes are made equal by moving negative scores up one place, except that
 * the smallest negative denormal is moved too far and equals them.
 */
#include "kernels/faulty/host_topk.h"

static uint32_t key_with_one_zero_too_many(const struct host_row *row, int32_t index)
{
    uint32_t bits = host_topk_score_bits(row, index);
    return host_topk_key_of_bits(bits == UINT32_C(0x80000001) ? 0 : bits);
}

static const struct host_topk_steps steps = {.key = key_with_one_zero_too_many};

HOST_TOPK_FAULT(signed_zero_denormal, "faulty/signed-zero-denormal", "signed-zero",
                "the smallest negative denormal counts as a zero",
                .level = TOPK_LEVEL_CANONICAL);
