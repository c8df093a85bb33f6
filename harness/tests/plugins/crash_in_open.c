/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dies of SIGSEGV while it is opened.
 */
#include "host_select.h"

#include <signal.h>

static int open_and_crash(int device, void **self, char *err, size_t err_size)
{
    raise(SIGSEGV);
    return plugin_open(device, self, err, err_size);
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "crash_in_open",
    .version = "1",
    .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL},
    .open = open_and_crash,
    .launch = plugin_launch,
    .close = plugin_close,
};

const struct topk_provider *topk_provider_entry(void)
{
    return &provider;
}
