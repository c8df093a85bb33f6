/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right, but kills the runner that started it in every launch with topk 1: a case that no run survives.
 */
#include "host_select.h"

#include <signal.h>
#include <unistd.h>

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    if (problem->topk == 1) {
        kill(getppid(), SIGKILL);
        pause(); /* until the runner's death reaches this process */
    }
    return plugin_launch(self, problem, err, err_size);
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "kills_runner",
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
