/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed all at once; see arena.h. */
#include "harness/arena.h"

#include "harness/status.h"

#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)64 * 1024)

struct arena_block {
    struct arena_block *previous;
    size_t              used, size;
    alignas(max_align_t) char bytes[];
};

void *arena_alloc(struct arena *arena, size_t bytes)
{
    size_t rounded = (bytes + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    if (!arena->last || arena->last->size - arena->last->used < rounded) {
        size_t              size = rounded > BLOCK_BYTES ? rounded : BLOCK_BYTES;
        struct arena_block *block = calloc(1, sizeof *block + size);
        if (!block) {
            fprintf(stderr, "topkcts: out of memory (%zu bytes for the registry)\n", size);
            exit(STATUS_BOOKS);
        }
        block->size = size;
        block->previous = arena->last;
        arena->last = block;
    }
    void *place = arena->last->bytes + arena->last->used;
    arena->last->used += rounded;
    return place;
}

void *arena_grow(struct arena *arena, void *array, size_t count, size_t element_bytes)
{
    if (count & (count - 1))
        return array;
    void *larger = arena_alloc(arena, (count ? 2 * count : 1) * element_bytes);
    if (count)
        memcpy(larger, array, count * element_bytes);
    return larger;
}

char *arena_text(struct arena *arena, const char *text)
{
    if (!text)
        return NULL;
    size_t bytes = strlen(text) + 1;
    return memcpy(arena_alloc(arena, bytes), text, bytes);
}

char *arena_format(struct arena *arena, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int   length = vsnprintf(NULL, 0, format, arguments);
    char *text = arena_alloc(arena, (size_t)(length < 0 ? 0 : length) + 1);
    vsnprintf(text, (size_t)(length < 0 ? 0 : length) + 1, format, again);
    va_end(again);
    va_end(arguments);
    return text;
}

void arena_clear(struct arena *arena)
{
    while (arena->last) {
        struct arena_block *block = arena->last;
        arena->last = block->previous;
        free(block);
    }
}
