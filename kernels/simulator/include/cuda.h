/* SPDX-License-Identifier: Apache-2.0 */
/* Answers `#include <cuda.h>` when a kernel source is compiled for the simulator. Knows only device.h. */
#ifndef TOPKCTS_SIMULATOR_CUDA_H
#define TOPKCTS_SIMULATOR_CUDA_H

#include "../device.h"

#endif
