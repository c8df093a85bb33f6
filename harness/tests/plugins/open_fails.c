/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refuses to be opened, with a reason.
 */
#include "host_select.h"

static int refuse(int device, void **self, char *err, size_t err_size)
{
    (void)device;
    *self = NULL;
    snprintf(err, err_size, "the moon is in the wrong quarter");
    return 1;
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "open_fails",
    .version = "1",
    .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL},
    .open = refuse,
    .launch = plugin_launch,
    .close = plugin_close,
};

const struct topk_provider *topk_provider_entry(void)
{
    return &provider;
}
