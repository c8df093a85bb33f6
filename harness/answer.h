/* SPDX-License-Identifier: Apache-2.0 */
/* An answer of the database as people and programs want it: a table, JSON, CSV or Markdown. */
#ifndef TOPKCTS_ANSWER_H
#define TOPKCTS_ANSWER_H

#include "harness/arena.h"
#include "harness/store_query.h"

#include <jansson.h>
#include <stdio.h>

struct answer {
    struct arena        arena;
    const char        **names; /* [n_columns] */
    size_t              n_columns;
    struct store_value *values; /* [n_rows][n_columns]; texts are the arena's */
    size_t              n_rows;
    size_t              n_rows_held; /* room in `values` */
};

/* A row callback of store_query_named; the payload is a zeroed struct answer. */
enum status answer_add_row(void *answer, int n_columns, const char *const *names, const struct store_value *values,
                           struct error *err);

void answer_print_table(const struct answer *answer, FILE *file);    /* aligned; numbers to the right */
void answer_print_csv(const struct answer *answer, FILE *file);      /* RFC 4180; NULL is empty */
void answer_print_markdown(const struct answer *answer, FILE *file); /* a GitHub table */

/* An array of objects; numbers stay numbers. NULL when out of memory. */
json_t *answer_json(const struct answer *answer);

void answer_clear(struct answer *answer);

#endif
