/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where rows stand in memory: row width, strides, base address and page table. Every generator takes these parameters,
 * and none sees them. `auto` values are drawn from a key without topk, page_size, batch and outputs, so that variants
 * of a case share their scores.
 */
#ifndef TOPKCTS_CASES_LAYOUT_H
#define TOPKCTS_CASES_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "cases/case.h"

/* The parameters in the order of case_layout_params(). */
enum layout_param {
    LAYOUT_BASE_SHIFT,
    LAYOUT_STRIDE_EXTRA,
    LAYOUT_TABLE,
    LAYOUT_TABLE_STRIDE_EXTRA,
    LAYOUT_WIDTH_SLACK,
    LAYOUT_PARAMS
};

struct layout {
    int32_t  max_seq_len;
    int64_t  score_stride;
    int64_t  page_table_stride;
    int32_t  base_shift;
    int64_t  table; /* place of the choice */
    uint64_t key;
};

/* Lays out rows of at most `longest` elements. values: in the order of case_layout_params(). 0, or non-zero with a
 * line in `err` when the width does not fit int32. */
int layout_init(struct layout *layout, int32_t longest, int32_t page_size, const int64_t values[LAYOUT_PARAMS],
                uint64_t key, char *err, size_t err_size);

/* Writes one row of the page table: ceil(length / page_size) pages, poison in the rest of the stride. The poison is
 * negative, differs from entry to entry, and is never -1. */
void layout_fill_table_row(const struct layout *layout, int32_t row, int32_t batch, int32_t length, int32_t page_size,
                           int32_t *entries);

#endif
