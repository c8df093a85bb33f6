/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Never finishes being loaded.
 */
#include "host_select.h"

#include <unistd.h>

__attribute__((constructor)) static void hang(void)
{
    for (;;) {
        pause();
    }
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "hang_at_load",
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
