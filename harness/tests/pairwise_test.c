/* SPDX-License-Identifier: Apache-2.0 */
/* Combinations of axis values: every pair meets, kept rows stay, restrictions hold. */
#include "harness/registry.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* A matrix with axes of the given sizes; value v of axis a is called "a<axis>v<value>". */
static struct matrix make_matrix(struct arena *arena, const size_t *sizes, size_t n_axes)
{
    struct matrix matrix = {.n_axes = n_axes};
    for (size_t a = 0; a < n_axes; a++) {
        matrix.axes[a].name = arena_format(arena, "axis%zu", a);
        matrix.axes[a].n_values = sizes[a];
        matrix.axes[a].values = arena_alloc(arena, sizes[a] * sizeof(struct axis_value));
        for (size_t v = 0; v < sizes[a]; v++)
            matrix.axes[a].values[v].text = arena_format(arena, "a%zuv%zu", a, v);
    }
    return matrix;
}

static bool pair_meets(const uint16_t *rows, size_t n, size_t n_axes, size_t a, size_t v, size_t b, size_t w)
{
    for (size_t r = 0; r < n; r++)
        if (rows[r * n_axes + a] == v && rows[r * n_axes + b] == w)
            return true;
    return false;
}

Test(pairwise, every_pair_of_values_meets_in_few_rows)
{
    struct arena  arena = {0};
    const size_t  sizes[] = {7, 4, 3, 2, 3, 5, 1};
    struct matrix matrix = make_matrix(&arena, sizes, 7);
    uint16_t     *rows;
    size_t        n = matrix_combinations(&arena, &matrix, NULL, 0, NULL, 0, &rows);
    for (size_t a = 0; a < 7; a++)
        for (size_t b = a + 1; b < 7; b++)
            for (size_t v = 0; v < sizes[a]; v++)
                for (size_t w = 0; w < sizes[b]; w++)
                    cr_assert(pair_meets(rows, n, 7, a, v, b, w), "axis %zu=%zu never meets %zu=%zu", a, v, b, w);
    cr_expect_geq(n, 35, "7 x 5 pairs need 35 rows");
    cr_expect_leq(n, 50, "%zu rows are many for 35 pairs of the two longest axes", n);
    arena_clear(&arena);
}

Test(pairwise, product_has_every_combination_once)
{
    struct arena  arena = {0};
    const size_t  sizes[] = {3, 2, 4};
    struct matrix matrix = make_matrix(&arena, sizes, 3);
    uint16_t     *rows;
    matrix.product = true;
    size_t n = matrix_combinations(&arena, &matrix, NULL, 0, NULL, 0, &rows);
    cr_assert_eq(n, 24);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            cr_assert(memcmp(rows + i * 3, rows + j * 3, 3 * sizeof *rows) != 0);
    arena_clear(&arena);
}

Test(pairwise, a_new_value_adds_rows_and_changes_none)
{
    struct arena  arena = {0};
    const size_t  small[] = {4, 3, 3}, large[] = {5, 3, 3};
    struct matrix before = make_matrix(&arena, small, 3), after = make_matrix(&arena, large, 3);
    uint16_t     *old_rows, *new_rows;
    size_t        n_old = matrix_combinations(&arena, &before, NULL, 0, NULL, 0, &old_rows);
    size_t        n_new = matrix_combinations(&arena, &after, NULL, 0, old_rows, n_old, &new_rows);
    cr_assert_gt(n_new, n_old);
    cr_assert_eq(memcmp(old_rows, new_rows, n_old * 3 * sizeof *old_rows), 0, "a kept row moved or changed");
    for (size_t r = n_old; r < n_new; r++)
        cr_assert_eq(new_rows[r * 3], 4, "row %zu is new without need", r);
    arena_clear(&arena);
}

Test(pairwise, a_row_that_is_no_longer_legal_is_dropped)
{
    struct arena   arena = {0};
    const size_t   sizes[] = {2, 2};
    struct matrix  matrix = make_matrix(&arena, sizes, 2);
    const uint16_t kept[] = {3, 0, 1, 1};
    uint16_t      *rows;
    size_t         n = matrix_combinations(&arena, &matrix, NULL, 0, kept, 2, &rows);
    cr_assert_eq(n, 4);
    cr_assert_eq(rows[0], 1);
    cr_assert_eq(rows[1], 1);
    arena_clear(&arena);
}

Test(pairwise, restrictions_come_first)
{
    struct arena      arena = {0};
    const size_t      sizes[] = {5, 4, 3};
    struct matrix     matrix = make_matrix(&arena, sizes, 3);
    struct axis_value only[] = {{.text = "a0v2"}, {.text = "a0v4"}};
    struct axis       restriction = {.name = "axis0", .values = only, .n_values = 2};
    uint16_t         *rows;
    size_t            n = matrix_combinations(&arena, &matrix, &restriction, 1, NULL, 0, &rows);
    cr_assert_eq(n, 12, "4 x 3 pairs and no more");
    for (size_t r = 0; r < n; r++)
        cr_assert(rows[r * 3] == 2 || rows[r * 3] == 4);
    restriction.name = "no-such-axis";
    cr_assert_eq(matrix_combinations(&arena, &matrix, &restriction, 1, NULL, 0, &rows), 0);
    arena_clear(&arena);
}
