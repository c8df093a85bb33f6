/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a launch takes on a device that has events: warm (the inputs were read by the launch before) and cold (the
 * cache was overwritten in between), each many times. Measured after a case is judged, on the same buffers.
 */
#ifndef TOPKCTS_KERNEL_TIME_H
#define TOPKCTS_KERNEL_TIME_H

#include "harness/launch.h"

enum { KERNEL_TIME_MAX_SAMPLES = 15 };

struct kernel_time {
    double  warm_us[KERNEL_TIME_MAX_SAMPLES], cold_us[KERNEL_TIME_MAX_SAMPLES];
    int32_t n_warm, n_cold;
    int32_t clock_before_mhz, clock_after_mhz; /* of the device's multiprocessors; 0 unknown */
};

/* Measures the problem as the case says. Nothing is measured on devices without events, nor when a launch fails: that is
 * for the judge to see. A large problem is measured fewer times. */
void kernel_time_measure(struct launch_bench *bench, const struct problem *problem, struct kernel_time *time);

/* The median of some samples; negative when there are none. */
double kernel_time_median(const double *samples, int32_t n);

#endif
