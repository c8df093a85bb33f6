/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Never returns from a launch, and lets no signal but SIGKILL end it.
 */
#include "host_select.h"

#include <signal.h>
#include <unistd.h>

static int launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    (void)self;
    (void)err;
    (void)err_size;
    (void)problem;
    sigset_t every_signal;
    sigfillset(&every_signal);
    sigprocmask(SIG_BLOCK, &every_signal, NULL);
    while (sleep(1) <= 1) {
    }
    return 1;
}

static const struct topk_provider provider = {
    .abi = TOPK_PROVIDER_ABI,
    .name = "ignores_sigterm_and_hangs",
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
