/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is freed all at once: what a registry or a plan is made of. Everything in an arena lives until
 * arena_clear; nothing is freed alone. Out of memory ends the program (exit 3): nothing that fits here is large.
 */
#ifndef TOPKCTS_ARENA_H
#define TOPKCTS_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena {
    struct arena_block *last; /* newest block; blocks are chained */
};

/* Zeroed memory, aligned for any type. */
void *arena_alloc(struct arena *arena, size_t bytes) __attribute__((returns_nonnull));

/* A larger copy of an array that grows: returns room for `count + 1` elements, moving when count is 0 or a power of
 * two. The old place stays in the arena. */
void *arena_grow(struct arena *arena, void *array, size_t count, size_t element_bytes);

/* A copy of a string; NULL stays NULL. */
char *arena_text(struct arena *arena, const char *text);

/* A formatted string. */
char *arena_format(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3), returns_nonnull));

/* Frees everything. */
void arena_clear(struct arena *arena);

#endif
