/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted kernel fault, kind race: the sums of a block scan are overwritten by the next scan while slow waves still
 * read them.
 *
 * The second barrier of a block scan is missing, so that a fast wave's next scan writes into the sums that a slow
 * wave still adds up. Shows when waves run ahead in ascending order.
 */
#define SMALL_TOPK_BARRIER_AFTER_SCAN() ((void)0)

#include "kernels/faulty/small_topk.h"

SMALL_TOPK_FAULT(race_scan_reuse, "faulty/race-scan-reuse", "race",
                 "the sums of a block scan are overwritten by the next scan while slow waves still read them");
