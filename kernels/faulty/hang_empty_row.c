/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind hang: a row of length 0 waits for a partner that left early. Seen in vllm-project/vllm#51593.
 */
#include "kernels/faulty/host_topk.h"

#include <unistd.h>

static void locate_and_wait(struct host_row *row)
{
    host_topk_locate(row);
    while (row->n == 0) {
        pause();
    }
}

static const struct host_topk_steps steps = {.locate = locate_and_wait};

HOST_TOPK_FAULT(hang_empty_row, "faulty/hang-empty-row", "hang",
                "never returns when a row has length 0",
                .level = TOPK_LEVEL_CANONICAL);
