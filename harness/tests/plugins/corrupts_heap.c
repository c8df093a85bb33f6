/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes over the end of a block of the heap in every launch; the answer is right, if the heap lets it come to that.
 */
#include "host_select.h"

#include <stdlib.h>

/* Large enough to be cut off the end of the heap, so that what follows is the allocator's own. */
#define BLOCK ((size_t)100 * 1024)
#define WRITTEN_BEYOND 64

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    volatile size_t end = BLOCK + WRITTEN_BEYOND; /* volatile, or the compiler objects, rightly */
    volatile char  *block = malloc(BLOCK);
    for (size_t i = 0; block != NULL && i < end; i++) {
        block[i] = (char)0xee;
    }
    volatile char *next = malloc(BLOCK);
    if (next != NULL) {
        next[0] = 0;
    }
    free((void *)next);
    free((void *)block);
    return plugin_launch(self, problem, err, err_size);
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "corrupts_heap",
    .version = "1",
    .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL},
    .open = plugin_open,
    .launch = launch,
    .close = plugin_close,
};

const struct topk_provider *topk_provider_entry(void)
{
    return &provider;
}
