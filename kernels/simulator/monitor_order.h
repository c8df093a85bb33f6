/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of events in a launch: which earlier access is ordered before the running thread. Part of the monitor, see
 * monitor.h for the rules; knows no memory but addresses of atomics.
 */
#ifndef TOPKCTS_SIMULATOR_MONITOR_ORDER_H
#define TOPKCTS_SIMULATOR_MONITOR_ORDER_H

#include "kernels/simulator/memory.h"

namespace simulator {

void order_begin_launch();
void order_begin_block(); /* gives the block its running number */
void order_barrier();
void order_wave(unsigned wave, uint64_t group);

/* The running thread does an atomic at the address: what it knew before is released there, what others released there
 * is known from now on. */
void order_atomic(uintptr_t address, bool is_lds);

/* The running thread fences; `device`: for other blocks, too. */
void order_fence(bool device);

/* The running number of the block, never 0, and of the launch's first block. */
extern uint32_t order_block;
extern uint32_t order_first_block;

/* What a new access of the running thread is stamped with. */
uint32_t order_clock();

/* Whether the access is ordered before what the running thread does next. */
bool order_is_before(const seen_access &earlier);

/* Whether a store by a block that ended (or ends now) was made visible to other blocks. */
bool order_is_released(const seen_access &store);

/* A digest of the order in which threads came to atomics, over the launch. */
uint64_t order_digest();

} // namespace simulator

#endif
