/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Right, and prints a megabyte to stdout and one to stderr in each of the first four launches.
 */
#include "host_select.h"

#define CHATTY_LAUNCHES 4
#define LINES 16384

static void print_a_megabyte(FILE *stream)
{
    for (int line = 0; line < LINES; line++) {
        fprintf(stream, "line %5d of what a library prints and nobody has asked for ...\n", line);
    }
    fflush(stream);
}

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    static int launches;
    if (launches++ < CHATTY_LAUNCHES) {
        print_a_megabyte(stdout);
        print_a_megabyte(stderr);
    }
    return plugin_launch(self, problem, err, err_size);
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "prints_a_lot",
    .version = "1",
    .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL},
    .open = plugin_open,
    .launch = launch,
    .close = plugin_close,
};

const struct topk_provider *topk_provider_entry(void)
{
    return &provider;
}
