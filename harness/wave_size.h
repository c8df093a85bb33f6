/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a failure depends on the wave size, on a device that launches with two of them (arrangements; device.h). Asked
 * after a case has failed, since then it is the cause that its author looks for.
 */
#ifndef TOPKCTS_WAVE_SIZE_H
#define TOPKCTS_WAVE_SIZE_H

#include "harness/judging.h"

/* Puts `wave-size: ...` before the reason of a case that has failed, when
 *   - the two wave sizes give different sets or bytes, each the same ones every time, or
 *   - of a few more launches of the problem with each, all of one fail what is promised and none of the other.
 * Does nothing on devices of one wave size. judging->error: when memory is short. */
void wave_size_name(struct judging *judging);

#endif
