/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dies of SIGSEGV while it is loaded, before its entry point can be asked.
 */
#include "host_select.h"

#include <signal.h>

__attribute__((constructor)) static void crash(void)
{
    raise(SIGSEGV);
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "crash_at_load",
    .version = "1",
    .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL},
    .open = plugin_open,
    .launch = plugin_launch,
    .close = plugin_close,
};

const struct topk_provider *topk_provider_entry(void)
{
    return &provider;
}
