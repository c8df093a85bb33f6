/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Before anything is made smaller: does it fail, how, how reliably, and what is the least that has to be launched to see
 * it?
 */
#ifndef TOPKCTS_SHRINK_SETUP_H
#define TOPKCTS_SHRINK_SETUP_H

#include "harness/shrink/shrink_source.h"

/*
 * Settles plan, repeats, votes and failure of *shrinking, whose session is open, and takes over a copy of the source's
 * trial as `now`.
 *   - The failure is what the judge's whole plan shows, as `run` would; a case that passes but whose family sweeps an axis
 *     is searched for the value that fails. A finding that only its relations show keeps them.
 *   - A failure that is not there every time in workers of their own is flaky: more launches a trial until it is, or else
 *     several attempts a trial.
 *   - A failure that depends on what ran before in the same worker has a new worker for every trial.
 * STATUS_USAGE when nothing fails; STATUS_BOOKS when no worker can be had.
 */
enum status shrink_setup(struct shrinking *shrinking, const struct shrink_source *source, struct error *err);

/* Whether the same failure shows when each problem is launched once, as it is or with rows or columns turned round: plan
 * and `now` are then changed to that, which is many times faster. */
bool shrink_setup_simpler(struct shrinking *shrinking);

#endif
