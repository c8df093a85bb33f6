/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as JSON; see store_json.h. */
#include "harness/store_json.h"

static enum status keep_row(void *payload, int n_columns, const char *const *names, const char *const *values,
                            struct error *err)
{
    json_t *row = json_object();
    for (int i = 0; i < n_columns; i++)
        json_object_set_new(row, names[i], values[i] ? json_string(values[i]) : json_null());
    return json_array_append_new(payload, row) ? error_no_memory(err) : STATUS_OK;
}

json_t *store_query_json(struct store *store, const char *sql, const char *const *parameters, size_t n_parameters,
                         struct error *err)
{
    json_t *rows = json_array();
    if (!err->status)
        store_query(store, sql, parameters, n_parameters, keep_row, rows, err);
    return rows;
}
