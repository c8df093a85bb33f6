/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can run no problem, and says so before it is asked to. A launch would be a mistake of the harness.
 */
#include "host_select.h"

#include <stdlib.h>

static int supports(void *self, const struct topk_problem *problem, char *why, size_t why_size)
{
    (void)self;
    (void)problem;
    snprintf(why, why_size, "no problem is small enough");
    return 0;
}

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    (void)self;
    (void)err;
    (void)err_size;
    (void)problem;
    abort();
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "supports_nothing",
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
