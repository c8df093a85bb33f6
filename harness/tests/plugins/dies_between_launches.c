/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes nothing, and its process ends by a signal 20 ms after the first launch: sooner or later while the worker waits for
 * its next order.
 */
#include "host_select.h"

#include <sys/time.h>

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    static const struct itimerval soon = {.it_value = {.tv_usec = 20000}};
    static int                    is_set;
    (void)self;
    (void)problem;
    (void)err;
    (void)err_size;
    if (!is_set++)
        setitimer(ITIMER_REAL, &soon, NULL);
    return 0;
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "dies-between-launches",
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
