/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right, and forks a process in the first launch that holds every pipe open for a minute.
 */
#include "host_select.h"

#include <unistd.h>

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    static int launches;
    if (launches++ == 0 && fork() == 0) {
        sleep(60);
        _exit(0);
    }
    return plugin_launch(self, problem, err, err_size);
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "forks_and_leaves",
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
