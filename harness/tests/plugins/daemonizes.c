/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right, and starts a daemon in the first launch: a session of its own, another parent, every pipe still open.
 */
#include "host_select.h"

#include <unistd.h>

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    static int launches;
    if (launches++ == 0 && fork() == 0) {
        setsid();
        if (fork() == 0)
            sleep(300);
        _exit(0);
    }
    return plugin_launch(self, problem, err, err_size);
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "daemonizes",
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
