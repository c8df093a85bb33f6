/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generator `ties`: a plateau of equal scores around place topk. By rank: scores above the plateau, the plateau, scores
 * below. `boundary` says where the cut falls relative to the plateau, `tied` how many are equal, `distinct` how many
 * values the row has (at least as many as boundary and tied need), `gap` whether the neighbours of the plateau are one
 * unit in the last place away (nothing coarser than a full float32 key tells them apart) or far. `above` gives the
 * number of scores above the plateau outright, where reports do, and `boundary` has no part then. Other patterns than
 * `plateau` are distributions with many ties of their own, where all other parameters have no part.
 */
#include "cases/distribution.h"
#include "cases/float_bits.h"
#include "cases/generator.h"
#include "cases/random.h"
#include "cases/row_order.h"

enum ties_param {
    PARAM_ABOVE,
    PARAM_BOUNDARY,
    PARAM_DISTINCT,
    PARAM_GAP,
    PARAM_ORDER,
    PARAM_PATTERN,
    PARAM_PLATEAU,
    PARAM_TIED
};

enum ties_boundary {
    BOUNDARY_INSIDE_PLATEAU, /* winners and losers among the equal ones; how many of each differs from row to row */
    BOUNDARY_FIRST_SLOT,     /* nothing above the plateau */
    BOUNDARY_SECOND_SLOT,    /* one score above */
    BOUNDARY_LAST_SLOT,      /* topk-1 above: one slot is left for the whole plateau */
    BOUNDARY_PLATEAU_START,  /* topk above: nothing of the plateau is taken */
    BOUNDARY_PLATEAU_END,    /* above and plateau are topk together: nothing of the plateau is left over */
    BOUNDARY_ANYWHERE        /* independent draws among `distinct` values; topk has no part in it */
};

enum ties_gap { GAP_WIDE, GAP_ULP };
enum ties_pattern { PATTERN_PLATEAU, PATTERN_QUANTISED, PATTERN_GROUPS, PATTERN_RELU, PATTERN_BFLOAT16 };
enum ties_plateau { PLATEAU_POSITIVE, PLATEAU_ZERO, PLATEAU_NEGATIVE, PLATEAU_DENORMAL };

static const char *const boundary_choices[] = {"inside-plateau", "first-slot",  "second-slot", "last-slot",
                                               "plateau-start",  "plateau-end", "anywhere",    NULL};
static const char *const gap_choices[]      = {"wide", "ulp", NULL};
static const char *const pattern_choices[]  = {"plateau", "quantised", "groups", "relu", "bfloat16", NULL};
static const char *const plateau_choices[]  = {"positive", "zero", "negative", "denormal", NULL};

static const struct case_param_spec params[] = {
    {.name = "above", .high = INT32_MAX, .fallback = "auto", .meaning = "scores above the plateau"},
    {.name = "boundary", .choices = boundary_choices, .fallback = "inside-plateau", .meaning = "where the cut falls"},
    {.name = "distinct", .low = 1, .high = INT32_MAX, .fallback = "auto", .meaning = "different values in the row"},
    {.name = "gap", .choices = gap_choices, .fallback = "wide", .meaning = "distance between neighbouring values"},
    {.name = "order", .choices = row_order_choices, .fallback = "shuffled", .meaning = "where the ranks stand"},
    {.name     = "pattern",
     .choices  = pattern_choices,
     .fallback = "plateau",
     .meaning  = "one plateau; or normal scores to 1/64; in equal groups of four; nine in ten cut to zero; or "
                 "normal scores in bfloat16"},
    {.name = "plateau", .choices = plateau_choices, .fallback = "positive", .meaning = "the equal scores: 1.1, 0, -1.1 or 2^-127"},
    {.name = "tied", .low = 1, .high = INT32_MAX, .fallback = "auto", .meaning = "how many scores are equal"},
    {.name = NULL},
};

/* Group sizes, in ranks and in different values. */
struct ties_plan {
    int32_t above;
    int32_t tied;
    int32_t below;
    int32_t values_above;
    int32_t values_below;
};

static int32_t clamp(int64_t value, int32_t low, int32_t high)
{
    value = value > high ? high : value;
    return (int32_t)(value < low ? low : value);
}

/* How many scores stand above the plateau. `cut`: how many are selected; `tied`: 0 when it is free. */
static int32_t plan_above(const struct generator_row *row, int32_t cut, int32_t tied)
{
    if (row->values[PARAM_ABOVE] != GENERATOR_AUTO) {
        return clamp(row->values[PARAM_ABOVE], 0, row->length);
    }
    const int32_t fewest = tied > 0 && tied <= cut ? cut - tied + 1 : 0; /* or the plateau would end before the cut */
    switch ((enum ties_boundary)row->values[PARAM_BOUNDARY]) {
    case BOUNDARY_FIRST_SLOT: return 0;
    case BOUNDARY_SECOND_SLOT: return cut > 1 ? 1 : 0;
    case BOUNDARY_LAST_SLOT: return cut - 1;
    case BOUNDARY_PLATEAU_START: return cut;
    case BOUNDARY_PLATEAU_END: return tied > 0 ? clamp((int64_t)cut - tied, 0, cut - 1) : cut / 2;
    case BOUNDARY_INSIDE_PLATEAU:
    case BOUNDARY_ANYWHERE: break;
    }
    const uint32_t span = (uint32_t)(cut - fewest);
    if (span == 0) {
        return cut - 1;
    }
    if (row->row == 0) {
        return fewest + (int32_t)(span / 2);
    }
    return fewest + (int32_t)random_below(random_bits(row->key, (uint64_t)row->row, UINT64_MAX), span);
}

static struct ties_plan make_plan(const struct generator_row *row)
{
    /* A row that is selected whole still has a plateau, around its middle. */
    const int32_t n        = row->length;
    const int32_t cut      = row->topk < n ? row->topk : n / 2 + n % 2;
    const int64_t asked    = row->values[PARAM_TIED] == GENERATOR_AUTO ? 0 : row->values[PARAM_TIED];
    const int64_t distinct = row->values[PARAM_DISTINCT] == GENERATOR_AUTO ? n : row->values[PARAM_DISTINCT];
    if (distinct == 1) {
        return (struct ties_plan){.tied = n};
    }
    struct ties_plan plan = {.above = plan_above(row, cut, clamp(asked, 0, n))};
    const int32_t    room = n - plan.above;
    if (asked > 0) {
        plan.tied = clamp(asked, 1, room > 0 ? room : 1);
    } else if (row->values[PARAM_BOUNDARY] == BOUNDARY_PLATEAU_END) {
        plan.tied = cut - plan.above;
    } else if (distinct == 2 && plan.above > 0) {
        plan.tied = room;
    } else {
        /* Past the cut by at least one; half of what is left over belongs to the plateau. */
        const int32_t least = clamp((int64_t)cut - plan.above + 1, 1, room);
        plan.tied           = least + (room - least) / 2;
    }
    plan.tied  = clamp(plan.tied, 0, room);
    plan.below = room - plan.tied;

    const int64_t others = distinct - 1;
    const int64_t share  = (int64_t)plan.above + plan.below > 0
                               ? others * plan.above / ((int64_t)plan.above + plan.below)
                               : 0;
    plan.values_above = plan.above > 0 ? clamp(share, 1, plan.above) : 0;
    plan.values_below = plan.below > 0 ? clamp(others - plan.values_above, 1, plan.below) : 0;
    plan.values_above = plan.above > 0 ? clamp(others - plan.values_below, 1, plan.above) : 0;
    return plan;
}

/* The score `step` values above (below, if negative) the plateau; `step` is at most `most` either way. */
static uint32_t value_at(const struct generator_row *row, int32_t step, int32_t most)
{
    /* At most 2^20 apart, and all finite. */
    const int64_t wide = (INT64_C(1) << 29) / (most > 512 ? most : 512);
    const int64_t gap  = row->values[PARAM_GAP] == GAP_ULP ? 1 : wide;
    /* 1.1 lies in the middle of its coarse bins: an ulp either way stays inside. */
    static const uint32_t plus  = 0x3F8CCCCD;
    static const uint32_t minus = 0xBF8CCCCD;
    /* The middle of the denormals; steps of an ulp stay among them. */
    static const uint32_t denormal = 0x00400000;

    if (row->values[PARAM_PLATEAU] == PLATEAU_DENORMAL) {
        return float_bits_step(denormal, step * gap);
    }

    if (row->values[PARAM_PLATEAU] != PLATEAU_ZERO) {
        return float_bits_step(row->values[PARAM_PLATEAU] == PLATEAU_POSITIVE ? plus : minus, step * gap);
    }
    if (step == 0) {
        return 0;
    }
    if (gap == 1) {
        return step > 0 ? (uint32_t)step : FLOAT_BITS_MINUS_ZERO + (uint32_t)-step;
    }
    return float_bits_step(step > 0 ? plus : minus, step * gap);
}

/* Which of `values` values the place-th of `places` scores has, when they share them out evenly. */
static int32_t share(int32_t place, int32_t places, int32_t values)
{
    return places > 0 ? (int32_t)((int64_t)place * values / places) : 0;
}

static void fill_anywhere(const struct generator_row *row, uint32_t *scores)
{
    const int64_t asked    = row->values[PARAM_DISTINCT] == GENERATOR_AUTO ? 16 : row->values[PARAM_DISTINCT];
    const int32_t distinct = clamp(asked, 1, row->length);
    for (int32_t column = 0; column < row->length; column++) {
        const uint64_t bits = random_bits(row->key, (uint64_t)row->row, (uint64_t)column);
        const int32_t  step = (int32_t)random_below(bits, (uint32_t)distinct) - distinct / 2;
        scores[column]      = value_at(row, step, distinct);
    }
}

static void fill(const struct generator_row *row, uint32_t *scores)
{
    if (row->values[PARAM_PATTERN] != PATTERN_PLATEAU) {
        static const enum distribution distributions[] = {
            [PATTERN_QUANTISED] = DISTRIBUTION_QUANTISED,
            [PATTERN_GROUPS]    = DISTRIBUTION_GROUPS,
            [PATTERN_RELU]      = DISTRIBUTION_RELU,
            [PATTERN_BFLOAT16]  = DISTRIBUTION_BFLOAT16,
        };
        for (int32_t column = 0; column < row->length; column++) {
            scores[column] = distribution_score(row, column, distributions[row->values[PARAM_PATTERN]], SCALE_1);
        }
        return;
    }
    if (row->values[PARAM_BOUNDARY] == BOUNDARY_ANYWHERE) {
        fill_anywhere(row, scores);
        return;
    }
    const struct ties_plan plan = make_plan(row);
    const int32_t          most = plan.values_above > plan.values_below ? plan.values_above : plan.values_below;
    struct row_placement   placement;
    row_placement_init(&placement, (enum row_order)row->values[PARAM_ORDER], row->key, row->row, row->length);

    for (int32_t rank = 0; rank < row->length; rank++) {
        int32_t step = 0;
        if (rank < plan.above) {
            step = plan.values_above - share(rank, plan.above, plan.values_above);
        } else if (rank >= plan.above + plan.tied) {
            step = -1 - share(rank - plan.above - plan.tied, plan.below, plan.values_below);
        }
        scores[row_placement_column(&placement, (uint32_t)rank)] = value_at(row, step, most);
    }
}

const struct case_generator generator_ties = {
    .name      = "ties",
    .summary   = "a plateau of equal scores around the cut",
    .uses_topk = true,
    .params    = params,
    .fill      = fill,
};
