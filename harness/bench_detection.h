/* SPDX-License-Identifier: Apache-2.0 */
/* How long the simulator takes to find each planted kernel fault, as people would: part of `topkcts bench`. */
#ifndef TOPKCTS_BENCH_DETECTION_H
#define TOPKCTS_BENCH_DETECTION_H

#include "harness/status.h"

#include <jansson.h>
#include <stdbool.h>

/* Runs suite `race` against every planted fault that runs on the simulator, one after the other, each in a process of its
 * own, nothing compiled before, up to its first verdict that is not a pass. Appends {fault, seconds, found}
 * to `list` for each: `found` begins the reason, or is null. With `prints`, a line for each as it comes. STATUS_FAIL
 * when a fault was not found, after all have been tried; STATUS_BOOKS when there is no place for temporary files. */
enum status bench_detection(json_t *list, bool prints, struct error *err);

#endif
