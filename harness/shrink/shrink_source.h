/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the failure comes from that is to be made small: a case of a registry with a provider and a device, a result in
 * a database, a finding of fuzz.
 */
#ifndef TOPKCTS_SHRINK_SOURCE_H
#define TOPKCTS_SHRINK_SOURCE_H

#include "harness/option.h"
#include "harness/shrink/shrinking.h"

/* Cleared with shrink_source_clear; texts are the arena's or the command line's. */
struct shrink_source {
    struct registry      registry;
    struct concrete_case concrete;  /* without family: a finding */
    struct small_trial   trial;     /* the problems, the judged one last */
    const char          *provider;  /* as on the command line */
    const char          *device;    /* NULL: where the provider runs */
    const char          *from;      /* for people: the case's name, the file's name */
    const char          *fault;     /* the kind of the family that it comes from; NULL: not known */
    int32_t              repeats;   /* launches of the repeat check; 0: the device's number */
    enum trial_plan      plan;      /* of a finding */
    uint32_t             relations;
    uint64_t             seed;
};

/* Reads what the command line names: CASE with --provider (and --device), CASE with --run (and --db), or FILE. STATUS_USAGE
 * with what is missing or does not exist; STATUS_BOOKS when the database cannot be read. */
enum status shrink_source_read(const struct settings *settings, struct arena *arena, struct shrink_source *source,
                               struct error *err);
void        shrink_source_clear(struct shrink_source *source);

/* How many problems the family's sweeps have, and the i-th of them as a trial of its own. */
int64_t     shrink_source_sweeps(const struct shrink_source *source);
enum status shrink_source_sweep(const struct shrink_source *source, int64_t i, struct small_trial *trial, struct error *err);

#endif
