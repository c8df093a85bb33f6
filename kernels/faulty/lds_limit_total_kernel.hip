/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted kernel fault, kind lds-limit: static and dynamic LDS together exceed the 64 KiB of a workgroup.
 *
 * Each part is legal for itself, 20 KiB static and 46 KiB dynamic; their sum is not. Every launch is refused. Seen
 * in a harsher form in sgl-project/sglang#28518.
 */
#define SMALL_TOPK_CANDIDATES 5120
#define SMALL_TOPK_DYNAMIC_LDS (46 * 1024)

#include "kernels/faulty/small_topk.h"

SMALL_TOPK_FAULT(lds_limit_total, "faulty/lds-limit-total", "lds-limit",
                 "static and dynamic LDS together exceed the 64 KiB of a workgroup");
