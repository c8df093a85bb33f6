/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Never returns from being opened.
 */
#include "host_select.h"

#include <unistd.h>

static int open_and_hang(int device, void **self, char *err, size_t err_size)
{
    (void)device;
    (void)self;
    (void)err;
    (void)err_size;
    while (pause() == -1) {
    }
    return 1;
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "hang_in_open",
    .version = "1",
    .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL},
    .open = open_and_hang,
    .launch = plugin_launch,
    .close = plugin_close,
};

const struct topk_provider *topk_provider_entry(void)
{
    return &provider;
}
