/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can run problems with topk up to 512, right; a launch beyond would be a mistake of the harness.
 */
#include "host_select.h"

#include <stdlib.h>

#define LARGEST_TOPK 512

static int supports(void *self, const struct topk_problem *problem, char *why, size_t why_size)
{
    (void)self;
    if (problem->topk > LARGEST_TOPK) {
        snprintf(why, why_size, "topk %d is above %d", (int)problem->topk, LARGEST_TOPK);
        return 0;
    }
    return 1;
}

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    if (problem->topk > LARGEST_TOPK) {
        abort();
    }
    return plugin_launch(self, problem, err, err_size);
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "supports_some",
    .version = "1",
    .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL},
    .open = plugin_open,
    .supports = supports,
    .launch = launch,
    .close = plugin_close,
};

const struct topk_provider *topk_provider_entry(void)
{
    return &provider;
}
