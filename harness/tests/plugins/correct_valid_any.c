/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right by what it promises, which is a valid answer with any of the equal scores: takes the highest ones, and puts
 * them out in an order that changes with every launch.
 */
#include "host_select.h"

#include <stdlib.h>

static int open_counter(int device, void **self, char *err, size_t err_size)
{
    (void)device;
    *self = calloc(1, sizeof(int32_t));
    if (*self == NULL) {
        snprintf(err, err_size, "no memory for a counter");
        return 1;
    }
    return 0;
}

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    (void)err;
    (void)err_size;
    int32_t *launches = self;
    *launches = (*launches + 1) % 1000;
    for (int32_t row = 0; row < problem->batch; row++) {
        for (int32_t slot = plugin_select_row(problem, row, true, *launches); slot < problem->topk; slot++) {
            plugin_write(problem, row, slot, -1);
        }
    }
    return 0;
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "correct_valid_any",
    .version = "1",
    .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_VALID, .tie = TOPK_TIE_ANY},
    .open = open_counter,
    .launch = launch,
    .close = free,
};

const struct topk_provider *topk_provider_entry(void)
{
    return &provider;
}
