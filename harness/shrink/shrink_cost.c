/* SPDX-License-Identifier: Apache-2.0 */
/* Which of two trials is smaller; see shrinking.h. */
#include "harness/shrink/shrinking.h"

#include "cases/float_bits.h"

#include <stdlib.h>
#include <string.h>

enum { COST_LAUNCHES, COST_ROWS, COST_COLUMNS, COST_TOPK, COST_LAYOUT, COST_VALUES, COST_RUNS, COST_SCORES, N_COSTS };

int64_t shrink_score_cost(uint32_t bits)
{
    static const uint32_t simple[] = {0, 0x3f800000, 0x40000000, 0xbf800000};
    uint32_t              magnitude = bits & 0x7fffffff;
    float                 value;
    for (size_t i = 0; i < sizeof simple / sizeof simple[0]; i++)
        if (bits == simple[i])
            return (int64_t)i;
    memcpy(&value, &bits, sizeof value);
    if (magnitude > FLOAT_BITS_PLUS_INFINITY)
        return 2000 + (magnitude != 0x7fc00000) + (bits >> 31);
    if (magnitude == FLOAT_BITS_PLUS_INFINITY)
        return 220 + (bits >> 31);
    if (magnitude == 0)
        return 250; /* -0 */
    if (value >= -100 && value <= 100 && value == (float)(int)value)
        return 4 + (value < 0 ? -2 * (int)value + 1 : 2 * (int)value);
    /* The bits of the fraction that are in use, and how far from 1 the exponent is. */
    int64_t used = 23;
    while (used > 0 && !(magnitude >> (23 - used) & 1))
        used--;
    int64_t exponent = (int64_t)(magnitude >> 23) - 127;
    return 300 + 20 * used + (exponent < 0 ? -exponent : exponent) / 8 + (bits >> 31);
}

static int by_bits(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Adds what the rows of one problem hold: distinct values and what they cost, runs of equal ones. */
static void add_scores(const struct small_problem *problem, int64_t *cost)
{
    int64_t   n = small_problem_columns(problem), at = 0;
    uint32_t *values = malloc((size_t)(n + 1) * sizeof *values);
    for (int32_t r = 0; r < problem->n_rows; r++) {
        const struct small_row *row = &problem->rows[r];
        for (int64_t i = 0; i < row->columns; i++) {
            cost[COST_RUNS] += i == 0 || row->scores[i] != row->scores[i - 1];
            if (values)
                values[at++] = row->scores[i];
        }
    }
    if (!values)
        return;
    qsort(values, (size_t)n, sizeof *values, by_bits);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || values[i] != values[i - 1]) {
            cost[COST_VALUES]++;
            cost[COST_SCORES] += shrink_score_cost(values[i]);
        }
    free(values);
}

static void measure_shape(const struct small_trial *trial, int64_t cost[N_COSTS])
{
    memset(cost, 0, N_COSTS * sizeof *cost);
    cost[COST_LAUNCHES] = trial->n_problems;
    for (int32_t p = 0; p < trial->n_problems; p++) {
        const struct small_problem *problem = &trial->problems[p];
        cost[COST_ROWS] += problem->n_rows;
        cost[COST_COLUMNS] += small_problem_columns(problem);
        cost[COST_TOPK] += problem->topk;
        cost[COST_LAYOUT] += problem->width_slack + problem->stride_extra + problem->table_stride_extra +
                             problem->base_shift + problem->page_size + INT64_C(1000) * problem->table;
        for (int32_t r = 0; r < problem->n_rows; r++)
            cost[COST_LAYOUT] += problem->table == TABLE_GIVEN ? problem->rows[r].n_pages : 0;
    }
}

/* Sorts all scores, so it is asked for last. */
static void measure_scores(const struct small_trial *trial, int64_t cost[N_COSTS])
{
    for (int32_t p = 0; p < trial->n_problems; p++)
        add_scores(&trial->problems[p], cost);
}

int shrink_compare(const struct small_trial *a, const struct small_trial *b)
{
    int64_t left[N_COSTS], right[N_COSTS];
    measure_shape(a, left);
    measure_shape(b, right);
    if (memcmp(left, right, sizeof left) == 0) {
        measure_scores(a, left);
        measure_scores(b, right);
    }
    for (int c = 0; c < N_COSTS; c++)
        if (left[c] != right[c])
            return left[c] < right[c] ? -1 : 1;
    return 0;
}
