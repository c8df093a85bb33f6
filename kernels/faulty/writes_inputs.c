/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind write-outside: winners are struck out in the score array itself, and the first one is never put
 * back.
 */
#include "kernels/faulty/host_topk.h"

#include <math.h>

static void write_and_strike_out(const struct host_row *row, const int32_t *selected, int32_t count)
{
    host_topk_write(row, selected, count);
    if (count > 0) {
        float *scores = (float *)(uintptr_t)row->scores;
        scores[selected[0]] = -INFINITY;
    }
}

static const struct host_topk_steps steps = {.write = write_and_strike_out};

HOST_TOPK_FAULT(writes_inputs, "faulty/writes-inputs", "write-outside",
                "overwrites the first winner's score with -inf",
                .level = TOPK_LEVEL_CANONICAL);
