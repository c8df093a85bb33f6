/* SPDX-License-Identifier: Apache-2.0 */
/* A build of `paced` before it got slower. */
#define LAUNCH_NANOSECONDS 2000000
#define LAUNCH_VERSION "1"
#include "takes_as_long.h"
