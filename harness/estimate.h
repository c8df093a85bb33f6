/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a case takes, before it runs: rows x lengths x launches, times what an element costs on a device.
 *
 *     estimate = overhead + elements * launches * cost            in milliseconds
 *
 * The plain estimate knows the backend alone, so that every machine computes the same number for the same case: shards
 * are cut by it and must fit together whoever cuts them. The learnt one multiplies it by what the store says of this
 * device and provider; budgets, which concern one machine, use that. Knows nothing of workers.
 */
#ifndef TOPKCTS_ESTIMATE_H
#define TOPKCTS_ESTIMATE_H

#include "harness/plan.h"

/* Milliseconds, from the case and the target's backend alone. Above 0. */
double estimate_plain(const struct settings *settings, const struct target *target,
                      const struct concrete_case *concrete);

/* What the store's verdicts of this device and provider took, divided by the plain estimates of the same cases; 1
 * where it knows none. STATUS_BOOKS when the store cannot be read. */
enum status estimate_factor(struct store *store, const struct target *target, double *factor, struct error *err);

#endif
