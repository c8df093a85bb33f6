/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much time has passed: a clock that nobody sets, from an unspoken beginning. Differences mean something, single
 * values do not; dates come from elsewhere.
 */
#ifndef TOPKCTS_CLOCK_H
#define TOPKCTS_CLOCK_H

#include <stdint.h>

int64_t clock_ns(void);
int64_t clock_ms(void); /* rounded down */
double  clock_seconds(void);

#endif
