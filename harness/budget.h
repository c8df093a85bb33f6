/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `--budget SECONDS`: which planned rows are worth the time there is. In this order: rows this device never judged for
 * this provider, rows whose provider was built anew since, rows that were flaky lately, then those with the oldest
 * verdict. Within the first three the quickest come first. What does not fit is stored as not planned and never fails a
 * run; each (device, provider) keeps its most valuable row, so that none goes unjudged for want of time.
 */
#ifndef TOPKCTS_BUDGET_H
#define TOPKCTS_BUDGET_H

#include "harness/plan.h"

/* Marks what is left out; nothing without --budget. STATUS_BOOKS when the store cannot be read. */
enum status budget_apply(struct plan *plan, const struct settings *settings, struct store *store, struct error *err);

#endif
