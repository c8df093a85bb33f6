/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted kernel fault, kind race: one thread looks for the digit at the cut before the others have counted.
 *
 * No barrier stands between counting and choosing: whoever runs first sees the counts of too few threads. Shows
 * unless the choosing thread happens to run last. Seen in flagos-ai/FlagGems#4132.
 */
#define SMALL_TOPK_BARRIER_AFTER_COUNT() ((void)0)

#include "kernels/faulty/small_topk.h"

SMALL_TOPK_FAULT(race_missing_barrier, "faulty/race-missing-barrier", "race",
                 "one thread looks for the digit at the cut before the others have counted");
