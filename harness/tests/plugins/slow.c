/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Correct, and slow: every launch takes a tenth of a second, so that a test can meet a run in its middle.
 */
#include "host_select.h"

#include <time.h>

static int slow_launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    static const struct timespec pause = {.tv_nsec = 100000000};
    nanosleep(&pause, NULL);
    return plugin_launch(self, problem, err, err_size);
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "slow",
    .version = "1",
    .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL},
    .open = plugin_open,
    .launch = slow_launch,
    .close = plugin_close,
};

const struct topk_provider *topk_provider_entry(void)
{
    return &provider;
}
