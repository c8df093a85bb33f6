/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind output-order: the page output is reversed against the raw output, so that slot j of one does not
 * belong to slot j of the other.
 */
#include "kernels/faulty/host_topk.h"

static void write_reversed_pages(const struct host_row *row, const int32_t *selected, int32_t count)
{
    host_topk_write(row, selected, count);
    for (int32_t i = 0; i < count && row->page_indices != NULL; i++) {
        row->page_indices[count - 1 - i] = host_topk_map(row, selected[i]);
    }
}

static const struct host_topk_steps steps = {.write = write_reversed_pages};

HOST_TOPK_FAULT(output_order_disagree, "faulty/output-order-disagree", "output-order",
                "page and raw outputs of one row are in different orders",
                .level = TOPK_LEVEL_CANONICAL);
