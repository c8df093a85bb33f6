/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A concrete case and the inputs it stands for.
 *
 * `struct case_spec` is everything that determines the inputs of one case; `case_generate` turns it into the three
 * input arrays of the operation. The same spec gives the same bytes on every machine: generators work on bit patterns
 * and integers, and random numbers are a function of (seed, family, the axes the generator uses, row, column).
 *
 * This folder knows nothing of the harness. Start reading at case_generate() in case.c.
 */
#ifndef TOPKCTS_CASE_H
#define TOPKCTS_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A parameter by name. `text` is its canonical spelling: decimal for numbers, the choice's name otherwise. */
struct case_param {
    const char *name;
    const char *text;
};

/* Everything that determines the inputs of one case. All pointers are the caller's. */
struct case_spec {
    const char              *family;    /* the registry id; part of the random key */
    const char              *generator; /* a name of the generator list, see generator.h */
    uint64_t                 seed;
    int32_t                  topk;      /* >= 1 */
    int32_t                  page_size; /* a power of two */
    int32_t                  batch;     /* >= 1 */
    const int32_t           *lengths;   /* row b is lengths[b % n_lengths] long; each >= 0 */
    size_t                   n_lengths; /* >= 1 */
    const struct case_param *params;    /* sorted by name; parameters that are left out have their default */
    size_t                   n_params;
    const char              *captured;  /* the folder of captured contents; NULL: there is none */
};

/* The inputs of one case, in host memory, owned by this structure. */
struct case_inputs {
    uint32_t *scores;            /* [batch][score_stride]: the bits of float32 scores; +inf beyond every row's end */
    int32_t  *seq_lens;          /* [batch], as the kernel gets them: negative or overlong in extension cases */
    int32_t  *page_table;        /* [batch][page_table_stride]; entries that no column needs are poison */
    int64_t   score_stride;      /* elements */
    int64_t   page_table_stride; /* elements */
    int32_t   batch;
    int32_t   topk;
    int32_t   page_size;
    int32_t   max_seq_len;       /* the row width */
    int32_t   base_shift;        /* scores[0] stands this many elements behind a 256-byte boundary; 0 to 63 */
};

/* What an axis or parameter of a generator accepts; the registry checks its YAML against it. */
struct case_param_spec {
    const char        *name;    /* NULL ends a list */
    const char *const *choices; /* accepted names, NULL-terminated; or NULL for a number */
    bool               is_text; /* neither: any text, which the generator reads; lists are joined by line ends */
    int64_t            low;     /* the range of a number, both ends included */
    int64_t            high;
    const char        *fallback; /* what a case that does not set it gets; accepted even where it is a word (auto) */
    const char        *meaning;  /* one line, for people */
};

/* Whether `text` is a value that `spec` accepts. 0, with in *value (which may be NULL) the number, the place of the
 * choice, or INT64_MIN for a number's fallback word; or non-zero with one line in `err`. */
int case_param_parse(const struct case_param_spec *spec, const char *text, int64_t *value, char *err, size_t err_size);

/* The parameters that every generator takes: page table, strides, width, base (see layout.c). NULL-name terminated. */
const struct case_param_spec *case_layout_params(void);

/* The parameters of one generator; NULL when there is no generator of that name. NULL-name terminated. */
const struct case_param_spec *case_generator_params(const char *generator);

/* Whether a generator takes its rows as they are given (literal, captured): then the number of rows and their lengths
 * follow from its parameters, and a case has no axes `length` and `batch` of its own. */
bool case_generator_is_given(const char *generator);

/* The lengths of the rows that such a case gives (0 for a negative told length), malloc'd, in *lengths[0 .. *n-1].
 * Needs of the spec: generator, parameters, folder of captured contents. 0, or non-zero with one line in `err`. */
int case_given_lengths(const struct case_spec *spec, int32_t **lengths, size_t *n, char *err, size_t err_size);

/* The i-th generator name in the order of the list; NULL past the end. */
const char *case_generator_name(size_t i);

/* The length of row `row`. */
int32_t case_row_length(const struct case_spec *spec, int32_t row);

/* Bytes the three input arrays of `spec` take; computed without generating them. -1 for a spec that case_generate
 * refuses before it allocates; INT64_MAX when the number does not fit. */
int64_t case_input_bytes(const struct case_spec *spec);

/* Writes the inputs of `spec` to *out (zero it or clear it first; the caller clears it with case_inputs_clear).
 * 0, or non-zero with one line in `err`: an unknown generator or parameter, a value out of its range, a combination
 * that means nothing (named with its values), or no memory. */
int case_generate(const struct case_spec *spec, struct case_inputs *out, char *err, size_t err_size);

/* Frees what case_generate allocated and zeroes *inputs. Harmless on a zeroed structure. */
void case_inputs_clear(struct case_inputs *inputs);

/* Bytes of an input array: batch * score_stride scores, batch lengths, batch * page_table_stride entries. */
size_t case_scores_bytes(const struct case_inputs *inputs);
size_t case_seq_lens_bytes(const struct case_inputs *inputs);
size_t case_page_table_bytes(const struct case_inputs *inputs);

#endif
