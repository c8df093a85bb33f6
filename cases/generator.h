/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one generator file fills in: a name, its parameters, and a function that writes the scores of one row.
 *
 * Adding a generator is one C file that defines a `const struct case_generator` and one line in generator_list.c.
 * A generator sees one row at a time and nothing of the batch, the strides, the page table or the outputs, so that the
 * same row is the same bytes in every case that has it. layout.c places rows in memory and fills what lies beyond.
 *
 * The random key of a case is made of the seed, the family, and what the generator uses: its parameters that differ
 * from their fallback (so that a new parameter renames no history), the row's length, and topk only if `uses_topk`.
 */
#ifndef TOPKCTS_CASES_GENERATOR_H
#define TOPKCTS_CASES_GENERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cases/case.h"
#include "cases/given.h"

#define GENERATOR_MAX_PARAMS 8

/* The value of a number whose text is its fallback word (as in `auto`). */
#define GENERATOR_AUTO INT64_MIN

/* One row to fill. */
struct generator_row {
    uint64_t       key;    /* the random key of the case for this length */
    int32_t        row;    /* within the batch */
    int32_t        length; /* >= 1 */
    int32_t        topk;   /* 0 unless the generator uses it */
    const int64_t *values; /* the generator's parameters in their order: a number, or the place of the choice */
};

struct case_generator {
    const char                   *name;
    const char                   *summary;
    bool                          uses_topk;
    const struct case_param_spec *params; /* at most GENERATOR_MAX_PARAMS; NULL-name terminated */

    /* Writes scores[0 .. length-1], bit patterns of float32. Any length >= 1 with any topk >= 1 is legal; where the
     * row is too short for what a parameter asks, the row holds as much of it as fits. */
    void (*fill)(const struct generator_row *row, uint32_t *scores);

    /* Optional (default: the length itself): the length that the kernel is told for a row, given its length and the
     * row width. `row->length` may be 0 here. What the row then holds is the told length clamped to 0 .. width. */
    int32_t (*told_length)(const struct generator_row *row, int32_t width);

    /* Instead of `fill`: hands over rows that are given as they are, see given.h; without `with_contents` only their
     * shape. `out` is zeroed; what it holds is freed by the caller in either case. 0, or non-zero with one line in
     * `err`. */
    int (*give)(const struct case_spec *spec, bool with_contents, struct given_inputs *out, char *err, size_t err_size);
};

/* NULL-terminated. */
extern const struct case_generator *const case_generators[];

/* NULL when there is none of that name. */
const struct case_generator *case_generator_find(const char *name);

/* Shared by generators whose scores are mostly ordinary: the bits of a variate close to N(0, 1). */
uint32_t generator_normal(const struct generator_row *row, uint32_t column);

#endif
