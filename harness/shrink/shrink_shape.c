/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over launches, rows, columns, topk and layout; see shrinking.h. */
#include "harness/shrink/shrinking.h"

#include "reference/reference.h"

#include <stdlib.h>
#include <string.h>

static struct small_problem *problem_of(struct shrinking *shrinking, int32_t p)
{
    return &shrinking->now.problems[p];
}

/* The topk-th largest of n keys, found digit by digit from the most significant one. 1 <= topk <= n. */
static uint32_t key_at_cut(const uint32_t *keys, int64_t n, int64_t topk)
{
    uint32_t prefix = 0;
    for (int shift = 24; shift >= 0; shift -= 8) {
        int64_t  counts[256] = {0};
        uint32_t digit = 255, above = shift == 24 ? 0 : UINT32_MAX << (shift + 8);
        for (int64_t i = 0; i < n; i++)
            counts[keys[i] >> shift & 255] += (keys[i] & above) == prefix;
        while (digit > 0 && topk > counts[digit])
            topk -= counts[digit--];
        prefix |= digit << shift;
    }
    return prefix;
}

bool shrink_classes(const struct small_row *row, int32_t topk, enum rank_class *classes)
{
    const struct reference_rules rules = {.nan = REFERENCE_NAN_BITS};
    if (row->length <= topk) {
        for (int64_t i = 0; i < row->length; i++)
            classes[i] = RANK_ABOVE;
        return true;
    }
    uint32_t *keys = malloc((size_t)row->length * sizeof *keys);
    if (!keys)
        return false;
    for (int64_t i = 0; i < row->length; i++)
        keys[i] = reference_key(row->scores[i], &rules);
    uint32_t cut = key_at_cut(keys, row->length, topk);
    free(keys);
    for (int64_t i = 0; i < row->length; i++) {
        uint32_t key = reference_key(row->scores[i], &rules);
        classes[i] = key > cut ? RANK_ABOVE : key == cut ? RANK_TIED : RANK_BELOW;
    }
    return true;
}

void shrink_remove_columns(struct small_row *row, int64_t from, int64_t n)
{
    int64_t own = from >= row->length ? 0 : from + n > row->length ? row->length - from : n;
    bool    is_plain = row->told == row->length;
    memmove(row->scores + from, row->scores + from + n, (size_t)(row->columns - from - n) * sizeof *row->scores);
    row->columns -= n;
    row->length -= own;
    if (is_plain)
        row->told = (int32_t)row->length;
}

void shrink_settle(struct small_problem *problem)
{
    int64_t width = small_problem_longest(problem) + problem->width_slack;
    int64_t stride = width + problem->stride_extra;
    int64_t entries = (width + problem->page_size - 1) / problem->page_size + problem->table_stride_extra;
    for (int32_t r = 0; r < problem->n_rows; r++) {
        struct small_row *row = &problem->rows[r];
        if (row->columns > stride)
            row->columns = stride;
        if (row->n_pages > entries)
            row->n_pages = entries;
    }
}

/* ---- layout ----------------------------------------------------------------------------------------------------- */

/* One simplification of a problem's layout. */
typedef void (*simplify)(struct small_problem *problem);

static void tight(struct small_problem *problem)
{
    problem->width_slack = 0;
    problem->stride_extra = 0;
    problem->table_stride_extra = 0;
    problem->base_shift = 0;
}

static void nothing_beyond(struct small_problem *problem)
{
    for (int32_t r = 0; r < problem->n_rows; r++)
        problem->rows[r].columns = problem->rows[r].length;
}

static void identity_table(struct small_problem *problem)
{
    problem->table = TABLE_IDENTITY;
    for (int32_t r = 0; r < problem->n_rows; r++) {
        free(problem->rows[r].pages);
        problem->rows[r].pages = NULL;
        problem->rows[r].n_pages = 0;
    }
}

static void reversed_table(struct small_problem *problem)
{
    identity_table(problem);
    problem->table = TABLE_REVERSED;
}

static void table_per_row(struct small_problem *problem)
{
    identity_table(problem);
    problem->table = TABLE_PER_ROW;
}

static void all_plain(struct small_problem *problem)
{
    tight(problem);
    nothing_beyond(problem);
    identity_table(problem);
}

/* Tens of thousands of pages are slow to look through, in kernels and in the judge. */
static void small_pages(struct small_problem *problem, int32_t page_size)
{
    enum { MAX_PAGES = 8192 };
    if (small_problem_longest(problem) > (int64_t)page_size * MAX_PAGES)
        return;
    if (problem->table == TABLE_GIVEN)
        identity_table(problem);
    problem->page_size = page_size;
}

static void pages_of_one(struct small_problem *problem)
{
    small_pages(problem, 1);
}

static void pages_of_two(struct small_problem *problem)
{
    small_pages(problem, 2);
}

static void half_pages(struct small_problem *problem)
{
    small_pages(problem, problem->page_size > 1 ? problem->page_size / 2 : 1);
}

static void no_slack(struct small_problem *problem)
{
    problem->width_slack = 0;
}

static void half_slack(struct small_problem *problem)
{
    problem->width_slack /= 2;
}

static void no_stride(struct small_problem *problem)
{
    problem->stride_extra = 0;
}

static void one_stride(struct small_problem *problem)
{
    problem->stride_extra = problem->stride_extra > 1 ? 1 : problem->stride_extra;
}

static void no_table_stride(struct small_problem *problem)
{
    problem->table_stride_extra = 0;
}

static void no_shift(struct small_problem *problem)
{
    problem->base_shift = 0;
}

static void one_shift(struct small_problem *problem)
{
    problem->base_shift = problem->base_shift > 1 ? 1 : problem->base_shift;
}

static bool simplify_layout(struct shrinking *shrinking, simplify simplification, int32_t only)
{
    struct small_trial candidate;
    if (!shrink_candidate(shrinking, &candidate))
        return false;
    for (int32_t p = 0; p < candidate.n_problems; p++)
        if (only < 0 || p == only)
            simplification(&candidate.problems[p]);
    return shrink_try(shrinking, &candidate);
}

bool shrink_layout(struct shrinking *shrinking)
{
    static const simplify simplifications[] = {all_plain,      tight,      nothing_beyond, identity_table,  reversed_table,
                                               table_per_row,  no_slack,   half_slack,     no_stride,       one_stride,
                                               no_table_stride, no_shift,  one_shift,      pages_of_one,    pages_of_two,
                                               half_pages};
    bool                  smaller = false;
    for (size_t s = 0; s < sizeof simplifications / sizeof simplifications[0]; s++) {
        if (simplify_layout(shrinking, simplifications[s], -1)) {
            smaller = true;
            continue;
        }
        for (int32_t p = 0; p < shrinking->now.n_problems && shrinking->now.n_problems > 1; p++)
            smaller |= simplify_layout(shrinking, simplifications[s], p);
    }
    return smaller;
}

/* ---- launches and rows ------------------------------------------------------------------------------------------ */

/* Takes n elements out of an array from place `at` on. */
static void close_gap(void *array, int32_t *n_elements, size_t bytes, int32_t at, int32_t n)
{
    char *base = array;
    memmove(base + (size_t)at * bytes, base + (size_t)(at + n) * bytes, (size_t)(*n_elements - at - n) * bytes);
    *n_elements -= n;
}

bool shrink_launches(struct shrinking *shrinking)
{
    bool smaller = false;
    /* The last one, too: an earlier launch may be the one that goes wrong. */
    for (int32_t n = shrinking->now.n_problems - 1; n >= 1; n /= 2)
        for (int32_t at = 0; at + n <= shrinking->now.n_problems && n < shrinking->now.n_problems;) {
            struct small_trial candidate;
            if (!shrink_candidate(shrinking, &candidate))
                return smaller;
            for (int32_t p = at; p < at + n; p++)
                small_problem_clear(&candidate.problems[p]);
            close_gap(candidate.problems, &candidate.n_problems, sizeof *candidate.problems, at, n);
            if (shrink_try(shrinking, &candidate))
                smaller = true;
            else
                at += n;
        }
    return smaller;
}

static bool remove_rows(struct shrinking *shrinking, int32_t p, int32_t at, int32_t n)
{
    struct small_trial candidate;
    if (!shrink_candidate(shrinking, &candidate))
        return false;
    struct small_problem *problem = &candidate.problems[p];
    for (int32_t r = at; r < at + n; r++)
        small_row_clear(&problem->rows[r]);
    close_gap(problem->rows, &problem->n_rows, sizeof *problem->rows, at, n);
    return shrink_try(shrinking, &candidate);
}

/* A row alone, whichever will do. */
static bool one_row(struct shrinking *shrinking, int32_t p)
{
    enum { MAX_ALONE = 24 };
    int32_t n_rows = problem_of(shrinking, p)->n_rows;
    for (int32_t keep = 0; keep < n_rows && keep < MAX_ALONE; keep++) {
        struct small_trial candidate;
        if (!shrink_candidate(shrinking, &candidate))
            return false;
        struct small_problem *problem = &candidate.problems[p];
        for (int32_t r = 0; r < n_rows; r++)
            if (r != keep)
                small_row_clear(&problem->rows[r]);
        problem->rows[0] = problem->rows[keep];
        if (keep)
            memset(&problem->rows[keep], 0, sizeof problem->rows[keep]);
        problem->n_rows = 1;
        if (shrink_try(shrinking, &candidate))
            return true;
    }
    return false;
}

bool shrink_rows(struct shrinking *shrinking)
{
    bool smaller = false;
    for (int32_t p = shrinking->now.n_problems - 1; p >= 0; p--) {
        if (problem_of(shrinking, p)->n_rows > 1 && one_row(shrinking, p)) {
            smaller = true;
            continue;
        }
        for (int32_t n = problem_of(shrinking, p)->n_rows / 2; n >= 1; n /= 2)
            for (int32_t at = 0; at + n <= problem_of(shrinking, p)->n_rows && problem_of(shrinking, p)->n_rows > n;)
                if (remove_rows(shrinking, p, at, n))
                    smaller = true;
                else
                    at += n;
    }
    return smaller;
}

/* ---- columns ---------------------------------------------------------------------------------------------------- */

/* Which columns of a row stay. */
enum thinning {
    KEEP_LEAST,       /* one column */
    KEEP_FIRST_HALF,
    KEEP_LAST_HALF,
    KEEP_EVERY_OTHER,
    HALVE_ABOVE,      /* half of those above the cut go, the others stay */
    HALVE_TIED,
    HALVE_BELOW,
    N_THINNINGS
};

/* Thins a row; returns how many of the columns that went were above the cut, or tied at it where those are halved. -1
 * without memory. */
static int64_t thin_row(struct small_row *row, int32_t topk, enum thinning how)
{
    enum rank_class *classes = malloc((size_t)(row->length + 1) * sizeof *classes);
    int64_t          kept = 0, gone = 0, seen[3] = {0}, length = row->length;
    if (!classes || !shrink_classes(row, topk, classes)) {
        free(classes);
        return -1;
    }
    for (int64_t i = 0; i < length; i++) {
        enum rank_class class = classes[i];
        bool            stays = how == KEEP_LEAST         ? i == 0
                                : how == KEEP_FIRST_HALF  ? i < (length + 1) / 2
                                : how == KEEP_LAST_HALF   ? i >= length / 2
                                : how == KEEP_EVERY_OTHER ? i % 2 == 0
                                : (int)class != (int)how - HALVE_ABOVE || seen[class] % 2 == 0;
        seen[class]++;
        if (stays)
            row->scores[kept++] = row->scores[i];
        else
            gone += class == RANK_ABOVE || (how == HALVE_TIED && class == RANK_TIED);
    }
    free(classes);
    bool is_plain = row->told == row->length;
    memmove(row->scores + kept, row->scores + length, (size_t)(row->columns - length) * sizeof *row->scores);
    row->columns -= length - kept;
    row->length = kept;
    if (is_plain)
        row->told = (int32_t)kept;
    return gone;
}

/* Thins every row of a problem; `less`: topk falls with what was selected, in the row that lost most; else topk stays. */
static bool thin(struct shrinking *shrinking, int32_t p, enum thinning how, bool less)
{
    struct small_trial candidate;
    int64_t            most = 0;
    if (!shrink_candidate(shrinking, &candidate))
        return false;
    struct small_problem *problem = &candidate.problems[p];
    for (int32_t r = 0; r < problem->n_rows; r++) {
        int64_t gone = thin_row(&problem->rows[r], problem->topk, how);
        most = gone > most ? gone : most;
    }
    if (how == KEEP_LEAST && less)
        problem->topk = 1;
    else if (less)
        problem->topk = most < problem->topk ? problem->topk - (int32_t)most : 1;
    return shrink_try(shrinking, &candidate);
}

bool shrink_halves(struct shrinking *shrinking)
{
    bool smaller = false;
    for (int32_t p = shrinking->now.n_problems - 1; p >= 0; p--)
        for (bool again = true; again;) {
            again = false;
            for (int how = 0; how < N_THINNINGS && small_problem_longest(problem_of(shrinking, p)) > 1; how++)
                for (int less = 1; less >= 0; less--)
                    again |= thin(shrinking, p, (enum thinning)how, less);
            smaller |= again;
        }
    return smaller;
}

/* How many of the columns [from, from + n) of a row are selected for certain. */
static int32_t selected_among(const struct small_row *row, int32_t topk, int64_t from, int64_t n)
{
    enum rank_class *classes = malloc((size_t)(row->length + 1) * sizeof *classes);
    int32_t          selected = 0;
    if (classes && shrink_classes(row, topk, classes))
        for (int64_t i = from; i < from + n && i < row->length; i++)
            selected += classes[i] == RANK_ABOVE;
    free(classes);
    return selected;
}

/* Takes columns out of a row, and `less` places out of the top k. */
static bool remove_columns(struct shrinking *shrinking, int32_t p, int32_t r, int64_t from, int64_t n, int32_t less)
{
    struct small_trial candidate;
    if (less >= problem_of(shrinking, p)->topk || !shrink_candidate(shrinking, &candidate))
        return false;
    shrink_remove_columns(&candidate.problems[p].rows[r], from, n);
    candidate.problems[p].topk -= less;
    return shrink_try(shrinking, &candidate);
}

static bool shrink_row_columns(struct shrinking *shrinking, int32_t p, int32_t r)
{
    bool smaller = false;
    for (int64_t n = problem_of(shrinking, p)->rows[r].columns; n >= 1; n /= 2)
        for (int64_t at = 0; at + n <= problem_of(shrinking, p)->rows[r].columns;) {
            const struct small_problem *problem = problem_of(shrinking, p);
            if (shrinking->out_of_time || shrinking->tried >= shrinking->bound)
                return smaller;
            int32_t selected = selected_among(&problem->rows[r], problem->topk, at, n);
            if ((selected && remove_columns(shrinking, p, r, at, n, selected)) || remove_columns(shrinking, p, r, at, n, 0))
                smaller = true;
            else
                at += n;
        }
    return smaller;
}

/* A row of few runs is left to shrink_run_lengths, which knows where to cut. */
static bool has_few_runs(const struct small_row *row)
{
    enum { FEW = 12 };
    int64_t runs = 0;
    for (int64_t i = 0; i < row->columns; i++)
        runs += i == 0 || row->scores[i] != row->scores[i - 1];
    return runs <= FEW && row->columns > FEW;
}

bool shrink_columns(struct shrinking *shrinking)
{
    bool smaller = false;
    for (int32_t p = shrinking->now.n_problems - 1; p >= 0; p--)
        for (int32_t r = 0; r < problem_of(shrinking, p)->n_rows; r++)
            if (!has_few_runs(&problem_of(shrinking, p)->rows[r]))
                smaller |= shrink_row_columns(shrinking, p, r);
    return smaller;
}

bool shrink_topk(struct shrinking *shrinking)
{
    bool smaller = false;
    for (int32_t p = shrinking->now.n_problems - 1; p >= 0; p--)
        for (int32_t n = problem_of(shrinking, p)->topk - 1; n >= 1;) {
            struct small_trial candidate;
            if (n >= problem_of(shrinking, p)->topk) {
                n /= 2;
                continue;
            }
            if (!shrink_candidate(shrinking, &candidate))
                return smaller;
            candidate.problems[p].topk -= n;
            if (shrink_try(shrinking, &candidate))
                smaller = true;
            else
                n /= 2;
        }
    return smaller;
}

/* Of the scores above and at the cut those in places [at, at + n) become the row's lowest, so that the others keep their columns. */
static void demote(struct small_row *row, int32_t topk, int64_t at, int64_t n)
{
    enum rank_class *classes = malloc((size_t)(row->length + 1) * sizeof *classes);
    int64_t          place = 0, lowest = 0;
    if (classes && row->length > topk && shrink_classes(row, topk, classes)) {
        while (lowest < row->length && classes[lowest] != RANK_BELOW)
            lowest++;
        for (int64_t i = 0; i < row->length && lowest < row->length; i++)
            if (classes[i] != RANK_BELOW) {
                row->scores[i] = place >= at && place < at + n ? row->scores[lowest] : row->scores[i];
                place++;
            }
    }
    free(classes);
}

bool shrink_winners(struct shrinking *shrinking)
{
    bool smaller = false;
    for (int32_t p = shrinking->now.n_problems - 1; p >= 0; p--)
        for (int32_t n = problem_of(shrinking, p)->topk - 1; n >= 1; n /= 2)
            for (int32_t at = 0; at + n <= problem_of(shrinking, p)->topk && n < problem_of(shrinking, p)->topk;) {
                struct small_trial candidate;
                if (!shrink_candidate(shrinking, &candidate))
                    return smaller;
                struct small_problem *problem = &candidate.problems[p];
                for (int32_t r = 0; r < problem->n_rows; r++)
                    demote(&problem->rows[r], problem->topk, at, n);
                problem->topk -= n;
                if (shrink_try(shrinking, &candidate))
                    smaller = true;
                else
                    at += n;
            }
    return smaller;
}

/* ---- runs of equal scores --------------------------------------------------------------------------------------- */

/* Makes one run shorter by halving what is taken off: with as many places of the top k, with as many as the run has
 * selected, with none. */
static bool shrink_one_run(struct shrinking *shrinking, int32_t p, int32_t r, int64_t at, int64_t *count)
{
    bool smaller = false;
    for (int64_t n = *count; n >= 1;) {
        if (n > *count) {
            n /= 2;
            continue;
        }
        const struct small_problem *problem = problem_of(shrinking, p);
        int32_t                     less = n < problem->topk ? (int32_t)n : 0;
        int32_t                     selected = selected_among(&problem->rows[r], problem->topk, at, n);
        bool                        shorter = (less && remove_columns(shrinking, p, r, at, n, less)) ||
                       (selected && selected != less && remove_columns(shrinking, p, r, at, n, selected)) ||
                       remove_columns(shrinking, p, r, at, n, 0);
        if (!shorter && (shrinking->out_of_time || shrinking->tried >= shrinking->bound))
            return smaller;
        if (shorter) {
            *count -= n;
            smaller = true;
        } else {
            n /= 2;
        }
    }
    return smaller;
}

bool shrink_run_lengths(struct shrinking *shrinking)
{
    enum { MAX_RUNS = 64 };
    bool smaller = false;
    for (int32_t p = shrinking->now.n_problems - 1; p >= 0; p--)
        for (int32_t r = 0; r < problem_of(shrinking, p)->n_rows; r++) {
            int64_t at = 0;
            for (int run = 0; run < MAX_RUNS && at < problem_of(shrinking, p)->rows[r].columns; run++) {
                const struct small_row *row = &problem_of(shrinking, p)->rows[r];
                int64_t                 end = at + 1;
                while (end < row->columns && row->scores[end] == row->scores[at] && end != row->length)
                    end++;
                int64_t count = end - at;
                smaller |= shrink_one_run(shrinking, p, r, at, &count);
                at += count;
            }
        }
    return smaller;
}
