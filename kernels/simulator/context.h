/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A suspended stack and the switch to it. Knows nothing of threads.
 *
 * On x86-64 a switch saves what a call keeps and the stack pointer, no more. Boost.Context, which serves other
 * processors, also saves and loads the floating-point control words, and loading them waits for all that came before. No
 * simulated thread changes them, and what a provider does to them is put back after each call
 * (harness/provider_call.c).
 */
#ifndef TOPKCTS_SIMULATOR_CONTEXT_H
#define TOPKCTS_SIMULATOR_CONTEXT_H

#include <cstddef>

namespace simulator {

/* A context on a fresh stack of `bytes` that ends at `top`, 16-byte aligned: the first switch to it calls `entry`, which
 * never returns. All contexts of a process have the same entry. */
void *context_make(void *top, size_t bytes, void (*entry)());

/* Suspends the running context into *from and goes on with `to`; returns when somebody switches back to *from. */
void context_switch(void **from, void *to);

} // namespace simulator

#endif
