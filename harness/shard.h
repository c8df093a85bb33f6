/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `--shard I/N`: the I-th of N parts of a plan. The parts are disjoint and together complete for any N, are cut by case
 * (all providers and devices of a run see the same cases), and take about the same time: the longest case first, each
 * to the part with the least so far. Deterministic: names and plain estimates decide, never the machine or its store.
 */
#ifndef TOPKCTS_SHARD_H
#define TOPKCTS_SHARD_H

#include "harness/plan.h"

/* Keeps the rows of the part that the settings name; everything without --shard. STATUS_USAGE for anything but I/N
 * with 1 <= I <= N <= cases. */
enum status shard_cut(struct plan *plan, const struct settings *settings, struct error *err);

#endif
