/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind page-mapping: every row is mapped through the page table of row 0.
 */
#include "kernels/faulty/host_topk.h"

static int32_t map_through_first_table(const struct host_row *row, int32_t index)
{
    struct host_row first = *row;
    first.page_table = row->problem->page_table;
    return host_topk_map(&first, index);
}

static const struct host_topk_steps steps = {.map = map_through_first_table};

HOST_TOPK_FAULT(page_mapping_row, "faulty/page-mapping-row", "page-mapping",
                "maps every row through the page table of row 0",
                .level = TOPK_LEVEL_CANONICAL);
