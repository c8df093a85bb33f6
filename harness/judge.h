/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The judge: launches one case in many ways and says which level the provider reached.
 *
 * The launch plan, in order (a launch is checked for `safe` and `valid` whatever it is for):
 *   1. the case itself, N times, guard and poison patterns changing, schedules changing on the simulator
 *   2. other contents in the same buffers: rows rotated by one; for batch 1 the row reversed
 *   3. the case again: what 2 left behind must not matter
 *   4. other circumstances: rows in reverse order, rows alone, other neighbours, other bases and strides, inputs that
 *      end where memory ends, other workspace contents
 *   5. on devices with streams: another stream, beside a busy one, scores that arrive behind other work
 *   6. on devices with graphs, when capture is promised: captured with shorter rows, replayed with the case's own
 *   7. for families that ask for it: the same kernel by its other origin
 * From `set-repeatable` up, 1 and 3 are compared with each other; from `invariant` up, 2 and 4 to 7 row by row with them,
 * and on the simulator wave size with wave size. `canonical` compares everything with the reference.
 * A family with sweeps has each of their problems launched once, between 1 and 2.
 * On the simulator a failure of one wave size alone, or a difference between the two, is named `wave-size` (wave_size.h).
 * A family with a sequence has its other problems launched before every one of these launches.
 */
#ifndef TOPKCTS_JUDGE_H
#define TOPKCTS_JUDGE_H

#include "harness/digest.h"
#include "harness/kernel_time.h"
#include "harness/launch.h"
#include "harness/registry.h"
#include "harness/verdict.h"

enum { JUDGE_MAX_DIFFERENCES = 4, JUDGE_REASON_BYTES = 1024 };

struct judgement {
    enum verdict          verdict;  /* pass, fail, skip, error; crash: a device fault */
    enum topk_level       promised; /* what is asked of the provider on this case */
    enum topk_level       level;    /* reached */
    int                   set_exact; /* of the first launch: 1, 0; -1 when nothing was judged */
    char                  reason[JUDGE_REASON_BYTES];
    char                  input_hash[DIGEST_HEX];
    char                  output_digest[DIGEST_HEX]; /* "" when the first launch gave no answer */
    char                  set_digest[DIGEST_HEX];
    char                  path[64];
    double                launch_us; /* the shortest of the launches of a trial's own problem; of trials only */
    int32_t               repeats; /* launches of the repeat check */
    int32_t               n_schedules, n_orders; /* on a device that watches: launches under schedules of their own, and
                                                    distinct orders of threads at atomics among them */
    struct row_difference differences[JUDGE_MAX_DIFFERENCES];
    size_t                n_differences;
    struct kernel_time    time; /* of launches; no samples where it is not measured */
};

/* How many launches the repeat check makes: the device's number, or what was asked for or the family wants where that is
 * more. A launch on gigabytes takes seconds to lay out and check: there the device's number is brought down to 3. */
int32_t judge_repeats(const struct device *device, const struct concrete_case *concrete, int32_t asked);

/* Judges one case on the bench. `repeats`: at least so many launches of the repeat check; the device's and the
 * family's own numbers are used where they are larger. STATUS_BOOKS never comes out of this: what the machine or this suite is to blame
 * for is a judgement of `error`. */
void judge_case(struct launch_bench *bench, const struct concrete_case *concrete, int32_t repeats,
                struct judgement *judgement);

#endif
