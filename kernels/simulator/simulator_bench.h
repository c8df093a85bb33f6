/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulator's own parts cost, for `topkcts bench`. Measures when asked, for a fraction of a second each. */
#ifndef TOPKCTS_SIMULATOR_BENCH_H
#define TOPKCTS_SIMULATOR_BENCH_H

#ifdef __cplusplus
extern "C" {
#endif

/* Nanoseconds from one simulated thread to the next at a barrier, 256 threads. 0 when a launch failed. */
double simulator_bench_switch_ns(void);

/* Launches a second of a block of 256 threads with 64 atomics each, every one under a schedule of its own. */
double simulator_bench_schedules_per_second(void);

#ifdef __cplusplus
}
#endif
#endif
