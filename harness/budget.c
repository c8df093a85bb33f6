/* SPDX-License-Identifier: Apache-2.0 */
/* What is worth a limited time; see budget.h. Start reading at budget_apply(). */
#include "harness/budget.h"

#include "harness/estimate.h"

#include <stdlib.h>
#include <string.h>

enum value { VALUE_NEVER_RUN, VALUE_CHANGED, VALUE_FLAKY, VALUE_OLD };

/* A row with what speaks for it. */
struct candidate {
    const char *name; /* of the case */
    size_t      row;
    enum value  value;
    const char *judged_at; /* of its newest verdict; "" when there is none */
    double      ms;
};

/* The candidates of one target while the store tells of them; sorted by name. */
struct telling {
    struct plan         *plan;
    const struct target *target;
    struct candidate    *candidates;
    size_t               n;
};

static int by_name(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static int most_valuable_first(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    int age = strcmp(x->judged_at, y->judged_at);
    if (x->value == VALUE_OLD && age)
        return age;
    if (x->ms != y->ms)
        return x->ms < y->ms ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static struct candidate *find(const struct telling *telling, const char *name)
{
    struct candidate wanted = {.name = name};
    return name ? bsearch(&wanted, telling->candidates, telling->n, sizeof wanted, by_name) : NULL;
}

static enum status take_latest(void *payload, int n_columns, const char *const *names, const char *const *values,
                               struct error *err)
{
    const struct telling *telling = payload;
    struct candidate     *candidate = find(telling, values[0]);
    (void)n_columns;
    (void)names;
    (void)err;
    if (!candidate)
        return STATUS_OK;
    bool same = values[1] && strcmp(values[1], telling->target->description.digest) == 0;
    candidate->value = same ? VALUE_OLD : VALUE_CHANGED;
    candidate->judged_at = arena_text(&telling->plan->arena, values[2] ? values[2] : "");
    if (values[3] && strtod(values[3], NULL) > 0)
        candidate->ms = strtod(values[3], NULL);
    return STATUS_OK;
}

static enum status take_flaky(void *payload, int n_columns, const char *const *names, const char *const *values,
                              struct error *err)
{
    struct candidate *candidate = find(payload, values[0]);
    (void)n_columns;
    (void)names;
    (void)err;
    if (candidate && candidate->value == VALUE_OLD)
        candidate->value = VALUE_FLAKY;
    return STATUS_OK;
}

/* Fills in what the store knows of one target's rows. */
static enum status consult(struct store *store, struct telling *telling, struct error *err)
{
    const struct target *target = telling->target;
    const char *parameters[] = {target->record.device_id, target->description.name, target->description.origin};
    if (store_query(store,
                    "SELECT case_name, provider_digest, started_at, wall_ms FROM latest "
                    "WHERE device_id = ?1 AND provider = ?2 AND origin = ?3",
                    parameters, 3, take_latest, telling, err))
        return err->status;
    return store_query(store,
                       "SELECT DISTINCT case_name FROM results WHERE run IN (SELECT run FROM runs WHERE NOT excluded "
                       "ORDER BY started_at DESC LIMIT 20) AND device_id = ?1 AND provider = ?2 AND origin = ?3 AND "
                       "verdict = 'flaky'",
                       parameters, 3, take_flaky, telling, err);
}

static enum status weigh_target(struct plan *plan, const struct settings *settings, struct store *store, size_t target,
                                struct candidate *candidates, size_t *n, struct error *err)
{
    struct telling telling = {.plan = plan, .target = &plan->targets[target], .candidates = candidates + *n};
    double         factor;
    if (estimate_factor(store, telling.target, &factor, err))
        return err->status;
    for (size_t row = 0; row < plan->n_rows; row++)
        if (plan->rows[row].target == target)
            telling.candidates[telling.n++] = (struct candidate){
                .name = plan->rows[row].concrete->name,
                .row = row,
                .judged_at = "",
                .ms = factor * estimate_plain(settings, telling.target, plan->rows[row].concrete)};
    qsort(telling.candidates, telling.n, sizeof *candidates, by_name);
    *n += telling.n;
    return consult(store, &telling, err);
}

/* Targets that share workers share their time: all of host and sim, and those of one GPU. */
static size_t lane_of(const struct plan *plan, size_t target)
{
    bool   is_gpu = plan_is_gpu(&plan->targets[target]);
    size_t first = 0;
    while (plan_is_gpu(&plan->targets[first]) != is_gpu ||
           (is_gpu && strcmp(plan->targets[first].record.device_id, plan->targets[target].record.device_id) != 0))
        first++;
    return first;
}

enum status budget_apply(struct plan *plan, const struct settings *settings, struct store *store, struct error *err)
{
    if (!settings->budget)
        return STATUS_OK;
    struct candidate *candidates = arena_alloc(&plan->arena, plan->n_rows * sizeof *candidates);
    double           *left = arena_alloc(&plan->arena, plan->n_targets * sizeof *left);
    bool             *has_row = arena_alloc(&plan->arena, plan->n_targets * sizeof *has_row);
    size_t            n = 0;
    for (size_t t = 0; t < plan->n_targets; t++) {
        left[t] = (double)settings->budget * 1000 *
                  (plan_is_gpu(&plan->targets[t]) ? 1.0 : (double)plan_jobs(settings));
        if (weigh_target(plan, settings, store, t, candidates, &n, err))
            return err->status;
    }
    qsort(candidates, n, sizeof *candidates, most_valuable_first);
    for (size_t i = 0; i < n; i++) {
        size_t target = plan->rows[candidates[i].row].target, lane = lane_of(plan, target);
        bool   fits = candidates[i].ms <= left[lane];
        plan->rows[candidates[i].row].left_out = !fits && has_row[target];
        if (fits || !has_row[target])
            left[lane] -= candidates[i].ms;
        has_row[target] = true;
    }
    for (size_t row = 0; row < plan->n_rows; row++)
        plan->targets[plan->rows[row].target].n_left_out += plan->rows[row].left_out;
    return STATUS_OK;
}
