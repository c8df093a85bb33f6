/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Correct providers whose launches take a set time, whatever else the machine does: the answer, then sleep up to it. Two
 * builds of one kernel, for tests of `topkcts guard`; each says how long a launch takes.
 */
#ifndef TOPKCTS_PLUGINS_TAKES_AS_LONG_H
#define TOPKCTS_PLUGINS_TAKES_AS_LONG_H

#include "host_select.h"

#include <time.h>

static int paced_launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += LAUNCH_NANOSECONDS;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    int code = plugin_launch(self, problem, err, err_size);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL) != 0) {
    }
    return code;
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "paced",
    .version = LAUNCH_VERSION,
    .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL},
    .open = plugin_open,
    .launch = paced_launch,
    .close = plugin_close,
};

const struct topk_provider *topk_provider_entry(void)
{
    return &provider;
}

#endif
