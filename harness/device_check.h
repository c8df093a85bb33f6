/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a device still answer? After a crash, a hang or a device fault a small case whose answer is known is run on it
 * with our own kernel, in a worker of its own.
 */
#ifndef TOPKCTS_DEVICE_CHECK_H
#define TOPKCTS_DEVICE_CHECK_H

#include "harness/plan.h"

/* NOT_ASKED: there is nothing to ask with, for example no code object of v1 for the device; that says nothing of it.
 * WRONG: another answer came, which may be the device's fault or v1's. FAILED: none came. */
enum device_answer { DEVICE_ANSWERED, DEVICE_NOT_ASKED, DEVICE_WRONG, DEVICE_FAILED };

/* Whether the known answer came; otherwise why not, in words. Takes as long as an open and a launch may. */
enum device_answer device_check(const struct settings *settings, const struct registry *registry, struct target *target,
                                char *why, size_t why_size);

#endif
