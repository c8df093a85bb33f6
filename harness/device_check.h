/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a device still answer? After a crash, a hang or a device fault a small case whose answer is known is run on it
 * with our own kernel, in a worker of its own.
 */
#ifndef TOPKCTS_DEVICE_CHECK_H
#define TOPKCTS_DEVICE_CHECK_H

#include "harness/plan.h"

/* True when the known answer came. Otherwise false, with why in words. Takes as long as an open and a launch may. */
bool device_check(const struct settings *settings, const struct registry *registry, struct target *target, char *why,
                  size_t why_size);

#endif
