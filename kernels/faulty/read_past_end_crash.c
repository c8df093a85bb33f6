/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind read-past-end: a row of more than 512 scores is read on until memory ends. The place where it
 * ends is made here, an inaccessible page, so that the fault strikes every time.
 */
#include "kernels/faulty/host_topk.h"

#include <sys/mman.h>

#define STAGED_SCORES 512

static int32_t select_until_memory_ends(struct host_row *row, int32_t *selected)
{
    if (row->n > STAGED_SCORES) {
        const volatile float *beyond = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (beyond != MAP_FAILED && beyond[0] > 0) {
            return 0;
        }
    }
    return host_topk_select(row, selected);
}

static const struct host_topk_steps steps = {.select = select_until_memory_ends};

HOST_TOPK_FAULT(read_past_end_crash, "faulty/read-past-end-crash", "read-past-end",
                "runs into unmapped memory in rows of more than 512 scores",
                .level = TOPK_LEVEL_CANONICAL);
