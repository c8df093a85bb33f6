/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the run-time compiler of this machine takes v1 for a list of targets: no device is needed. */
#ifndef TOPKCTS_JIT_CHECK_H
#define TOPKCTS_JIT_CHECK_H

#include "harness/status.h"

#include <stddef.h>

/* Compiles v1 for each target (comma-separated), each in a process of its own, since a compiler may abort; prints one line
 * a target. STATUS_FAIL when one is rejected or takes its process down, STATUS_BOOKS when there is no compiler. */
enum status jit_check(const char *targets, struct error *err);

#endif
