/* SPDX-License-Identifier: Apache-2.0 */
/* Counting interrupts; see interrupts.h. */
#include "harness/interrupts.h"

#include <signal.h>
#include <stddef.h>

enum { N_SIGNALS = 3, LEFT_TO_THE_SYSTEM = 2 };
static const int signals[N_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

static volatile sig_atomic_t interrupts;
static struct sigaction      before[N_SIGNALS];

static void count_interrupt(int number)
{
    if (++interrupts >= LEFT_TO_THE_SYSTEM)
        signal(number, SIG_DFL);
}

void interrupts_catch(void)
{
    struct sigaction action = {.sa_handler = count_interrupt};
    interrupts = 0;
    for (int i = 0; i < N_SIGNALS; i++) {
        sigaction(signals[i], NULL, &before[i]);
        if (signals[i] != SIGHUP || before[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

void interrupts_release(void)
{
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
}

int interrupts_so_far(void)
{
    return interrupts;
}
