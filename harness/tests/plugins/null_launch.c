/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leaves out a slot that is not optional: launch.
 */
#include "host_select.h"

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "null_launch",
    .version = "1",
    .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL},
    .open = plugin_open,
    .close = plugin_close,
};

const struct topk_provider *topk_provider_entry(void)
{
    return &provider;
}
