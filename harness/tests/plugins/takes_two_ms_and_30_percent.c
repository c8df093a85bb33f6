/* SPDX-License-Identifier: Apache-2.0 */
/* The next build of `paced`: slower by 30 %. */
#define LAUNCH_NANOSECONDS 2600000
#define LAUNCH_VERSION "2"
#include "takes_as_long.h"
