/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generator `literal`: inputs that stand in the registry itself, row by row, as literal_text.h says. For cases that were
 * made small (topkcts shrink), and for those that somebody has in mind to the last bit.
 *
 *     params:
 *       rows: ["2 x 3, 1 | inf", "-1: none"]      one text a row; a single row needs no list
 *       pages: ["7, 3", "none"]                   optional; entries of the page table, as many rows; what a row does
 *                                                 not list is made by the parameter `table`, or is poison; a single
 *                                                 "none" (in a step of a sequence) is as if it were left out
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases/generator.h"
#include "cases/literal_text.h"

enum literal_param { PARAM_PAGES, PARAM_ROWS };

static const struct case_param_spec params[] = {
    {.name = "pages", .is_text = true, .fallback = "", .meaning = "page table entries, a text for each row"},
    {.name = "rows", .is_text = true, .fallback = "", .meaning = "scores, a text for each row: '1.5 x 3, 0x3f800001, -0'"},
    {.name = NULL},
};

/* Reads every row of scores, and of the page table, for their sizes or for their contents: then the places are known. */
static int read_rows(const char *rows, const char *pages, struct given_inputs *out, int64_t *n_scores, int64_t *n_pages,
                     char *err, size_t err_size)
{
    const int64_t most = GIVEN_MAX_BYTES / (int64_t)sizeof(uint32_t);
    char          cause[256];
    *n_scores = 0;
    *n_pages  = 0;
    for (int32_t i = 0; i < out->n_rows; i++) {
        struct given_row  *row = &out->rows[i];
        struct literal_row read;
        if (literal_read_scores(rows, most - *n_scores, &read, out->scores != NULL ? out->scores + *n_scores : NULL,
                                cause, sizeof cause) != 0) {
            snprintf(err, err_size, "parameter rows: row %d: %s", (int)i, cause);
            return 1;
        }
        if (pages[0] != '\0' &&
            literal_read_pages(pages, most - *n_pages, &row->pages,
                               out->page_table != NULL ? out->page_table + *n_pages : NULL, cause, sizeof cause) != 0) {
            snprintf(err, err_size, "parameter pages: row %d: %s", (int)i, cause);
            return 1;
        }
        row->told       = read.told;
        row->length     = (int32_t)read.length;
        row->columns    = read.columns;
        row->first      = *n_scores;
        row->first_page = *n_pages;
        *n_scores += row->columns;
        *n_pages += row->pages;
        out->max_seq_len       = row->length > out->max_seq_len ? row->length : out->max_seq_len;
        out->score_stride      = row->columns > out->score_stride ? row->columns : out->score_stride;
        out->page_table_stride = row->pages > out->page_table_stride ? row->pages : out->page_table_stride;
        if (i + 1 < out->n_rows) {
            rows  = literal_row_text(rows, 1);
            pages = pages[0] != '\0' ? literal_row_text(pages, 1) : pages;
        }
    }
    return 0;
}

static int give(const struct case_spec *spec, bool with_contents, struct given_inputs *out, char *err, size_t err_size)
{
    const char *rows     = given_param(spec, &params[PARAM_ROWS]);
    const char *pages    = given_param(spec, &params[PARAM_PAGES]);
    int64_t     n_scores = 0;
    int64_t     n_pages  = 0;
    pages                = strcmp(pages, "none") == 0 ? "" : pages;
    if (rows[0] == '\0') {
        snprintf(err, err_size, "parameter rows: is not given; it holds the scores, for example rows: ['1.5 x 3, -0']");
        return 1;
    }
    if (pages[0] != '\0' && literal_count_rows(pages) != literal_count_rows(rows)) {
        snprintf(err, err_size, "parameter pages: %d rows for %d rows of scores", (int)literal_count_rows(pages),
                 (int)literal_count_rows(rows));
        return 1;
    }
    if (given_init(out, literal_count_rows(rows), err, err_size) != 0 ||
        read_rows(rows, pages, out, &n_scores, &n_pages, err, err_size) != 0) {
        return 1;
    }
    if (!with_contents) {
        return 0;
    }
    out->scores     = calloc((size_t)n_scores + 1, sizeof *out->scores);
    out->page_table = calloc((size_t)n_pages + 1, sizeof *out->page_table);
    if (out->scores == NULL || out->page_table == NULL) {
        snprintf(err, err_size, "no memory for %lld scores and %lld pages", (long long)n_scores, (long long)n_pages);
        return 1;
    }
    return read_rows(rows, pages, out, &n_scores, &n_pages, err, err_size);
}

const struct case_generator generator_literal = {
    .name      = "literal",
    .summary   = "rows that are written out in the registry",
    .uses_topk = false,
    .params    = params,
    .give      = give,
};
