/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints for ever in a launch.
 */
#include "host_select.h"

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    (void)self;
    (void)err;
    (void)err_size;
    (void)problem;
    while (printf("and another line of output that nobody asked for\n") >= 0) {
    }
    return 1;
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "prints_without_end",
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
