/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to the store with parameters by name and answers that keep their type; what `topkcts query` is made of. */
#ifndef TOPKCTS_STORE_QUERY_H
#define TOPKCTS_STORE_QUERY_H

#include "harness/store.h"

enum store_value_kind { STORE_VALUE_NULL, STORE_VALUE_INTEGER, STORE_VALUE_REAL, STORE_VALUE_TEXT };

/* One value of an answer. The text is there for every kind but NULL, and lives until the callback returns. */
struct store_value {
    enum store_value_kind kind;
    const char           *text;
    int64_t               integer;
    double                real;
};

/* A parameter, ":name" in the SQL. A value that is written like a number is bound as one; SQLite then compares it as
 * text with columns of text. NULL is SQL NULL, which is also what a parameter that is not given gets. */
struct store_parameter {
    const char *name; /* without the colon */
    const char *value;
};

/* Runs one SELECT and hands on its columns once (a row of names, `values` NULL), then every row. STATUS_BOOKS on an
 * SQL error, or when a parameter is given that the SQL does not have. */
enum status store_query_named(struct store *store, const char *sql, const struct store_parameter *parameters,
                              size_t n_parameters,
                              enum status (*row)(void *payload, int n_columns, const char *const *names,
                                                 const struct store_value *values, struct error *err),
                              void *payload, struct error *err);

#endif
