/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws: a stream of random choices that is a function of its key alone, so that a fuzzed problem is the same on every
 * machine and whenever it is made. C leaves open in which order the operands of an operator, the arguments of a call and
 * the members of an initializer are evaluated: one draw each, or a seed means something else to the next compiler.
 */
#ifndef TOPKCTS_FUZZ_DRAW_H
#define TOPKCTS_FUZZ_DRAW_H

#include "cases/random.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct draw {
    uint64_t key, n;
};

static inline uint64_t draw_bits(struct draw *draw)
{
    return random_bits(draw->key, 0, draw->n++);
}

/* 0 .. bound - 1; bound >= 1. */
static inline int32_t draw_below(struct draw *draw, int32_t bound)
{
    return (int32_t)random_below(draw_bits(draw), (uint32_t)bound);
}

/* low .. high, both ends included; low when high is below it. */
static inline int32_t draw_between(struct draw *draw, int32_t low, int32_t high)
{
    return high > low ? low + (int32_t)random_below(draw_bits(draw), (uint32_t)(high - low) + 1) : low;
}

/* True `in` times of `of`. */
static inline bool draw_chance(struct draw *draw, int32_t in, int32_t of)
{
    return draw_below(draw, of) < in;
}

static inline int32_t draw_from(struct draw *draw, const int32_t *list, size_t n)
{
    return list[draw_below(draw, (int32_t)n)];
}

#define DRAW_FROM(draw, list) draw_from(draw, list, sizeof(list) / sizeof((list)[0]))

#endif
