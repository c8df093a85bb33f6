/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a plan; see shard.h. Longest processing time first is Graham's rule: at most 4/3 of the best cut. */
#include "harness/shard.h"

#include "harness/estimate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One case of the plan with what all its rows take together. */
struct weighed_case {
    const char *name;
    double      ms;
    size_t      part;
};

static enum status parse(const char *text, long *part, long *n_parts, struct error *err)
{
    char *slash = NULL, *end = NULL;
    errno = 0;
    *part = strtol(text, &slash, 10);
    *n_parts = *slash == '/' ? strtol(slash + 1, &end, 10) : 0;
    if (slash == text || *slash != '/' || end == slash + 1 || *end || errno || *part < 1 || *n_parts < *part ||
        strpbrk(text, " \t\n+-"))
        return error_set(err, STATUS_USAGE, "--shard %s: expected I/N with I from 1 to N, like 1/4", text);
    return STATUS_OK;
}

static int by_name(const void *a, const void *b)
{
    const struct weighed_case *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int longest_first(const void *a, const void *b)
{
    const struct weighed_case *x = a, *y = b;
    if (x->ms != y->ms)
        return x->ms < y->ms ? 1 : -1;
    return strcmp(x->name, y->name);
}

/* The distinct cases of the plan, by name. Returns how many. */
static size_t weigh(const struct plan *plan, const struct settings *settings, struct weighed_case *cases)
{
    size_t n = 0;
    for (size_t row = 0; row < plan->n_rows; row++)
        cases[row] = (struct weighed_case){
            plan->rows[row].concrete->name,
            estimate_plain(settings, &plan->targets[plan->rows[row].target], plan->rows[row].concrete), 0};
    qsort(cases, plan->n_rows, sizeof *cases, by_name);
    for (size_t i = 0; i < plan->n_rows; i++)
        if (n && strcmp(cases[n - 1].name, cases[i].name) == 0)
            cases[n - 1].ms += cases[i].ms;
        else
            cases[n++] = cases[i];
    return n;
}

static void assign(struct weighed_case *cases, size_t n, double *loads, size_t n_parts)
{
    qsort(cases, n, sizeof *cases, longest_first);
    for (size_t i = 0; i < n; i++) {
        size_t least = 0;
        for (size_t part = 1; part < n_parts; part++)
            if (loads[part] < loads[least])
                least = part;
        cases[i].part = least;
        loads[least] += cases[i].ms;
    }
}

enum status shard_cut(struct plan *plan, const struct settings *settings, struct error *err)
{
    long part, n_parts;
    if (!settings->shard)
        return STATUS_OK;
    if (parse(settings->shard, &part, &n_parts, err))
        return err->status;
    struct weighed_case *cases = arena_alloc(&plan->arena, plan->n_rows * sizeof *cases);
    bool                *keep = arena_alloc(&plan->arena, plan->n_rows * sizeof *keep);
    size_t               n = weigh(plan, settings, cases);
    if ((size_t)n_parts > n)
        return error_set(err, STATUS_USAGE, "--shard %s: the selection has %zu cases; N from 1 to %zu is accepted",
                         settings->shard, n, n);
    assign(cases, n, arena_alloc(&plan->arena, (size_t)n_parts * sizeof(double)), (size_t)n_parts);
    qsort(cases, n, sizeof *cases, by_name);
    for (size_t row = 0; row < plan->n_rows; row++) {
        struct weighed_case  wanted = {.name = plan->rows[row].concrete->name};
        struct weighed_case *found = bsearch(&wanted, cases, n, sizeof *cases, by_name);
        keep[row] = found && found->part == (size_t)part - 1;
    }
    plan_keep(plan, keep);
    return STATUS_OK;
}
