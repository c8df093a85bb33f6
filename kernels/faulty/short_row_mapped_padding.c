/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind short-row: padding is mapped like an index: -1 becomes the last place before page 0 of the
 * row, which is nobody's or a neighbour's. A row without any page is spared, because it has nothing to look up.
 */
#include "kernels/faulty/host_topk.h"

static void write_mapped_padding(const struct host_row *row, const int32_t *selected, int32_t count)
{
    host_topk_write(row, selected, count);
    for (int32_t slot = count; slot < row->problem->topk && row->n > 0 && row->page_indices != NULL; slot++) {
        row->page_indices[slot] = row->page_table[0] * row->problem->page_size - 1;
    }
}

static const struct host_topk_steps steps = {.write = write_mapped_padding};

HOST_TOPK_FAULT(short_row_mapped_padding, "faulty/short-row-mapped-padding", "short-row",
                "maps the padding -1 through the page table",
                .level = TOPK_LEVEL_CANONICAL);
