/* SPDX-License-Identifier: Apache-2.0 */
/* Answers `#include <cooperative_groups/reduce.h>`; see device_groups.h. */
#ifndef TOPKCTS_SIMULATOR_COOPERATIVE_GROUPS_REDUCE_H
#define TOPKCTS_SIMULATOR_COOPERATIVE_GROUPS_REDUCE_H

#include "../../device_groups.h"

#endif
