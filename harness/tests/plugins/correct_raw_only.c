/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right, and puts out raw indices only: it does not map pages, and promises no more.
 */
#include "host_select.h"

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    (void)self;
    if (problem->page_indices != NULL || problem->raw_indices == NULL) {
        snprintf(err, err_size, "asked for page indices, which were never promised");
        return 1;
    }
    plugin_select(problem);
    return 0;
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "correct_raw_only",
    .version = "1",
    .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL, .outputs = TOPK_OUTPUTS_RAW},
    .open = plugin_open,
    .launch = launch,
    .close = plugin_close,
};

const struct topk_provider *topk_provider_entry(void)
{
    return &provider;
}
