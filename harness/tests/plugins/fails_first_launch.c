/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first launch of a process returns an error; all others are right. A retry passes, so the case is flaky.
 */
#include "host_select.h"

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    static int launches;
    if (launches++ == 0) {
        snprintf(err, err_size, "the first launch of a process never works");
        return 1;
    }
    return plugin_launch(self, problem, err, err_size);
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "fails_first_launch",
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
