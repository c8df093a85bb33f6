/* SPDX-License-Identifier: Apache-2.0 */
/* Questions with named parameters; see store_query.h. */
#include "harness/store_query.h"

#include "harness/store_database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the text is the one way in which SQLite itself would write this number. */
static bool is_integer(const char *text)
{
    const char *digits = text[0] == '-' ? text + 1 : text;
    size_t      n = strspn(digits, "0123456789");
    return n > 0 && n <= 18 && digits[n] == '\0' && (digits[0] != '0' || (n == 1 && digits == text));
}

static bool is_real(const char *text)
{
    const char *digits = text[0] == '-' ? text + 1 : text;
    size_t      n = strspn(digits, "0123456789");
    size_t      m = digits[n] == '.' ? strspn(digits + n + 1, "0123456789") : 0;
    return n > 0 && m > 0 && digits[n + 1 + m] == '\0' && (digits[0] != '0' || n == 1) &&
           (digits[n + m] != '0' || m == 1);
}

static int bind(sqlite3_stmt *statement, int position, const char *value)
{
    if (value == NULL)
        return sqlite3_bind_null(statement, position);
    if (is_integer(value))
        return sqlite3_bind_int64(statement, position, strtoll(value, NULL, 10));
    if (is_real(value))
        return sqlite3_bind_double(statement, position, strtod(value, NULL));
    return sqlite3_bind_text(statement, position, value, -1, SQLITE_STATIC);
}

static enum status prepare(struct store *store, const char *sql, const struct store_parameter *parameters,
                           size_t n_parameters, sqlite3_stmt **statement, struct error *err)
{
    const char   *rest = NULL;
    sqlite3_stmt *next = NULL;
    if (sqlite3_prepare_v2(store->db, sql, -1, statement, &rest) != SQLITE_OK)
        return store_failure(store, "preparing the query", err);
    bool more = *statement && (sqlite3_prepare_v2(store->db, rest, -1, &next, NULL) != SQLITE_OK || next != NULL);
    sqlite3_finalize(next);
    if (*statement == NULL || more || sqlite3_stmt_readonly(*statement) == 0 || sqlite3_column_count(*statement) == 0)
        return error_set(err, STATUS_BOOKS, "the query must be one SELECT, and nothing behind it");
    for (size_t p = 0; p < n_parameters; p++) {
        char name[128];
        snprintf(name, sizeof name, ":%s", parameters[p].name);
        int position = sqlite3_bind_parameter_index(*statement, name);
        if (position == 0)
            return error_set(err, STATUS_BOOKS, "the query has no parameter :%s", parameters[p].name);
        if (bind(*statement, position, parameters[p].value) != SQLITE_OK)
            return store_failure(store, "binding the parameters of the query", err);
    }
    return STATUS_OK;
}

static struct store_value value_of(sqlite3_stmt *statement, int column)
{
    struct store_value value = {.kind = STORE_VALUE_TEXT};
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
        value.kind = STORE_VALUE_NULL;
        break;
    case SQLITE_INTEGER:
        value.kind = STORE_VALUE_INTEGER;
        value.integer = sqlite3_column_int64(statement, column);
        break;
    case SQLITE_FLOAT:
        value.kind = STORE_VALUE_REAL;
        value.real = sqlite3_column_double(statement, column);
        break;
    default:
        break;
    }
    value.text = (const char *)sqlite3_column_text(statement, column);
    return value;
}

enum status store_query_named(struct store *store, const char *sql, const struct store_parameter *parameters,
                              size_t n_parameters,
                              enum status (*row)(void *payload, int n_columns, const char *const *names,
                                                 const struct store_value *values, struct error *err),
                              void *payload, struct error *err)
{
    sqlite3_stmt       *statement = NULL;
    const char        **names = NULL;
    struct store_value *values = NULL;
    int                 rc = SQLITE_DONE;
    if (prepare(store, sql, parameters, n_parameters, &statement, err))
        goto done;
    int n = sqlite3_column_count(statement);
    names = calloc((size_t)n, sizeof *names);
    values = calloc((size_t)n, sizeof *values);
    if (names == NULL || values == NULL) {
        error_no_memory(err);
        goto done;
    }
    for (int i = 0; i < n; i++)
        names[i] = sqlite3_column_name(statement, i);
    if (row(payload, n, names, NULL, err))
        goto done;
    while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < n; i++)
            values[i] = value_of(statement, i);
        if (row(payload, n, names, values, err))
            goto done;
    }
    if (rc != SQLITE_DONE)
        store_failure(store, "running the query", err);
done:
    free(names);
    free(values);
    sqlite3_finalize(statement);
    return err->status;
}
