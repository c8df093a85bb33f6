/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls abort() in every launch.
 */
#include "host_select.h"

#include <stdlib.h>

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
    .name = "abort",
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
