/* SPDX-License-Identifier: Apache-2.0 */
/* Relations without an oracle; see judge_relation.h. */
#include "harness/judge_relation.h"

#include "cases/random.h"
#include "harness/claims.h"

#include <stdlib.h>
#include <string.h>

#define SIGN 0x80000000u
#define INFINITY_BITS 0x7f800000u
#define LOWEST_FINITE 0xff7fffffu
#define GARBAGE_TABLE 0x5a000000

/* One relation under way. */
struct relating {
    struct judging           *judging;
    const char               *name;
    uint64_t                  key;     /* of what is chosen */
    const struct problem     *problem; /* the one that was judged */
    struct problem            derived;
    struct reference_rules    rules;
    int32_t                  *left, *right; /* [topk + 1] each */
};

/* The score at a row's cut. Meaningless for a row that is not cut. */
struct cut {
    bool     is_cut;  /* more selectable scores than places */
    bool     is_tied; /* scores equal to the one at the cut stay outside */
    uint32_t key;
};

static const uint32_t *row_scores(const struct problem *problem, int32_t row)
{
    return problem->inputs.scores + (int64_t)row * problem->inputs.score_stride;
}

static struct cut find_cut(const struct relating *relating, int32_t row)
{
    const struct problem *problem = relating->problem;
    const uint32_t       *scores = row_scores(problem, row);
    const int32_t        *selected = problem->raw + (int64_t)row * problem->inputs.topk;
    int32_t               n_equal = 0, n_selected = 0, count = problem->counts[row];
    struct cut            cut = {.is_cut = problem->lengths[row] > problem->inputs.topk && count > 0, .key = UINT32_MAX};
    if (!cut.is_cut)
        return cut;
    for (int32_t j = 0; j < count; j++) {
        uint32_t key = reference_key(scores[selected[j]], &relating->rules);
        n_selected = key < cut.key ? 1 : n_selected + (key == cut.key);
        cut.key = key < cut.key ? key : cut.key;
    }
    for (int32_t i = 0; i < problem->lengths[row]; i++)
        n_equal += reference_selectable(scores[i], &relating->rules) &&
                   reference_key(scores[i], &relating->rules) == cut.key;
    cut.is_tied = n_equal > n_selected;
    return cut;
}

/* Whether the claims fix the row's set. */
static bool set_is_fixed(const struct relating *relating, int32_t row)
{
    const uint32_t *scores = row_scores(relating->problem, row);
    for (int32_t i = 0; relating->problem->claims.nan == TOPK_NAN_ANY && i < relating->problem->lengths[row]; i++)
        if ((scores[i] & ~SIGN) > INFINITY_BITS)
            return false;
    return relating->problem->claims.tie == TOPK_TIE_LOWEST || !find_cut(relating, row).is_tied;
}

/* ---- derived inputs ------------------------------------------------------------------------------------------- */

/* A copy whose rows have room for `extra` more columns. NULL scores and an error when memory runs out, or when the page
 * table has no entries left for them. */
static bool copy_wider(struct relating *relating, int32_t extra, struct case_inputs *to)
{
    const struct case_inputs *from = &relating->problem->inputs;
    int64_t                   pages = ((int64_t)from->max_seq_len + from->page_size - 1) / from->page_size;
    int64_t more_pages = ((int64_t)from->max_seq_len + extra + from->page_size - 1) / from->page_size;
    *to = *from;
    to->max_seq_len += extra;
    to->score_stride += extra;
    to->page_table_stride += more_pages - pages;
    to->scores = malloc(case_scores_bytes(to));
    to->seq_lens = malloc(case_seq_lens_bytes(to));
    to->page_table = malloc(case_page_table_bytes(to));
    if (!to->scores || !to->seq_lens || !to->page_table) {
        error_no_memory(&relating->judging->error);
        case_inputs_clear(to);
        return false;
    }
    for (int32_t row = 0; row < from->batch; row++) {
        /* A length beyond the width is one within the wider one. */
        to->seq_lens[row] = from->seq_lens[row] > from->max_seq_len ? from->max_seq_len : from->seq_lens[row];
        const uint32_t *old = from->scores + row * from->score_stride;
        uint32_t       *scores = to->scores + row * to->score_stride;
        memcpy(scores, old, (size_t)from->score_stride * sizeof *scores);
        for (int64_t i = from->score_stride; i < to->score_stride; i++)
            scores[i] = INFINITY_BITS;
        int32_t *table = to->page_table + row * to->page_table_stride, largest = -1;
        memcpy(table, from->page_table + row * from->page_table_stride,
               (size_t)from->page_table_stride * sizeof *table);
        for (int64_t p = 0; p < pages; p++)
            largest = table[p] > largest ? table[p] : largest;
        if ((largest + more_pages - pages + 1) * from->page_size > INT32_MAX) {
            case_inputs_clear(to);
            return false;
        }
        for (int64_t p = pages; p < more_pages; p++)
            table[p] = largest + 1 + (int32_t)(p - pages);
        for (int64_t p = more_pages; p < to->page_table_stride; p++)
            table[p] = GARBAGE_TABLE;
    }
    return true;
}

/* A score below the row's cut: one of its own where there is one. False when nothing ranks lower. */
static bool score_below(const struct relating *relating, int32_t row, uint32_t key, uint64_t bits, uint32_t *score)
{
    const uint32_t *scores = row_scores(relating->problem, row);
    int32_t         n = relating->problem->lengths[row];
    int32_t         from = (int32_t)random_below(bits, (uint32_t)n);
    for (int32_t i = 0; i < n; i++) {
        *score = scores[(from + i) % n];
        if (reference_selectable(*score, &relating->rules) && reference_key(*score, &relating->rules) < key)
            return true;
    }
    *score = LOWEST_FINITE;
    return reference_key(*score, &relating->rules) < key;
}

static bool derive_appended(struct relating *relating, struct case_inputs *to)
{
    bool    any = false;
    int32_t extra = 1 + (int32_t)random_below(random_bits(relating->key, 0, 0), 600);
    if (!copy_wider(relating, extra, to))
        return false;
    for (int32_t row = 0; row < to->batch; row++) {
        struct cut cut = find_cut(relating, row);
        int32_t    length = to->seq_lens[row];
        uint32_t   score;
        if (!cut.is_cut || length != relating->problem->lengths[row] ||
            !score_below(relating, row, cut.key, random_bits(relating->key, 1, (uint64_t)row), &score))
            continue;
        for (int32_t i = 0; i < extra; i++)
            to->scores[row * to->score_stride + length + i] = score;
        to->seq_lens[row] += extra;
        any = true;
    }
    if (!any)
        case_inputs_clear(to);
    return any;
}

/* Columns of rows without a tie at the cut are permuted; other rows stay. */
static bool is_permuted(const struct relating *relating, int32_t row)
{
    struct cut cut = find_cut(relating, row);
    return cut.is_cut && !cut.is_tied;
}

static void row_permutation(const struct relating *relating, int32_t row, struct random_permutation *permutation)
{
    random_permutation_init(permutation, random_bits(relating->key, 2, (uint64_t)row),
                            (uint32_t)relating->problem->lengths[row]);
}

static bool derive_columns(struct relating *relating, struct case_inputs *to)
{
    bool any = false;
    for (int32_t row = 0; row < relating->problem->inputs.batch && !any; row++)
        any = is_permuted(relating, row);
    if (!any || problem_copy_inputs(&relating->problem->inputs, to, &relating->judging->error))
        return false;
    for (int32_t row = 0; row < to->batch; row++) {
        struct random_permutation permutation;
        const uint32_t           *scores = row_scores(relating->problem, row);
        if (!is_permuted(relating, row))
            continue;
        row_permutation(relating, row, &permutation);
        for (int32_t i = 0; i < relating->problem->lengths[row]; i++)
            to->scores[row * to->score_stride + random_permutation_at(&permutation, (uint32_t)i)] = scores[i];
    }
    return true;
}

static bool derive_garbage(struct relating *relating, struct case_inputs *to)
{
    static const uint32_t kinds[] = {0x7fc00001u, 0xff800000u, 0x7f7fffffu, 0xffc00000u, 0u};
    const uint32_t        garbage = kinds[random_below(random_bits(relating->key, 0, 0), 5)];
    bool                  any = false;
    if (problem_copy_inputs(&relating->problem->inputs, to, &relating->judging->error))
        return false;
    for (int32_t row = 0; row < to->batch; row++)
        for (int64_t i = relating->problem->lengths[row]; i < to->score_stride; i++) {
            to->scores[row * to->score_stride + i] = garbage ? garbage
                                                             : (uint32_t)random_bits(relating->key, 3, (uint64_t)i);
            any = true;
        }
    if (!any)
        case_inputs_clear(to);
    return any;
}

static bool derive_next_topk(struct relating *relating, struct case_inputs *to)
{
    int32_t topk = relating->problem->inputs.topk, largest = claims_max_topk(&relating->problem->claims);
    if ((topk >= largest && topk < 2) || problem_copy_inputs(&relating->problem->inputs, to, &relating->judging->error))
        return false;
    to->topk = topk < largest ? topk + 1 : topk - 1;
    return true;
}

/* A row is scaled when that is exact: every score zero, infinite, NaN or normal before and after. */
static bool can_scale(const uint32_t *scores, int32_t n, int32_t exponent)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t old = (int32_t)(scores[i] >> 23 & 0xff);
        if ((scores[i] & ~SIGN) == 0 || old == 0xff)
            continue;
        if (old == 0 || old + exponent < 1 || old + exponent > 0xfe)
            return false;
    }
    return true;
}

static bool derive_scaled(struct relating *relating, struct case_inputs *to)
{
    int32_t exponent = (int32_t)random_below(random_bits(relating->key, 0, 0), 24) - 12;
    bool    any = false;
    exponent += exponent >= 0; /* 1 is no scale */
    if (problem_copy_inputs(&relating->problem->inputs, to, &relating->judging->error))
        return false;
    for (int32_t row = 0; row < to->batch; row++) {
        uint32_t *scores = to->scores + row * to->score_stride;
        int32_t   n = relating->problem->lengths[row];
        if (n <= to->topk || !can_scale(scores, n, exponent))
            continue;
        for (int32_t i = 0; i < n; i++)
            if ((scores[i] & ~SIGN) != 0 && (scores[i] & INFINITY_BITS) != INFINITY_BITS)
                scores[i] += (uint32_t)exponent << 23;
        any = true;
    }
    if (!any)
        case_inputs_clear(to);
    return any;
}

static bool derive_zeroes(struct relating *relating, struct case_inputs *to)
{
    bool any = false;
    if (relating->problem->claims.zero != TOPK_ZERO_EQUAL ||
        problem_copy_inputs(&relating->problem->inputs, to, &relating->judging->error))
        return false;
    for (int32_t row = 0; row < to->batch; row++) {
        uint32_t *scores = to->scores + row * to->score_stride;
        for (int32_t i = 0; i < relating->problem->lengths[row]; i++)
            if ((scores[i] & ~SIGN) == 0 && random_bits(relating->key, (uint64_t)row, (uint64_t)i) & 1) {
                scores[i] ^= SIGN;
                any = true;
            }
    }
    if (!any)
        case_inputs_clear(to);
    return any;
}

/* ---- comparing sets ------------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Where the permutation took the indices of a set. */
static void permute_set(const struct relating *relating, int32_t row, int32_t *set, int32_t count)
{
    struct random_permutation permutation;
    if (!is_permuted(relating, row))
        return;
    row_permutation(relating, row, &permutation);
    for (int32_t j = 0; j < count; j++)
        set[j] = set[j] < 0 ? -1 : (int32_t)random_permutation_at(&permutation, (uint32_t)set[j]);
    qsort(set, (size_t)count, sizeof *set, ascending);
}

static bool contains(const int32_t *large, int32_t n_large, const int32_t *small, int32_t n_small)
{
    int32_t at = 0;
    for (int32_t j = 0; j < n_small; j++) {
        while (at < n_large && large[at] < small[j])
            at++;
        if (at == n_large || large[at] != small[j])
            return false;
    }
    return true;
}

static void compare_sets(struct relating *relating, enum trial_relation relation)
{
    struct judging       *judging = relating->judging;
    const struct problem *before = relating->problem, *after = &relating->derived;
    for (int32_t row = 0; row < before->inputs.batch; row++) {
        int32_t  n_before = before->counts[row], n_after = after->counts[row];
        int32_t *old = relating->left, *new = relating->right;
        if (!set_is_fixed(relating, row))
            continue;
        row_sorted_set(before, row, launch_row(&judging->first[0], before->inputs.topk, row), old);
        row_sorted_set(after, row, launch_row(&judging->last.outputs, after->inputs.topk, row), new);
        if (relation == TRIAL_COLUMNS)
            permute_set(relating, row, old, n_before);
        bool holds = n_before <= n_after ? contains(new, n_after, old, n_before) : contains(old, n_before, new, n_after);
        if (!holds)
            judging_miss(judging, TOPK_LEVEL_VALID,
                         "launch %d (relation %s): row %d: the set does not follow from that of the problem itself",
                         judging->launches, relating->name, row);
    }
}

static void launch_derived(struct relating *relating, enum trial_relation relation,
                           bool (*derive)(struct relating *, struct case_inputs *))
{
    struct judging    *judging = relating->judging;
    struct case_inputs inputs;
    struct launch_form form = {.what = relating->name, .turn = judging->turn++};
    bool               whole = relation == TRIAL_GARBAGE;
    if (!derive(relating, &inputs) ||
        problem_make(&relating->derived, &inputs, &relating->problem->claims, &judging->error))
        return;
    size_t bytes = ((size_t)relating->problem->inputs.topk + 1) * sizeof(int32_t);
    relating->left = malloc(bytes);
    relating->right = malloc(bytes);
    if (!relating->left || !relating->right)
        error_no_memory(&judging->error);
    else if (judging_launch(judging, &relating->derived, form, whole ? COMPARE_ROWS : COMPARE_NOTHING) && !whole &&
             judging->last.safe && judging->last.valid && !judging->error.status)
        compare_sets(relating, relation);
    free(relating->left);
    free(relating->right);
    problem_clear(&relating->derived);
}

/* ---- the same inputs in another form -------------------------------------------------------------------------- */

static void launch_rows(struct relating *relating)
{
    struct judging           *judging = relating->judging;
    int32_t                   batch = relating->problem->inputs.batch;
    struct launch_form        form = {.what = relating->name, .rows = judging->rows, .n_rows = batch};
    struct random_permutation permutation;
    if (batch == 1)
        return;
    random_permutation_init(&permutation, relating->key, (uint32_t)batch);
    for (int32_t place = 0; place < batch; place++)
        judging->rows[place] = (int32_t)random_permutation_at(&permutation, (uint32_t)place);
    form.turn = judging->turn++;
    judging_launch(judging, relating->problem, form, COMPARE_ROWS);
}

static void launch_split(struct relating *relating)
{
    struct judging    *judging = relating->judging;
    int32_t            batch = relating->problem->inputs.batch;
    struct launch_form form = {.what = relating->name, .rows = judging->rows, .n_rows = 1};
    if (batch == 1)
        return;
    uint64_t bits = random_bits(relating->key, 0, 0);
    int32_t  first = (int32_t)random_below(bits, (uint32_t)batch);
    if (bits & UINT64_C(1) << 63) { /* half of it */
        form.n_rows = (batch + 1) / 2;
        first = bits & UINT64_C(1) << 62 ? batch - form.n_rows : 0;
    }
    for (int32_t place = 0; place < form.n_rows; place++)
        judging->rows[place] = first + place;
    form.turn = judging->turn++;
    judging_launch(judging, relating->problem, form, COMPARE_ROWS);
}

static void launch_memory(struct relating *relating)
{
    struct judging    *judging = relating->judging;
    uint64_t           bits = random_bits(relating->key, 0, 0);
    struct launch_form form = {.what = relating->name, .turn = judging->turn++};
    static const enum workspace_contents contents[] = {WORKSPACE_ZEROES, WORKSPACE_ONES, WORKSPACE_KEPT};
    form.workspace = contents[random_below(bits, 3)];
    form.at_end = bits >> 40 & 1;
    if (bits >> 41 & 1) {
        form.extra_shift = 1 + (int32_t)(bits >> 42 & 7);
        form.extra_stride = 1 + (int32_t)(bits >> 45 & 15);
        form.extra_table_stride = (int32_t)(bits >> 49 & 3);
    }
    judging_launch(judging, relating->problem, form, COMPARE_ROWS);
}

static void launch_between(struct relating *relating)
{
    struct judging    *judging = relating->judging;
    struct launch_form form = {.what = "the row reversed", .turn = judging->turn++};
    if (problem_reversed(relating->problem, &relating->derived, &judging->error))
        return;
    judging_launch(judging, &relating->derived, form, COMPARE_NOTHING);
    problem_clear(&relating->derived);
    form = (struct launch_form){.what = relating->name, .turn = judging->turn++};
    if (relating->key & 1)
        form.workspace = WORKSPACE_KEPT;
    if (!judging_is_decided(judging))
        judging_launch(judging, relating->problem, form, COMPARE_ROWS);
}

/* Whether both providers promise the row's set, by the same rules. */
static bool both_fix_sets(const struct topk_claims *a, const struct topk_claims *b)
{
    return a->tie == TOPK_TIE_LOWEST && b->tie == TOPK_TIE_LOWEST && a->zero == b->zero && a->neg_inf == b->neg_inf &&
           a->nan == b->nan && a->nan != TOPK_NAN_ANY;
}

/* The sets of the problem's own first launch, and those of the second provider. */
static void compare_with_other(struct relating *relating, const struct launch_result *result)
{
    struct judging *judging = relating->judging;
    int32_t         topk = relating->problem->inputs.topk;
    for (int32_t row = 0; row < relating->problem->inputs.batch; row++) {
        row_sorted_set(relating->problem, row, launch_row(&judging->first[0], topk, row), relating->left);
        row_sorted_set(relating->problem, row, launch_row(&result->outputs, topk, row), relating->right);
        if (memcmp(relating->left, relating->right, (size_t)relating->problem->counts[row] * sizeof(int32_t)) != 0)
            judging_miss(judging, TOPK_LEVEL_VALID, "launch %d (relation %s): row %d: another set than provider '%s'",
                         judging->launches, relating->name, row, judging->bench->beside->name);
    }
}

/* The second provider's launch of the same problem. It is not what is judged; only its sets are looked at. */
static void launch_other_provider(struct relating *relating)
{
    struct judging             *judging = relating->judging;
    struct launch_bench        *bench = judging->bench;
    const struct topk_provider *provider = bench->provider;
    void                       *self = bench->self;
    struct launch_form          form = {.what = relating->name, .turn = judging->turn++, .pattern = judging->launches};
    struct launch_result       *result = &judging->last;
    size_t                      bytes = (size_t)relating->problem->inputs.topk * sizeof(int32_t);
    bench->provider = bench->beside;
    bench->self = bench->beside_self;
    enum status status = launch_run(bench, relating->problem, &form, result, &judging->error);
    bench->provider = provider;
    bench->self = self;
    if (status || !result->ran || !result->safe || !result->valid ||
        !both_fix_sets(&provider->claims, &bench->beside->claims))
        return;
    relating->left = malloc(bytes);
    relating->right = malloc(bytes);
    if (!relating->left || !relating->right)
        error_no_memory(&judging->error);
    else
        compare_with_other(relating, result);
    free(relating->left);
    free(relating->right);
}

static void launch_beside(struct relating *relating)
{
    struct judging       *judging = relating->judging;
    struct launch_bench  *bench = judging->bench;
    struct launch_form    form = {.what = relating->name};
    enum topk_level       level;
    char                  why[128];
    if (!bench->beside || !trial_is_promised(&relating->problem->inputs, &bench->beside->claims, &level, why, sizeof why))
        return;
    if ((bench->with_pages && bench->beside->claims.outputs == TOPK_OUTPUTS_RAW) ||
        (bench->with_raw && bench->beside->claims.outputs == TOPK_OUTPUTS_PAGE))
        return;
    launch_other_provider(relating);
    form.turn = judging->turn++;
    if (relating->key & 1)
        form.workspace = WORKSPACE_KEPT;
    if (!judging_is_decided(judging))
        judging_launch(judging, relating->problem, form, COMPARE_ROWS);
}

void judge_relation(struct judging *judging, enum trial_relation relation, uint64_t seed)
{
    struct relating relating = {
        .judging = judging,
        .name = trial_relation_text(relation),
        .key = random_key_text(seed, trial_relation_text(relation)),
        .problem = &judging->problem,
        .rules = claims_rules(&judging->problem.claims),
    };
    switch (relation) {
    case TRIAL_AGAIN:
        judging_launch(judging, &judging->problem, (struct launch_form){.what = relating.name, .turn = judging->turn++},
                       COMPARE_REPEAT);
        break;
    case TRIAL_ROWS:
        launch_rows(&relating);
        break;
    case TRIAL_SPLIT:
        launch_split(&relating);
        break;
    case TRIAL_MEMORY:
        launch_memory(&relating);
        break;
    case TRIAL_BETWEEN:
        launch_between(&relating);
        break;
    case TRIAL_COLUMNS:
        launch_derived(&relating, relation, derive_columns);
        break;
    case TRIAL_APPENDED:
        launch_derived(&relating, relation, derive_appended);
        break;
    case TRIAL_GARBAGE:
        launch_derived(&relating, relation, derive_garbage);
        break;
    case TRIAL_NEXT_TOPK:
        launch_derived(&relating, relation, derive_next_topk);
        break;
    case TRIAL_SCALED:
        launch_derived(&relating, relation, derive_scaled);
        break;
    case TRIAL_ZEROES:
        launch_derived(&relating, relation, derive_zeroes);
        break;
    case TRIAL_BESIDE:
        launch_beside(&relating);
        break;
    case N_TRIAL_RELATIONS:
        break;
    }
}
