/* SPDX-License-Identifier: Apache-2.0 */
/* Shards of made-up plans: disjoint, complete, even, and the same in whatever order the plan stands. */
#include "harness/shard.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { N_CASES = 40 };

static struct family        family;
static struct concrete_case cases[N_CASES];
static char                 names[N_CASES][16];
static int32_t              lengths[N_CASES];

/* Cases of quadratically growing length; backwards: in the other order. */
static void make_plan(struct plan *plan, bool backwards)
{
    *plan = (struct plan){0};
    plan->targets = arena_alloc(&plan->arena, sizeof *plan->targets);
    plan->targets[0] = (struct target){.record = {.backend = "host"}, .n_planned = N_CASES};
    plan->n_targets = 1;
    plan->rows = arena_alloc(&plan->arena, N_CASES * sizeof *plan->rows);
    for (int i = 0; i < N_CASES; i++) {
        int at = backwards ? N_CASES - 1 - i : i;
        snprintf(names[i], sizeof names[i], "case/%02d", i);
        lengths[i] = 1000 * (i + 1) * (i + 1);
        cases[i] = (struct concrete_case){.name = names[i], .family = &family, .longest = lengths[i],
                                          .spec = {.batch = 1, .lengths = &lengths[i], .n_lengths = 1}};
        plan->rows[at] = (struct plan_row){.concrete = &cases[i]};
    }
    plan->n_rows = N_CASES;
}

static enum status cut(struct plan *plan, const char *text, struct error *err)
{
    struct settings settings = {.shard = text};
    return shard_cut(plan, &settings, err);
}

Test(shard, parts_are_disjoint_complete_and_even)
{
    for (int n = 1; n <= N_CASES; n++) {
        int    seen[N_CASES] = {0};
        double least = 1e300, most = 0, total = 0;
        for (int part = 1; part <= n; part++) {
            struct plan  plan;
            struct error err = {0};
            char         text[16];
            double       load = 0;
            make_plan(&plan, part % 2 == 0);
            snprintf(text, sizeof text, "%d/%d", part, n);
            cr_assert_eq(cut(&plan, text, &err), STATUS_OK, "%s", err.text);
            cr_assert_gt(plan.n_rows, 0);
            cr_assert_eq(plan.targets[0].n_planned, plan.n_rows);
            for (size_t row = 0; row < plan.n_rows; row++) {
                seen[plan.rows[row].concrete - cases]++;
                load += plan.rows[row].concrete->longest;
            }
            least = load < least ? load : least;
            most = load > most ? load : most;
            total += load;
            plan_clear(&plan);
        }
        for (int i = 0; i < N_CASES; i++)
            cr_assert_eq(seen[i], 1, "case %d is in %d of %d parts", i, seen[i], n);
        /* Graham's bound: 4/3 of the best cut, which is at least the mean and the longest case. */
        double best = total / n > lengths[N_CASES - 1] ? total / n : lengths[N_CASES - 1];
        cr_assert_leq(most, 4.0 / 3 * best + 1, "%d parts: the longest has %.0f, the shortest %.0f", n, most, least);
    }
}

Test(shard, what_is_no_part_is_refused_with_what_would_be)
{
    static const char *const wrong[] = {"0/2", "3/2", "1", "1/", "/2", "+1/2", "1/-2", " 1/2", "1/2 ", "a/b", "1/2/3", "1/41"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct plan  plan;
        struct error err = {0};
        make_plan(&plan, false);
        cr_assert_eq(cut(&plan, wrong[i], &err), STATUS_USAGE, "'%s' is accepted", wrong[i]);
        cr_assert_not_null(strstr(err.text, "1 to"), "%s", err.text);
        plan_clear(&plan);
    }
}
