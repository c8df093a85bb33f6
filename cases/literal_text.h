/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of scores and of page tables as text that people read and write: runs of equal values, or of values that follow
 * each other, separated by commas.
 *
 *     1.5 x 3, 0x3f800001, -0, 2            six scores: 1.5 three times, the float32 after 1, -0.0, 2.0
 *     1, 2 | nan, inf x 2                   two scores of the row, and what stands in the columns behind its end
 *     1+1 x 4                               1.0 and the three float32 values that follow it
 *     0x3f800000-1 x 4                      the same downwards
 *     none                                  an empty row
 *     -1: | 5                               the kernel is told a length of -1
 *     99: 1 x 64                            ... or of 99, beyond a width of 64
 *     7, 3+1 x 3, -5                        four physical pages, 7 3 4 5, and an entry that no column needs
 *
 * A score is a decimal number (rounded to the nearest float32), inf, -inf, nan, -nan, or its bits in eight hex digits
 * behind 0x. A step counts places in the order of float32 values, see float_bits.h; of a page table it counts pages.
 * Several rows are separated by line ends.
 *
 * Knows nothing of generators.
 */
#ifndef TOPKCTS_CASES_LITERAL_TEXT_H
#define TOPKCTS_CASES_LITERAL_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* One row as it was read. */
struct literal_row {
    int32_t told;    /* what stands before ':'; `length` when nothing does */
    int64_t length;  /* scores before '|' */
    int64_t columns; /* scores on both sides */
};

/* How many rows a text has: its lines. */
int32_t literal_count_rows(const char *text);

/* The beginning of line `row` of a text; row < literal_count_rows(text). */
const char *literal_row_text(const char *text, int32_t row);

/* Reads one row of scores, up to the end of its line. Writes bit patterns to scores[0 .. columns-1] unless that is
 * NULL. At most `most` columns are accepted. 0, or non-zero with one line in `err` that quotes what is wrong. */
int literal_read_scores(const char *text, int64_t most, struct literal_row *row, uint32_t *scores, char *err,
                        size_t err_size);

/* Reads one row of a page table, up to the end of its line: *n entries, at most `most`, into entries unless NULL. */
int literal_read_pages(const char *text, int64_t most, int64_t *n, int32_t *entries, char *err, size_t err_size);

/* The text of one row of scores: scores[0 .. length-1], then '|' and the rest up to `columns` when there is a rest;
 * "TOLD:" in front where told differs from length. In as few runs as a scan from left to right finds; reads back as
 * the same bits. malloc'd; NULL when there is no memory. */
char *literal_write_scores(const uint32_t *scores, int64_t length, int64_t columns, int32_t told);

/* The same for one row of a page table. */
char *literal_write_pages(const int32_t *entries, int64_t n);

#endif
