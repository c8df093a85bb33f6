/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run on many machines: a Slurm job array in which each task runs one shard, and a job behind it that collects.
 *
 *     SHARED/NAME/plan.json            what was asked for, and how far it got
 *     SHARED/NAME/shard.sh             one task: runs `topkcts run --shard I/N` on a database of the node's own disk,
 *                                      since SQLite's log does not work across hosts, and copies it here once closed
 *     SHARED/NAME/collect.sh           runs `topkcts fleet --collect SHARED/NAME`
 *     SHARED/NAME/shard-I-JOB.db       a shard's results, at rest
 *     SHARED/NAME/shard-I.done         "exit-code node job": the shard's books are here. Written last
 *     SHARED/NAME/summary.json         how it ended. Written last of all
 *
 * A shard without its .done when the array is over was lost with its node. It is submitted again, at most as often as
 * the plan allows, with another collecting job behind it. Slurm's own requeueing is off for shards, so that there is
 * one who counts.
 */
#ifndef TOPKCTS_FLEET_H
#define TOPKCTS_FLEET_H

#include "harness/arena.h"
#include "harness/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FLEET_MAX_SHARDS = 1000 };

struct fleet_plan {
    const char  *name;       /* of the fleet, and of its folder: "fleet-20261130T132455Z-3f2a9c41" */
    const char  *folder;     /* absolute */
    const char  *database;   /* absolute: what everything is merged into */
    const char  *program;    /* absolute: topkcts, where every node finds it */
    const char  *constraint; /* Slurm's --constraint; NULL: any node */
    const char  *partition;  /* NULL: the default one */
    int64_t      shards, minutes;
    int64_t      resubmits; /* how often lost shards are submitted again, at most */
    int64_t      round;     /* how often they were */
    const char **arguments; /* of `topkcts run`, without --shard and --db */
    size_t       n_arguments;
};

/* How one shard ended. */
struct fleet_shard {
    bool    done;
    int     exit_code;
    char    node[64];
    int64_t job;
};

/* plan.json. Texts live in the arena. */
enum status fleet_plan_write(const struct fleet_plan *plan, struct error *err);
enum status fleet_plan_read(const char *folder, struct arena *arena, struct fleet_plan *plan, struct error *err);

/* The two scripts. */
enum status fleet_scripts_write(const struct fleet_plan *plan, struct error *err);

/* Submits the shards (a list as Slurm writes it, "1-4" or "2,3") and the collecting job behind them. */
enum status fleet_submit(const struct fleet_plan *plan, const char *shards, char array_job[32], char collect_job[32],
                         struct error *err);

/* What became of every shard: [plan->shards]. */
enum status fleet_shards_read(const struct fleet_plan *plan, struct fleet_shard *shards, struct error *err);

/* Merges what the shards left into the plan's database: on this node's own disk, and then moved into place. */
struct store_merge_counts;
enum status fleet_merge(const struct fleet_plan *plan, struct store_merge_counts *counts, size_t *n_merged,
                        struct error *err);

#endif
