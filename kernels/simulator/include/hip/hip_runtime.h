/* SPDX-License-Identifier: Apache-2.0 */
/* Answers `#include <hip/hip_runtime.h>` when a kernel source is compiled for the simulator. Knows only device.h. */
#ifndef TOPKCTS_SIMULATOR_HIP_RUNTIME_H
#define TOPKCTS_SIMULATOR_HIP_RUNTIME_H

#include "../../device.h"

#endif
