/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted fault, kind page-mapping: the page number follows page_size but the offset within the page is taken modulo
 * 256, the size of one deployment.
 */
#include "kernels/faulty/host_topk.h"

static int32_t map_with_fixed_offset(const struct host_row *row, int32_t index)
{
    int32_t page_size = row->problem->page_size;
    return row->page_table[index / page_size] * page_size + index % 256;
}

static const struct host_topk_steps steps = {.map = map_with_fixed_offset};

HOST_TOPK_FAULT(page_mapping_offset, "faulty/page-mapping-offset", "page-mapping",
                "takes the offset within a page modulo 256 whatever the page size",
                .level = TOPK_LEVEL_CANONICAL);
