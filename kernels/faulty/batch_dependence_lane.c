/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind batch-dependence: the last of every 32 rows reads the scores of the row before it, as a wave
 * whose last lane is one off does.
 */
#include "kernels/faulty/host_topk.h"

static void locate_by_lane(struct host_row *row)
{
    host_topk_locate(row);
    if (row->number % 32 == 31) {
        row->scores -= row->problem->score_stride;
    }
}

static const struct host_topk_steps steps = {.locate = locate_by_lane};

HOST_TOPK_FAULT(batch_dependence_lane, "faulty/batch-dependence-lane", "batch-dependence",
                "row 31 of every 32 reads the scores of the row before",
                .level = TOPK_LEVEL_CANONICAL);
