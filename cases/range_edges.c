/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generator `range-edges`: the cut falls exactly at a value where float16 ends. The topk-th score is the edge, better
 * ones go up from it in steps, the others go down. A kernel that compares in float16 sees one value on either side.
 * For `sign: negative` the edge is negated and the row is a row of large negative scores. `edge: mixed` draws every
 * score from the neighbourhood of a random edge.
 */
#include "cases/float_bits.h"
#include "cases/generator.h"
#include "cases/random.h"
#include "cases/row_order.h"

enum range_edges_param { PARAM_EDGE, PARAM_ORDER, PARAM_SIGN, PARAM_STEP };

enum range_edges_step { STEP_ULP, STEP_WHOLE };
enum range_edges_sign { SIGN_POSITIVE, SIGN_NEGATIVE };

#define EDGES 5

/* The edges and "mixed". 65519.9 is the float32 nearest to it; it rounds down to 65504, 65520 rounds up to infinity. */
static const char *const edge_choices[]    = {"65503", "65504", "65519.9", "65520", "3e38", "mixed", NULL};
static const uint32_t    edge_bits[EDGES]  = {0x477FDF00, 0x477FE000, 0x477FEFE6, 0x477FF000, 0x7F61B1E6};
static const char *const sign_choices[]    = {"positive", "negative", NULL};
static const char *const step_choices[]    = {"ulp", "whole", NULL};

static const struct case_param_spec params[] = {
    {.name = "edge", .choices = edge_choices, .fallback = "65504", .meaning = "the score at the cut"},
    {.name = "order", .choices = row_order_choices, .fallback = "shuffled", .meaning = "where the ranks stand"},
    {.name = "sign", .choices = sign_choices, .fallback = "positive", .meaning = "of all scores"},
    {.name     = "step",
     .choices  = step_choices,
     .fallback = "ulp",
     .meaning  = "between neighbouring ranks: one unit in the last place, or 256 of them (1 at 65504)"},
    {.name = NULL},
};

static void fill(const struct generator_row *row, uint32_t *scores)
{
    const uint32_t       sign = row->values[PARAM_SIGN] == SIGN_NEGATIVE ? FLOAT_BITS_MINUS_ZERO : 0;
    const int64_t        step = row->values[PARAM_STEP] == STEP_WHOLE ? 256 : 1;
    struct row_placement placement;
    row_placement_init(&placement, (enum row_order)row->values[PARAM_ORDER], row->key, row->row, row->length);

    for (int32_t rank = 0; rank < row->length; rank++) {
        const uint32_t column = row_placement_column(&placement, (uint32_t)rank);
        const uint64_t bits   = random_bits(row->key, (uint64_t)row->row, column);
        int64_t        edge   = row->values[PARAM_EDGE];
        int64_t        offset = (int64_t)row->topk - 1 - rank;
        if (edge == EDGES) {
            edge   = random_below(bits, EDGES);
            offset = (int64_t)(bits % 7) - 3;
        }
        scores[column] = float_bits_step(sign | edge_bits[edge], offset * step);
    }
}

const struct case_generator generator_range_edges = {
    .name      = "range-edges",
    .summary   = "scores on both sides of where float16 ends",
    .uses_topk = true,
    .params    = params,
    .fill      = fill,
};
