/* SPDX-License-Identifier: Apache-2.0 */
/* Answers `#include <cuda_runtime.h>` when a kernel source is compiled for the simulator: the same language as under
 * HIP; only 32 lanes of a wave exist there. Knows only device.h. */
#ifndef TOPKCTS_SIMULATOR_CUDA_RUNTIME_H
#define TOPKCTS_SIMULATOR_CUDA_RUNTIME_H

#include "../device.h"

#endif
