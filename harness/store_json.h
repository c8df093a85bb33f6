/* SPDX-License-Identifier: Apache-2.0 */
/* What a query answers as JSON: for commands that look at rows more than once. */
#ifndef TOPKCTS_STORE_JSON_H
#define TOPKCTS_STORE_JSON_H

#include "harness/store.h"

#include <jansson.h>

/* An array of objects {column: text or null}, the caller's, as far as it came; an error that stands already asks nothing.
 * As store_query() otherwise. */
json_t *store_query_json(struct store *store, const char *sql, const char *const *parameters, size_t n_parameters,
                         struct error *err);

#endif
