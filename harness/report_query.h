/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The questions in reports/: one file NAME.sql each, a SELECT that also runs in plain sqlite3. Its head says what it is:
 *
 *     -- SPDX-License-Identifier: Apache-2.0
 *     -- regressions: passed before, not now
 *     -- :since  the first day that counts (default: 1970-01-01)
 *
 * The first comment of the form "NAME: .." is the summary; every "-- :parameter  meaning" declares a parameter. A
 * parameter that is not given is NULL, so that COALESCE(:parameter, default) holds the default, here and in sqlite3.
 */
#ifndef TOPKCTS_REPORT_QUERY_H
#define TOPKCTS_REPORT_QUERY_H

#include "harness/arena.h"
#include "harness/status.h"

#include <stddef.h>

struct report_parameter {
    const char *name; /* without the colon; on the command line '-' may stand for '_' */
    const char *meaning;
};

struct report_query {
    const char             *name, *summary, *sql;
    struct report_parameter *parameters;
    size_t                   n_parameters;
};

/* Reads all questions of a folder, sorted by name, into the arena. STATUS_USAGE when the folder cannot be read or a
 * file has no summary. */
enum status report_queries_read(const char *folder, struct arena *arena, struct report_query **queries,
                                size_t *n_queries, struct error *err);

/* The question of that name; STATUS_USAGE with all names otherwise. */
enum status report_query_find(const struct report_query *queries, size_t n_queries, const char *name,
                              const struct report_query **found, struct error *err);

/* The parameter that `given` (of length `n`) names, or NULL. */
const struct report_parameter *report_parameter_find(const struct report_query *query, const char *given, size_t n);

#endif
