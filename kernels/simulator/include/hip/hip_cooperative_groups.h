/* SPDX-License-Identifier: Apache-2.0 */
/* Answers `#include <hip/hip_cooperative_groups.h>`; see device_groups.h. */
#ifndef TOPKCTS_SIMULATOR_HIP_COOPERATIVE_GROUPS_H
#define TOPKCTS_SIMULATOR_HIP_COOPERATIVE_GROUPS_H

#include "../../device_groups.h"

#endif
