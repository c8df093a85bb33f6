/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Relations between two launches that need no oracle; trial.h lists them. Each derives other inputs, or the same inputs in
 * another form, from the problem that was judged, launches them (and checks them like every launch), and compares what
 * came out with the problem's own first outputs.
 */
#ifndef TOPKCTS_JUDGE_RELATION_H
#define TOPKCTS_JUDGE_RELATION_H

#include "harness/judging.h"
#include "harness/trial.h"

/* Puts the problem, whose first outputs were kept, to one relation. What `seed` chooses: permutations, rows, exponents,
 * garbage. A relation that can say nothing about the problem launches nothing. */
void judge_relation(struct judging *judging, enum trial_relation relation, uint64_t seed);

#endif
