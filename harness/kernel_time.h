/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a launch takes on a device that has events: warm (the inputs were read by the launch before) and cold (the
 * cache was overwritten in between), each many times. Measured after a case is judged, on the same buffers.
 *
 * And a leg of a comparison: some samples of one case, alone, for `topkcts guard`. There a device without events is
 * timed, too, by the wall clock; the answer says which it was.
 */
#ifndef TOPKCTS_KERNEL_TIME_H
#define TOPKCTS_KERNEL_TIME_H

#include "harness/launch.h"
#include "harness/verdict.h"

enum { KERNEL_TIME_MAX_SAMPLES = 15 };

struct kernel_time {
    double  warm_us[KERNEL_TIME_MAX_SAMPLES], cold_us[KERNEL_TIME_MAX_SAMPLES];
    int32_t n_warm, n_cold;
    int32_t clock_before_mhz, clock_after_mhz; /* of the device's multiprocessors; 0 unknown */
};

/* Measures the problem as the case says. Nothing is measured on devices without events, nor when a launch fails: that is
 * for the judge to see. A large problem and a launch that takes long are measured fewer times. */
void kernel_time_measure(struct launch_bench *bench, const struct problem *problem, struct kernel_time *time);

/* What a leg is to be. */
struct launch_times_order {
    bool    with_pages, with_raw;
    bool    cold;      /* the cache is overwritten before each launch; only on devices that can */
    bool    check;     /* launch once before, and compare with the answer: what is wrong is not worth timing */
    int32_t n_samples; /* at most KERNEL_TIME_MAX_SAMPLES */
    int32_t calls;     /* launches a sample; 0: so many that the clock can tell, which the answer says */
};

/* What came of it. */
struct launch_times {
    enum verdict verdict; /* pass; fail: launch or answer were wrong; skip: refused, not promised, or not to be had here;
                             error: this machine's doing */
    char         reason[512];
    double       us[KERNEL_TIME_MAX_SAMPLES]; /* of one launch each */
    int32_t      n, calls;
    int32_t      clock_mhz; /* of the device, after the leg; 0 unknown */
    bool         by_device; /* by the device's events; else wall time around the launch call */
};

/* Lays the problem out, launches a few times unmeasured, then takes the samples. Without `check` the problem needs its
 * inputs alone. The watchdog hears of the first launch only, so that nobody wakes up beside the measured ones. */
void kernel_time_leg(struct launch_bench *bench, const struct problem *problem, const struct launch_times_order *order,
                     struct launch_times *times);

/* The median of some samples; negative when there are none. */
double kernel_time_median(const double *samples, int32_t n);

#endif
