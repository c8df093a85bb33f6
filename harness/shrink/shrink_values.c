/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over values and their order; see shrinking.h. */
#include "harness/shrink/shrinking.h"

#include "cases/float_bits.h"

#include <stdlib.h>
#include <string.h>

/* The distinct values of a problem in the order of values. */
struct values {
    uint32_t *codes; /* order codes, ascending, distinct */
    int64_t   n;
};

static int by_code(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

static bool collect(const struct small_problem *problem, struct values *values)
{
    int64_t n = 0;
    values->codes = malloc((size_t)(small_problem_columns(problem) + 1) * sizeof *values->codes);
    values->n = 0;
    if (!values->codes)
        return false;
    for (int32_t r = 0; r < problem->n_rows; r++)
        for (int64_t i = 0; i < problem->rows[r].columns; i++)
            values->codes[n++] = float_code(problem->rows[r].scores[i]);
    qsort(values->codes, (size_t)n, sizeof *values->codes, by_code);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || values->codes[i] != values->codes[values->n - 1])
            values->codes[values->n++] = values->codes[i];
    return true;
}

static int64_t place_of(const struct values *values, uint32_t bits)
{
    uint32_t        code = float_code(bits);
    const uint32_t *found = bsearch(&code, values->codes, (size_t)values->n, sizeof code, by_code);
    return found - values->codes;
}

/* ---- classes of rank -------------------------------------------------------------------------------------------- */

/* One value for each class of every row. */
static bool use_classes(struct shrinking *shrinking, int32_t only, const uint32_t value[3])
{
    struct small_trial candidate;
    if (!shrink_candidate(shrinking, &candidate))
        return false;
    for (int32_t p = 0; p < candidate.n_problems; p++) {
        struct small_problem *problem = &candidate.problems[p];
        if (only >= 0 && p != only)
            continue;
        for (int32_t r = 0; r < problem->n_rows; r++) {
            struct small_row *row = &problem->rows[r];
            enum rank_class  *classes = malloc((size_t)(row->length + 1) * sizeof *classes);
            if (classes && shrink_classes(row, problem->topk, classes))
                for (int64_t i = 0; i < row->length; i++)
                    row->scores[i] = value[classes[i]];
            free(classes);
        }
    }
    return shrink_try(shrinking, &candidate);
}

/* Above, at and below the cut. */
static const uint32_t classes[][3] = {
    {0, 0, 0},
    {0x3f800000, 0x3f800000, 0},          /* 1 1 0 */
    {0x3f800000, 0, 0},                   /* 1 0 0 */
    {0x40000000, 0x3f800000, 0},          /* 2 1 0 */
    {0x3f800000, 0, 0xbf800000},          /* 1 0 -1 */
    {0x40400000, 0x40000000, 0x3f800000}, /* 3 2 1 */
    {0x3f800000, 0, 0x80000000},          /* 1 0 -0 */
    {0x3f800000, 0x80000000, 0},          /* 1 -0 0 */
};

bool shrink_to_classes(struct shrinking *shrinking)
{
    for (int32_t p = -1; p < shrinking->now.n_problems; p++) /* all problems at once, then one by one */
        for (size_t c = 0; c < sizeof classes / sizeof classes[0]; c++)
            if (use_classes(shrinking, p, classes[c]) && p < 0)
                return true;
    return false;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* Every score of a problem, by its value's place, through a table of bits. */
static bool map_values(struct shrinking *shrinking, int32_t p, const struct values *values, const uint32_t *to)
{
    struct small_trial candidate;
    if (!shrink_candidate(shrinking, &candidate))
        return false;
    struct small_problem *problem = &candidate.problems[p];
    for (int32_t r = 0; r < problem->n_rows; r++)
        for (int64_t i = 0; i < problem->rows[r].columns; i++)
            problem->rows[r].scores[i] = to[place_of(values, problem->rows[r].scores[i])];
    return shrink_try(shrinking, &candidate);
}

/* Whole numbers in the place of values, in their order: from 0 up, or around the middle. */
static bool number_values(struct shrinking *shrinking, int32_t p)
{
    struct values values;
    uint32_t     *to = NULL;
    bool          smaller = false;
    if (!collect(&shrinking->now.problems[p], &values))
        return false;
    to = malloc((size_t)(values.n + 1) * sizeof *to);
    for (int around = 0; to && around < 2 && !smaller; around++) {
        for (int64_t v = 0; v < values.n; v++)
            to[v] = float_bits_from_scaled(v - (around ? values.n / 2 : 0), 0);
        smaller = map_values(shrinking, p, &values, to);
    }
    free(to);
    free(values.codes);
    return smaller;
}

/* Neighbours become one value: half of all values into their lowest, then a quarter, down to two. */
static bool merge_values(struct shrinking *shrinking, int32_t p)
{
    struct values values;
    bool          smaller = false;
    if (!collect(&shrinking->now.problems[p], &values))
        return false;
    uint32_t *to = malloc((size_t)(values.n + 1) * sizeof *to);
    for (int64_t n = values.n; to && n >= 2; n = (n + 1) / 2) {
        for (int64_t at = 0; at + n <= values.n && !shrinking->out_of_time && shrinking->tried < shrinking->bound;) {
            for (int64_t v = 0; v < values.n; v++)
                to[v] = float_bits_from_code(values.codes[v >= at && v < at + n ? at : v]);
            if (!map_values(shrinking, p, &values, to)) {
                at += n - 1;
                continue;
            }
            smaller = true;
            memmove(values.codes + at + 1, values.codes + at + n, (size_t)(values.n - at - n) * sizeof *values.codes);
            values.n -= n - 1;
        }
        if (n == 2)
            break;
    }
    free(to);
    free(values.codes);
    return smaller;
}

/* Another value in the place of one. */
static bool replace_value(struct shrinking *shrinking, int32_t p, const struct values *values, int64_t place, uint32_t bits)
{
    bool      smaller = false;
    uint32_t *to = malloc((size_t)(values->n + 1) * sizeof *to);
    for (int64_t v = 0; to && v < values->n; v++)
        to[v] = v == place ? bits : float_bits_from_code(values->codes[v]);
    if (to && shrink_score_cost(bits) < shrink_score_cost(float_bits_from_code(values->codes[place])))
        smaller = map_values(shrinking, p, values, to);
    free(to);
    return smaller;
}

/* Simpler bits for one value: a simple number, then fewer and fewer bits of its fraction. */
static bool simplify_value(struct shrinking *shrinking, int32_t p, const struct values *values, int64_t place)
{
    static const uint32_t simple[] = {0,          0x3f800000, 0x40000000, 0xbf800000, 0x40400000, 0xc0000000,
                                      0x40800000, 0x3f000000, 0x41000000, 0x7f800000, 0xff800000, 0x80000000};
    uint32_t bits = float_bits_from_code(values->codes[place]);
    for (size_t s = 0; s < sizeof simple / sizeof simple[0]; s++)
        if (replace_value(shrinking, p, values, place, simple[s]))
            return true;
    if ((bits & 0x7fffffff) > FLOAT_BITS_PLUS_INFINITY)
        return replace_value(shrinking, p, values, place, 0x7fc00000) || replace_value(shrinking, p, values, place, 0xffc00000);
    for (int dropped = 23; dropped >= 1; dropped--) {
        uint32_t unit = UINT32_C(1) << dropped;
        if (replace_value(shrinking, p, values, place, bits & ~(unit - 1)) ||
            replace_value(shrinking, p, values, place, (bits + unit - 1) & ~(unit - 1)))
            return true;
    }
    return false;
}

static bool simplify_values(struct shrinking *shrinking, int32_t p)
{
    enum { MAX_VALUES = 12 };
    bool smaller = false, again = true;
    while (again) {
        struct values values;
        again = false;
        if (!collect(&shrinking->now.problems[p], &values))
            return smaller;
        for (int64_t v = 0; v < values.n && values.n <= MAX_VALUES && !again; v++)
            again = simplify_value(shrinking, p, &values, v);
        free(values.codes);
        smaller |= again;
    }
    return smaller;
}

bool shrink_values(struct shrinking *shrinking)
{
    bool smaller = shrink_to_classes(shrinking);
    for (int32_t p = shrinking->now.n_problems - 1; p >= 0; p--) {
        smaller |= number_values(shrinking, p);
        smaller |= merge_values(shrinking, p);
        smaller |= simplify_values(shrinking, p);
    }
    return smaller;
}

/* ---- order ------------------------------------------------------------------------------------------------------ */

static int descending_code(const void *a, const void *b)
{
    return by_code(&(const uint32_t){float_code(*(const uint32_t *)b)}, &(const uint32_t){float_code(*(const uint32_t *)a)});
}

static int ascending_code(const void *a, const void *b)
{
    return descending_code(b, a);
}

/* Sorted rows have fewer runs, where the fault does not mind. */
bool shrink_order(struct shrinking *shrinking)
{
    int (*const orders[])(const void *, const void *) = {descending_code, ascending_code};
    bool smaller = false;
    for (int32_t p = shrinking->now.n_problems - 1; p >= 0; p--)
        for (size_t o = 0; o < 2; o++) {
            struct small_trial candidate;
            if (!shrink_candidate(shrinking, &candidate))
                return smaller;
            for (int32_t r = 0; r < candidate.problems[p].n_rows; r++)
                qsort(candidate.problems[p].rows[r].scores, (size_t)candidate.problems[p].rows[r].length,
                      sizeof(uint32_t), orders[o]);
            smaller |= shrink_try(shrinking, &candidate);
        }
    return smaller;
}
