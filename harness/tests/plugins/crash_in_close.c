/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dies of SIGSEGV while it is closed, after everything it was asked for was right.
 */
#include "host_select.h"

#include <signal.h>

static void close_and_crash(void *self)
{
    (void)self;
    raise(SIGSEGV);
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "crash_in_close",
    .version = "1",
    .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL},
    .open = plugin_open,
    .launch = plugin_launch,
    .close = close_and_crash,
};

const struct topk_provider *topk_provider_entry(void)
{
    return &provider;
}
