/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of scores for the fuzzer, made by rank: how many scores stand strictly above the one at the cut, how many equal it,
 * how far from it the others are, and in which columns the ranks lie. That is what decides whether a selection kernel goes
 * wrong; the values themselves hardly ever do.
 */
#ifndef TOPKCTS_FUZZ_SCORES_H
#define TOPKCTS_FUZZ_SCORES_H

#include "harness/fuzz/draw.h"
#include "harness/provider.h"

#include <stdint.h>

/* What a row is about: name, words. */
#define FUZZ_PATTERN_LIST(X)                                                                                         \
    X(RANDOM, "random bits")            /* any finite float */                                                       \
    X(INDEXER, "as an indexer's")       /* about normal, sometimes rectified or quantised */                         \
    X(PLATEAU, "ties across the cut")   /* fewer than topk above, more than fit equal to the cut */                   \
    X(BORDER, "ties up to the cut")     /* a class of equal scores that ends one before, at, one after the cut */     \
    X(EQUAL, "all equal")                                                                                            \
    X(FEW, "few values")                /* 2 to 16 distinct ones */                                                  \
    X(GROUPS, "groups of ties")         /* each value 2, 4, 8 .. times */                                            \
    X(ZERO, "zeroes at the cut")        /* of both signs */                                                          \
    X(DENORMAL, "denormals")                                                                                         \
    X(PLUS_INFINITY, "plus infinities") /* about topk of them */                                                     \
    X(MINUS_INFINITY, "minus infinities") /* all but about topk scores */                                            \
    X(BIN, "one coarse bin")            /* as many scores as a suspected buffer holds, and a few more */              \
    X(DENSE, "neighbouring floats")     /* one or few units in the last place apart */                               \
    X(HALF, "beyond half precision")    /* differ in float32, not as float16 */                                      \
    X(NEGATIVE, "negative")                                                                                          \
    X(BYTE, "one byte differs")         /* a radix digit alone decides */                                            \
    X(EXTREME, "extremes")              /* largest, smallest, infinite, zero, denormal side by side */                \
    X(NOT_A_NUMBER, "NaN")              /* where the provider says how it ranks */

enum fuzz_pattern {
#define FUZZ_PATTERN_ENUM(name, text) FUZZ_PATTERN_##name,
    FUZZ_PATTERN_LIST(FUZZ_PATTERN_ENUM)
#undef FUZZ_PATTERN_ENUM
    N_FUZZ_PATTERNS
};

/* "random bits", "ties across the cut", ... */
const char *fuzz_pattern_text(enum fuzz_pattern pattern);

/* A pattern that these claims allow. */
enum fuzz_pattern fuzz_draw_pattern(struct draw *draw, const struct topk_claims *claims);

/* Writes scores[0 .. n-1], the bits of float32, for a row from which topk are selected. n may be 0. No NaN unless the
 * pattern is NOT_A_NUMBER. `crowd`: for BIN, about how many scores share the bin; otherwise ignored. */
void fuzz_fill_row(struct draw *draw, enum fuzz_pattern pattern, int32_t n, int32_t topk, int32_t crowd,
                   uint32_t *scores);

#endif
