/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which combinations of axis values become cases: all of them, or few in which every pair of values of two axes meets.
 *
 * The pairwise list grows one row at a time: each new row starts from the first pair that no row has yet and gives
 * every other axis the value that meets most pairs still missing (the greedy method of Cohen, Dalal, Fredman and
 * Patton, "The AETG system", 1997, with one candidate a row and no randomness). Rows that are already listed are kept
 * and count, so that a new value adds rows and renames none.
 */
#include "harness/registry.h"

#include <string.h>

/* The work of one list. Values are numbered through all axes: value v of axis a is first[a] + v. */
struct pairing {
    const struct matrix *matrix;
    struct arena        *arena;
    bool                *allowed;          /* [n_values] */
    size_t               first[MAX_AXES + 1];
    size_t               n_values;
    bool                *met;              /* [n_values][n_values], symmetric */
    uint16_t            *rows;
    size_t               n_rows;
};

static bool restriction_allows(const struct axis *restriction, const struct axis_value *value)
{
    for (size_t v = 0; v < restriction->n_values; v++)
        if (strcmp(restriction->values[v].text, value->text) == 0)
            return true;
    return false;
}

static const struct axis *restriction_of(const struct axis *restrictions, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(restrictions[i].name, name) == 0)
            return &restrictions[i];
    return NULL;
}

/* Fills `allowed`; false when a restriction leaves an axis empty or names an axis that the matrix lacks. */
static bool restrict_values(struct pairing *pairing, const struct axis *restrictions, size_t n_restrictions)
{
    const struct matrix *matrix = pairing->matrix;
    for (size_t i = 0; i < n_restrictions; i++) {
        size_t a = 0;
        while (a < matrix->n_axes && strcmp(matrix->axes[a].name, restrictions[i].name) != 0)
            a++;
        if (a == matrix->n_axes)
            return false;
    }
    for (size_t a = 0; a < matrix->n_axes; a++) {
        const struct axis *axis = &matrix->axes[a];
        const struct axis *restriction = restriction_of(restrictions, n_restrictions, axis->name);
        size_t             left = 0;
        for (size_t v = 0; v < axis->n_values; v++) {
            bool allowed = !restriction || restriction_allows(restriction, &axis->values[v]);
            pairing->allowed[pairing->first[a] + v] = allowed;
            left += allowed;
        }
        if (left == 0)
            return false;
    }
    return true;
}

static void add_row(struct pairing *pairing, const uint16_t *row)
{
    size_t n = pairing->matrix->n_axes;
    pairing->rows = arena_grow(pairing->arena, pairing->rows, pairing->n_rows, n * sizeof *row);
    memcpy(pairing->rows + pairing->n_rows++ * n, row, n * sizeof *row);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            pairing->met[(pairing->first[a] + row[a]) * pairing->n_values + pairing->first[b] + row[b]] = true;
}

static bool row_is_legal(const struct pairing *pairing, const uint16_t *row)
{
    for (size_t a = 0; a < pairing->matrix->n_axes; a++)
        if (row[a] >= pairing->matrix->axes[a].n_values || !pairing->allowed[pairing->first[a] + row[a]])
            return false;
    return true;
}

/* Gives axis `a` the allowed value that meets most missing pairs with the axes that are set. Equal counts go to the
 * value after the one that this axis got in the row before, so that unconstrained axes keep turning. */
static uint16_t best_value(const struct pairing *pairing, const uint16_t *row, const bool *is_set, size_t a)
{
    size_t   n_values = pairing->matrix->axes[a].n_values, best_count = 0;
    uint16_t best = 0;
    bool     found = false;
    size_t   turn = pairing->n_rows ? pairing->rows[(pairing->n_rows - 1) * pairing->matrix->n_axes + a] + 1u : 0;
    for (size_t i = 0; i < n_values; i++) {
        size_t v = (turn + i) % n_values, count = 0, id = pairing->first[a] + v;
        if (!pairing->allowed[id])
            continue;
        for (size_t b = 0; b < pairing->matrix->n_axes; b++)
            count += is_set[b] && !pairing->met[id * pairing->n_values + pairing->first[b] + row[b]];
        if (!found || count > best_count) {
            best = (uint16_t)v;
            best_count = count;
            found = true;
        }
    }
    return best;
}

/* Adds the row that starts from the missing pair (a, v), (b, w). */
static void add_row_from(struct pairing *pairing, size_t a, size_t v, size_t b, size_t w)
{
    uint16_t row[MAX_AXES] = {0};
    bool     is_set[MAX_AXES] = {false};
    row[a] = (uint16_t)v;
    row[b] = (uint16_t)w;
    is_set[a] = is_set[b] = true;
    for (size_t c = 0; c < pairing->matrix->n_axes; c++)
        if (!is_set[c]) {
            row[c] = best_value(pairing, row, is_set, c);
            is_set[c] = true;
        }
    add_row(pairing, row);
}

static void add_missing_pairs(struct pairing *pairing)
{
    const struct matrix *matrix = pairing->matrix;
    for (size_t a = 0; a < matrix->n_axes; a++)
        for (size_t b = a + 1; b < matrix->n_axes; b++)
            for (size_t v = 0; v < matrix->axes[a].n_values; v++)
                for (size_t w = 0; w < matrix->axes[b].n_values; w++) {
                    size_t left = pairing->first[a] + v, right = pairing->first[b] + w;
                    if (pairing->allowed[left] && pairing->allowed[right] &&
                        !pairing->met[left * pairing->n_values + right])
                        add_row_from(pairing, a, v, b, w);
                }
}

static void add_product(struct pairing *pairing)
{
    const struct matrix *matrix = pairing->matrix;
    uint16_t             row[MAX_AXES] = {0};
    for (;;) {
        if (row_is_legal(pairing, row))
            add_row(pairing, row);
        size_t a = matrix->n_axes;
        while (a > 0 && ++row[a - 1] == matrix->axes[a - 1].n_values)
            row[--a] = 0;
        if (a == 0)
            return;
    }
}

size_t matrix_combinations(struct arena *arena, const struct matrix *matrix, const struct axis *restrictions,
                           size_t n_restrictions, const uint16_t *kept, size_t n_kept, uint16_t **rows)
{
    struct pairing pairing = {.matrix = matrix, .arena = arena};
    struct arena   scratch = {0};
    for (size_t a = 0; a < matrix->n_axes; a++)
        pairing.first[a + 1] = pairing.first[a] + matrix->axes[a].n_values;
    pairing.n_values = pairing.first[matrix->n_axes];
    pairing.allowed = arena_alloc(&scratch, pairing.n_values);
    pairing.met = arena_alloc(&scratch, pairing.n_values * pairing.n_values);
    if (restrict_values(&pairing, restrictions, n_restrictions)) {
        if (matrix->product)
            add_product(&pairing);
        else {
            for (size_t i = 0; i < n_kept; i++)
                if (row_is_legal(&pairing, kept + i * matrix->n_axes))
                    add_row(&pairing, kept + i * matrix->n_axes);
            add_missing_pairs(&pairing);
        }
    }
    arena_clear(&scratch);
    *rows = pairing.rows;
    return pairing.n_rows;
}
