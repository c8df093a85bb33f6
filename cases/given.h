/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inputs that are given instead of made: written out in the registry (generator `literal`) or stored beside it
 * (generator `captured`). Such a generator hands over all rows at once; case.c places them and fills what they leave
 * open: +inf beyond the columns that are given, page tables by layout.c where there is none. Nothing of their layout is
 * random: what is `auto` for other generators is here what the rows need.
 */
#ifndef TOPKCTS_CASES_GIVEN_H
#define TOPKCTS_CASES_GIVEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cases/case.h"

/* The most bytes of scores and page table that a case may give; more is refused before it is allocated. */
#define GIVEN_MAX_BYTES (INT64_C(256) << 20)

/* One row: its columns and entries stand in the arrays of struct given_inputs, from these places on. */
struct given_row {
    int32_t told;       /* the length that the kernel is told: negative, or beyond the width, in extension cases */
    int32_t length;     /* how many of the columns are the row's own; 0 or more */
    int64_t columns;    /* how many are given; what lies at or beyond `length` is never selected */
    int64_t first;      /* the place of column 0 in `scores` */
    int64_t pages;      /* how many entries of the page table are given; 0: none */
    int64_t first_page; /* the place of entry 0 in `page_table` */
};

/* Owned by itself; cleared with given_clear. */
struct given_inputs {
    struct given_row *rows; /* [n_rows] */
    int32_t           n_rows;
    uint32_t         *scores;     /* bit patterns; NULL where only the shape was asked for */
    int32_t          *page_table; /* NULL where only the shape was asked for, or where no row gives entries */
    /* The layout, where the layout parameters are `auto`; scores then begin at a 256-byte boundary. */
    int32_t           max_seq_len;       /* the row width: at least the longest row */
    int64_t           score_stride;      /* elements; raised to the row width */
    int64_t           page_table_stride; /* elements; raised to the pages of the row width */
};

/* Makes room for n_rows rows, with nothing known of the layout. Non-zero when there is no memory. */
int given_init(struct given_inputs *given, int32_t n_rows, char *err, size_t err_size);

void given_clear(struct given_inputs *given);

/* The text of a parameter of a case, or its fallback. */
const char *given_param(const struct case_spec *spec, const struct case_param_spec *param);

#endif
