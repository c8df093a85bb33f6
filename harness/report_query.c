/* SPDX-License-Identifier: Apache-2.0 */
/* Reading reports/NAME.sql; see report_query.h. Knows nothing of SQLite: the text goes there as it is. */
#include "harness/report_query.h"

#include "harness/name_list.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A question is a page of SQL, not more. */
enum { MAX_SQL_BYTES = 1 << 18 };

static enum status read_text(const char *path, struct arena *arena, char **text, struct error *err)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return error_set(err, STATUS_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    *text = arena_alloc(arena, MAX_SQL_BYTES + 1);
    size_t n = fread(*text, 1, MAX_SQL_BYTES, file);
    bool   failed = ferror(file) != 0 || !feof(file);
    fclose(file);
    if (failed || strlen(*text) != n)
        return error_set(err, STATUS_USAGE, "%s: no text, or longer than %d bytes", path, MAX_SQL_BYTES);
    return STATUS_OK;
}

/* A copy of [from, to) without blanks at its ends. */
static const char *trimmed(struct arena *arena, const char *from, const char *to)
{
    while (from < to && strchr(" \t", *from))
        from++;
    while (from < to && strchr(" \t\r", to[-1]))
        to--;
    return arena_format(arena, "%.*s", (int)(to - from), from);
}

static void read_comment(struct report_query *query, struct arena *arena, const char *line, const char *end)
{
    size_t name_length = strlen(query->name);
    while (line < end && *line == ' ')
        line++;
    if (!query->summary && strncmp(line, query->name, name_length) == 0 && line[name_length] == ':') {
        query->summary = trimmed(arena, line + name_length + 1, end);
    } else if (*line == ':') {
        struct report_parameter parameter;
        size_t n = strspn(line + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        parameter.name = arena_format(arena, "%.*s", (int)n, line + 1);
        parameter.meaning = trimmed(arena, line + 1 + n, end);
        query->parameters = arena_grow(arena, query->parameters, query->n_parameters, sizeof parameter);
        query->parameters[query->n_parameters++] = parameter;
    }
}

/* The head: the comments before the first line of SQL. */
static enum status read_query(const char *folder, const char *file, struct arena *arena, struct report_query *query,
                              struct error *err)
{
    const char *path = arena_format(arena, "%s/%s", folder, file);
    char       *text = NULL;
    query->name = arena_format(arena, "%.*s", (int)(strlen(file) - strlen(".sql")), file);
    if (read_text(path, arena, &text, err))
        return err->status;
    query->sql = text;
    for (const char *line = text; *line;) {
        const char *end = strchrnul(line, '\n');
        if (strncmp(line, "--", 2) == 0)
            read_comment(query, arena, line + 2, end);
        else if (end > line)
            break;
        line = *end ? end + 1 : end;
    }
    if (!query->summary)
        return error_set(err, STATUS_USAGE, "%s: has no summary; one of its first lines must be '-- %s: what it answers'",
                         path, query->name);
    return STATUS_OK;
}

static int is_query(const struct dirent *entry)
{
    return fnmatch("[!.]*.sql", entry->d_name, 0) == 0;
}

enum status report_queries_read(const char *folder, struct arena *arena, struct report_query **queries,
                                size_t *n_queries, struct error *err)
{
    struct dirent **entries;
    int             n = scandir(folder, &entries, is_query, alphasort);
    if (n < 0)
        return error_set(err, STATUS_USAGE, "%s: cannot be read: %s", folder, strerror(errno));
    *queries = arena_alloc(arena, ((size_t)n + 1) * sizeof **queries);
    *n_queries = 0;
    for (int i = 0; i < n; i++) {
        if (!err->status && !read_query(folder, entries[i]->d_name, arena, &(*queries)[*n_queries], err))
            ++*n_queries;
        free(entries[i]);
    }
    free(entries);
    return err->status;
}

enum status report_query_find(const struct report_query *queries, size_t n_queries, const char *name,
                              const struct report_query **found, struct error *err)
{
    struct name_list names = {0};
    for (size_t i = 0; i < n_queries; i++) {
        if (strcmp(queries[i].name, name) == 0) {
            *found = &queries[i];
            return STATUS_OK;
        }
        name_list_add(&names, "%s", queries[i].name);
    }
    return error_set(err, STATUS_USAGE, "no query '%.60s'; there are %s", name, names.text);
}

const struct report_parameter *report_parameter_find(const struct report_query *query, const char *given, size_t n)
{
    for (size_t p = 0; p < query->n_parameters; p++) {
        const char *name = query->parameters[p].name;
        size_t      i = 0;
        while (i < n && name[i] && (given[i] == name[i] || (given[i] == '-' && name[i] == '_')))
            i++;
        if (i == n && !name[i])
            return &query->parameters[p];
    }
    return NULL;
}
