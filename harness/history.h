/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the nights before say of this one's odd rows: how long an expected failure has been passing, and how often a
 * flaky case is flaky. Told after the run is closed, from the store's views; judges nothing.
 */
#ifndef TOPKCTS_HISTORY_H
#define TOPKCTS_HISTORY_H

#include "harness/summary.h"

/* Adds notes to the summary. STATUS_BOOKS when the store cannot be read. */
enum status history_tell(struct summary *summary, struct store *store, struct error *err);

/* The Wilson interval, 95 %, of a share of `k` in `n`: unlike the plain one it means something for 0 of 3. */
void history_interval(int64_t k, int64_t n, double *low, double *high);

#endif
