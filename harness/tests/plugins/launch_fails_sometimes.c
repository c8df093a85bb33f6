/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every third launch returns an error and writes nothing; the others are right.
 */
#include "host_select.h"

#include <stdlib.h>

static int open_counter(int device, void **self, char *err, size_t err_size)
{
    (void)device;
    *self = calloc(1, sizeof(uint64_t));
    if (*self == NULL) {
        snprintf(err, err_size, "no memory for a counter");
        return 1;
    }
    return 0;
}

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    uint64_t *launches = self;
    if (++*launches % 3 == 0) {
        snprintf(err, err_size, "launch %llu is one of those that fail", (unsigned long long)*launches);
        return 1;
    }
    return plugin_launch(NULL, problem, err, err_size);
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "launch_fails_sometimes",
    .version = "1",
    .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL},
    .open = open_counter,
    .launch = launch,
    .close = free,
};

const struct topk_provider *topk_provider_entry(void)
{
    return &provider;
}
