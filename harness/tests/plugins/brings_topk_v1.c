/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right, and linked with a function of its own by a name that the program has, too, as a changed v1 would be: it must be
 * the plugin's that is called.
 */
#include <stdio.h>

#include "host_select.h"

size_t topk_v1_workspace_bytes(const struct topk_problem *problem);

size_t topk_v1_workspace_bytes(const struct topk_problem *problem)
{
    (void)problem;
    return 12345;
}

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    const size_t bytes = topk_v1_workspace_bytes(problem);
    if (bytes == 12345)
        return plugin_launch(self, problem, err, err_size);
    snprintf(err, err_size, "topk_v1_workspace_bytes returned %zu, not this plugin's 12345", bytes);
    return 1;
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "brings-topk-v1",
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
