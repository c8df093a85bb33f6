/* SPDX-License-Identifier: Apache-2.0 */
/* Answers `#include <cuda_fp16.h>` when a kernel source is compiled for the simulator. Knows only device_half.h. */
#ifndef TOPKCTS_SIMULATOR_CUDA_FP16_H
#define TOPKCTS_SIMULATOR_CUDA_FP16_H

#include "../device_half.h"

#endif
