/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocates in the first launch until nothing is left, keeps it, and fails. So that it can be run anywhere it first
 * limits its own address space to 256 MiB more than the process has used; the harness that hosts it is then out of
 * memory, too.
 */
#include "host_select.h"

#include <stdlib.h>
#include <sys/resource.h>

#define MIB (1024L * 1024L)
#define LIMIT (256 * MIB)

/* Bytes of address space the process has; 0 when the system does not say. */
static long address_space(void)
{
    long  pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (statm != NULL) {
        if (fscanf(statm, "%ld", &pages) != 1) {
            pages = 0;
        }
        fclose(statm);
    }
    return pages * 4096;
}

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    (void)self;
    (void)problem;
    static long    eaten;
    struct rlimit  limit = {0};
    static char  **last; /* each block begins with the address of the one before, so that none is lost */
    if (eaten == 0 && getrlimit(RLIMIT_AS, &limit) == 0) {
        limit.rlim_cur = (rlim_t)(address_space() + LIMIT);
        if (setrlimit(RLIMIT_AS, &limit) != 0) {
            snprintf(err, err_size, "the address space cannot be limited");
            return 1;
        }
    }
    for (size_t size = MIB; size >= sizeof last; size /= 2) {
        for (char **block = malloc(size); block != NULL; block = malloc(size)) {
            memset(block, 1, size);
            *block = (char *)last;
            last = block;
            eaten += (long)size;
        }
    }
    snprintf(err, err_size, "no memory after %ld MiB", eaten / MIB);
    return 1;
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "eats_memory",
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
