/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every scheduling decision: which block comes next, which thread runs next, and at which atomic the running thread is
 * switched away. A run is a function of (kernel, inputs, struct simulator_schedule) alone.
 */
#ifndef TOPKCTS_SIMULATOR_SCHEDULE_H
#define TOPKCTS_SIMULATOR_SCHEDULE_H

#include "kernels/simulator/block.h"

namespace simulator {

/* Starts the decisions of one launch anew from the schedule in force. */
void schedule_begin_launch(uint32_t n_blocks, unsigned n_threads);

/* The i-th block to run of n_blocks: every block once. */
uint32_t schedule_block(uint32_t i);

/* The word that LDS is filled with before a block; never 0. */
uint32_t schedule_poison();

/* Among the runnable threads of the_block, the one to run next; NULL when there is none. `after`: the thread that ran
 * last; NULL when the block begins or a barrier has released it. */
thread *schedule_next(const thread *after);

/* Who runs next when the running thread waits for others in a loop: every runnable thread in turn, whatever the order in
 * force, so that each gets there. */
thread *schedule_next_in_turn();

/* How many atomics the running thread does before it is switched away. */
int64_t schedule_burst();

} // namespace simulator

#endif
