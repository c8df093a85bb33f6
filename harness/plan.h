/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a run: which provider on which device (targets), which cases on each (rows). Made before anything runs,
 * from what the command line names; every mistake in a name ends here.
 */
#ifndef TOPKCTS_PLAN_H
#define TOPKCTS_PLAN_H

#include "harness/message.h"
#include "harness/option.h"
#include "harness/registry.h"
#include "harness/store.h"
#include "harness/verdict.h"

/* One provider on one device. */
struct target {
    const char                 *device;   /* as named: "host", "sim:32" */
    const char                 *provider; /* as named: "v1", "./mine.so" */
    struct store_device         record;
    struct provider_description description;
    const char                 *fault;     /* the kind a faulty/NAME plants; NULL otherwise */
    const char                 *load_failure; /* it died or hung while it was loaded: every row gets this */
    enum verdict                load_verdict;
    size_t                      n_planned, n_not_promised;
    size_t                      n_left_out; /* of the planned ones, by --budget */
};

/* One planned result, and how far its attempts have come: in a fresh run nowhere, in a resumed one where the runner
 * that died had brought it. */
struct plan_row {
    size_t                target;
    struct concrete_case *concrete;
    int64_t               row_id;        /* in the store */
    bool                  left_out;      /* by --budget: stored, never run, never red */
    bool                  is_done;       /* has its verdict */
    int32_t               attempt;       /* in flight, or to come; from 1 */
    int32_t               starts;        /* how often a runner took this attempt up and died in it */
    enum verdict          first_verdict; /* of attempt 1, once there is one */
    bool                  disagrees;     /* an attempt came to something else than the first */
};

struct plan {
    struct arena         arena;
    struct target       *targets;
    size_t               n_targets;
    struct plan_row     *rows; /* by target */
    size_t               n_rows;
    const struct suite  *suite; /* NULL with patterns and no --suite */
    size_t               suite_index;
};

/* Makes the plan. STATUS_USAGE: an unknown name, a selection that matches nothing, a plugin that cannot be loaded, a
 * provider without a device; STATUS_BOOKS: a named GPU that is not there. Starts workers to ask providers who they
 * are. `should_stop` is looked at while waiting. */
enum status plan_make(struct plan *plan, const struct settings *settings, const struct registry *registry,
                      struct error *err);
void        plan_clear(struct plan *plan);

/* The targets of one provider without any cases, appended to the plan: on `device`, or where the provider runs by
 * default (NULL). Errors as of plan_make. */
enum status plan_add_provider(struct plan *plan, const struct settings *settings, const char *provider,
                              const char *device, struct error *err);

/* The cases that the settings select, whoever runs them: suite and patterns. STATUS_USAGE when there is none. */
enum status plan_select(const struct settings *settings, const struct registry *registry, const char *default_suite,
                        struct arena *arena, struct concrete_case ***cases, size_t *n_cases, struct error *err);

/* How long a target's device lets one launch take, in milliseconds. */
int plan_launch_milliseconds(const struct settings *settings, const struct target *target);

/* How long a provider's open may take: as long as a launch, but a process may compile what it is going to call. */
int plan_open_milliseconds(const struct settings *settings, const struct target *target);

/* Bytes of memory a worker of this run may take; 0: no bound. */
int64_t plan_worker_memory(const struct settings *settings);

/* How long loading a provider may take, in milliseconds: what --inactivity says, or else as long as its kind needs. A
 * program may have to import a framework first, and a GPU's driver takes seconds to start where several cards stand in
 * one host. `settings` and `device` may be NULL. */
int plan_load_milliseconds(const struct settings *settings, const char *provider, const char *device);

/* How many workers share host and sim. */
size_t plan_jobs(const struct settings *settings);

/* Whether a target runs on a GPU, which one worker at a time may use. */
bool plan_is_gpu(const struct target *target);

/* Keeps the rows for which `keep` is set ([n_rows]) and counts the targets' planned rows anew. */
void plan_keep(struct plan *plan, const bool *keep);

#endif
