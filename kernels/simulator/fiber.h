/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fibers: how control passes between the threads of a block. Knows stacks and contexts, not why a switch happens.
 *
 * Stacks are mapped once, with a guard page below each, and kept for the life of the process; a fiber that finished its
 * thread waits for the next block, so that a launch costs one switch a thread and no set-up.
 */
#ifndef TOPKCTS_SIMULATOR_FIBER_H
#define TOPKCTS_SIMULATOR_FIBER_H

#include "kernels/simulator/block.h"

namespace simulator {

/* Makes sure that threads 0 .. n-1 of the_block have fibers. 0, or non-zero with a cause in `err`. */
int fibers_prepare(unsigned n, char *err, size_t err_size);

/* Forgets what every fiber was doing: after a block that failed midway. Destructors of the kernel do not run. */
void fibers_abandon();

/* Passes control to `next`, which becomes the_block.current; returns when somebody switches back. */
void fiber_switch(thread *next);

/* Whether the address lies on the stack of a simulated thread. */
bool fibers_own(uintptr_t address);

extern uint64_t fiber_switches;

} // namespace simulator

#endif
