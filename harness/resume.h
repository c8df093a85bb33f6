/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Going on with a run whose runner died or was stopped: what the run was told, and how far it came. Rows with a verdict
 * stay as they are; the case that was in flight runs again as the same attempt; rows that were stopped before they were
 * reached run now. Reads the store's views only; the runner does the rest.
 */
#ifndef TOPKCTS_RESUME_H
#define TOPKCTS_RESUME_H

#include "harness/runner.h"

/* The settings of the run that `given->resume` names, with what may be given anew (where things are written, --jobs,
 * --time-limit) taken from `given`. Texts live in the arena. STATUS_USAGE for an unknown run (with those that can be
 * resumed) or an option that the run's own arguments settle. */
enum status resume_settings(const struct settings *given, struct arena *arena, struct settings *settings,
                            struct error *err);

/* Reduces a plan made from those settings to the rows of the run, and fills in what is known of them. STATUS_USAGE when
 * registry, providers or devices are not what they were. */
enum status resume_rows(struct runner *runner, struct error *err);

#endif
