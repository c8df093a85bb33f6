/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind signed-zero: keys are made without normalising zero, so that a later +0 beats an earlier -0.
 * Seen in PTO-ISA/SuperNPUBench#78.
 */
#include "kernels/faulty/host_topk.h"

static uint32_t key_of_raw_bits(const struct host_row *row, int32_t index)
{
    uint32_t bits = host_topk_score_bits(row, index);
    return (bits & UINT32_C(0x80000000)) != 0 ? ~bits : bits | UINT32_C(0x80000000);
}

static const struct host_topk_steps steps = {.key = key_of_raw_bits};

HOST_TOPK_FAULT(signed_zero, "faulty/signed-zero", "signed-zero",
                "ranks -0 below +0",
                .level = TOPK_LEVEL_CANONICAL);
