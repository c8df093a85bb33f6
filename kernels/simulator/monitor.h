/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The monitor: watches every load, store and atomic of an instrumented kernel and stops the launch at the first thing
 * that a GPU would only stumble on. Owns the shadow of LDS and global memory and the order of events; must not know how
 * threads are scheduled or how a finding is spelt (finding.h).
 *
 * Order. `now` counts synchronising events of a process. An access is kept with its thread and the clock of that
 * thread: the `now` of its last event. An earlier access is ordered before the running thread when
 *
 *     same thread                        always
 *     same block                         its clock lies before the block's last barrier; or, within a wave, before the
 *                                        last wave operation that both took part in; or a chain of atomics leads from it
 *     another block of the launch        a device fence covers it, and a chain of one atomic's places leads here
 *
 * Everything of a launch is ordered before the next launch. This is happens-before as in FastTrack (Flanagan, Freund
 * 2009), with barriers and waves in the place of vector clocks. Atomics order what surrounds them within their block,
 * with or without a fence: LDS is in order on the hardware, and kernels rely on it. Between blocks only fences do.
 *
 * Two plain stores of the same value to the same place are no finding.
 */
#ifndef TOPKCTS_SIMULATOR_MONITOR_H
#define TOPKCTS_SIMULATOR_MONITOR_H

#include "kernels/simulator/block.h"
#include "kernels/simulator/finding.h"
#include "kernels/simulator/module.h"

namespace simulator {

/* Whether the launch that runs is watched: its kernel is in a module, and it was built to call out. */
extern bool monitor_is_on;

/* Around a launch. `module`: where the kernel is; NULL turns the monitor off. */
void monitor_begin_launch(const module *where, const simulator_launch &launch);
void monitor_end_launch();

/* Around a block. */
void monitor_begin_block();
void monitor_end_block();

/* All threads of the block have met at a barrier. */
void monitor_barrier();

/* The lanes of `group` of wave number `wave` have met. */
void monitor_wave(unsigned wave, uint64_t group);

/* The running thread has ended; `is_last`: of the block. */
void monitor_thread_ended(bool is_last);

/* The block stops with the_finding: puts an earlier one in its place if that was the cause. */
void monitor_choose_finding();

/* Whether the address lies in the LDS of the module that runs. */
bool monitor_is_lds(uintptr_t address);

/* Distinguishes launches by the order in which threads came to atomics. */
uint64_t monitor_atomic_order();

} // namespace simulator

#endif
