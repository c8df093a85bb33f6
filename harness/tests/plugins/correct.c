/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nothing is wrong with it: promises the canonical form, keeps every promise.
 */
#include "host_select.h"

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "correct",
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
