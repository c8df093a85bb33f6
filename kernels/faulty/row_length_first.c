/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind row-length: every row has the length of row 0, as if the batch were not ragged.
 */
#include "kernels/faulty/host_topk.h"

static void locate_with_first_length(struct host_row *row)
{
    host_topk_locate(row);
    struct host_row first = *row;
    first.number = 0;
    host_topk_locate(&first);
    row->n = first.n;
}

static const struct host_topk_steps steps = {.locate = locate_with_first_length};

HOST_TOPK_FAULT(row_length_first, "faulty/row-length-first", "row-length",
                "uses the length of row 0 for every row",
                .level = TOPK_LEVEL_CANONICAL, .negative_length = TOPK_NEGATIVE_LENGTH_EMPTY);
