/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trials and their judgements in memory that runner and worker share, so that thousands a second pass without a message
 * each. The runner packs a batch, the worker judges it trial by trial and beats at every launch; when the worker dies,
 * the runner reads here which trial it died in.
 *
 * The runner trusts nothing that it reads back: a provider may have written here.
 */
#ifndef TOPKCTS_TRIAL_MEMORY_H
#define TOPKCTS_TRIAL_MEMORY_H

#include "harness/trial.h"

#include <stddef.h>
#include <stdint.h>

/* One mapping. Zero it before the first use. */
struct trial_memory {
    int    fd;    /* the runner's memory file; -1 in the worker */
    char  *base;
    size_t bytes;
    bool   is_made;
};

/* Runner: makes room and copies the trials in. STATUS_BOOKS when there is no memory. */
enum status trial_memory_pack(struct trial_memory *memory, const struct trial *trials, size_t n, struct error *err);

/* Runner: a path by which the worker can open the memory. */
void trial_memory_path(const struct trial_memory *memory, char *path, size_t size);

/* Worker: maps what a path names. STATUS_BOOKS when it cannot. */
enum status trial_memory_open(struct trial_memory *memory, const char *path, struct error *err);

/* Both: how many trials there are; how far the worker has come. */
size_t   trial_memory_count(const struct trial_memory *memory);
size_t   trial_memory_next(const struct trial_memory *memory);  /* trials before it have judgements */
uint64_t trial_memory_beats(const struct trial_memory *memory); /* changes with every launch and trial */
bool     trial_memory_in_launch(const struct trial_memory *memory);

/* Worker: one trial; its problems point into the memory and are valid until it is closed. */
void trial_memory_trial(const struct trial_memory *memory, size_t i, struct trial *trial,
                        struct case_inputs problems[TRIAL_MAX_PROBLEMS]);

/* Worker: signs of life, and the judgement of the trial that is next. */
void              trial_memory_beat(struct trial_memory *memory, bool in_launch);
struct judgement *trial_memory_judgement(struct trial_memory *memory, size_t i);
void              trial_memory_finish(struct trial_memory *memory, size_t i);

/* Runner: skips a trial that has no judgement, so that a new worker goes on behind it. */
void trial_memory_skip(struct trial_memory *memory, size_t i);

/* Runner: a copy of a judgement with every text ended and every number in its range. */
void trial_memory_read(const struct trial_memory *memory, size_t i, struct judgement *judgement);

void trial_memory_close(struct trial_memory *memory);

#endif
