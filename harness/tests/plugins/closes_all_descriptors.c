/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right, and closes file descriptors 0 to 63, whoever owns them, in every launch.
 */
#include "host_select.h"

#include <unistd.h>

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    for (int descriptor = 0; descriptor < 64; descriptor++) {
        close(descriptor);
    }
    return plugin_launch(self, problem, err, err_size);
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "closes_all_descriptors",
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
