/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes another path from rows of 1777 scores on, and declares no limit. A row of exactly that many gets its first winner
 * twice.
 */
#include "host_select.h"

enum { LIMIT = 1777 };

static const char *path_text = "short";

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    int code = plugin_launch(self, problem, err, err_size);
    path_text = "short";
    for (int32_t row = 0; row < problem->batch; row++) {
        int32_t n = plugin_length(problem, row);
        if (n >= LIMIT) {
            path_text = "long";
        }
        if (n == LIMIT && problem->topk > 1 && problem->topk < n && problem->raw_indices != NULL) {
            int32_t *slots = problem->raw_indices + (int64_t)row * problem->topk;
            plugin_write(problem, row, 1, slots[0]);
        }
    }
    return code;
}

static const char *path(void *self)
{
    (void)self;
    return path_text;
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "changes-path",
    .version = "1",
    .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL},
    .open = plugin_open,
    .launch = launch,
    .path = path,
    .close = plugin_close,
};

const struct topk_provider *topk_provider_entry(void)
{
    return &provider;
}
