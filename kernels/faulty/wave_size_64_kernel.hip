/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planted kernel fault, kind wave-size: block scans take every wave for 64 lanes wide.
 *
 * Lane and wave numbers are computed for 64 lanes: right where waves have 64, wrong where they have 32. The same
 * assumption is behind sgl-project/sglang#31137 and openxla/xla#35744.
 */
#define SMALL_TOPK_LANES() 64u

#include "kernels/faulty/small_topk.h"

SMALL_TOPK_FAULT(wave_size_64, "faulty/wave-size-64", "wave-size",
                 "block scans take every wave for 64 lanes wide");
