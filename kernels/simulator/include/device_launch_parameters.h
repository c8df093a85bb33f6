/* SPDX-License-Identifier: Apache-2.0 */
/* Answers `#include <device_launch_parameters.h>` when a kernel source is compiled for the simulator. Knows only device.h. */
#ifndef TOPKCTS_SIMULATOR_DEVICE_LAUNCH_PARAMETERS_H
#define TOPKCTS_SIMULATOR_DEVICE_LAUNCH_PARAMETERS_H

#include "../device.h"

#endif
