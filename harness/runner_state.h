/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the runner. Nobody else includes this.
 *
 *     runner.c          the loop: which slot gets which row, interrupts, the end
 *     runner_worker.c   what workers are told, what they say, what happens when they break
 *     runner_verdict.c  what happened, turned into the verdict that counts, and written down
 */
#ifndef TOPKCTS_RUNNER_STATE_H
#define TOPKCTS_RUNNER_STATE_H

#include "harness/progress.h"
#include "harness/row_result.h"
#include "harness/runner.h"
#include "harness/worker_process.h"

enum {
    MAX_SLOTS = 256,
    CLOSE_MILLISECONDS = 2000,
    MAX_TIMEOUTS = 3,
    MAX_CRASHES = 10
};

/* CLOSING: the worker's last pass is held back until its provider has closed, since breaking there is a verdict too. */
enum phase { PHASE_FREE, PHASE_LOADING, PHASE_OPENING, PHASE_READY, PHASE_PREPARING, PHASE_LAUNCHING, PHASE_CLOSING };

/* A place for one worker process. */
struct slot {
    struct worker_process worker;
    enum phase            phase;
    const char           *gpu;    /* the device_id of the GPU it serves, one worker each; NULL: host and sim */
    size_t                target; /* of the worker, unless free */
    size_t                row;    /* in flight, unless free or ready */
    int64_t               deadline;      /* of the phase */
    int64_t               case_deadline; /* of the whole case; 0 before it is told */
    int64_t               row_started;
    struct row_result     held; /* while closing, with its judgement */
    struct judgement      held_judgement;
    bool                  said_closed;
};

/* What a run learns of a provider, on whatever device. */
struct strikes {
    int         timeouts, crashes;
    const char *gave_up; /* why its remaining rows are not run */
};

/* What a run learns of a target. */
struct target_state {
    size_t          next;        /* row to look at next */
    size_t          end;         /* one past its last row */
    struct strikes *strikes;     /* shared by the targets of one provider */
    const char     *quarantined; /* why the device is not used any more */
    const char     *open_failed; /* why every remaining row fails, or is skipped: open_verdict */
    enum verdict    open_verdict;
};

struct running {
    struct runner       *runner;
    struct slot          slots[MAX_SLOTS];
    size_t               n_slots;
    struct target_state *targets;
    struct progress      progress;
    bool                 stop; /* no new rows */
    const char          *stop_reason;
    struct error        *err;
};

struct target *runner_target_of(const struct running *running, size_t row);

/* Counts a verdict of a resumed run as if it had happened in this one. */
void runner_count_strike(struct running *running, size_t target, enum verdict verdict);

/* Ends the row in flight of a slot with what happened. True when the row is due again, as its next attempt. */
bool runner_end_row(struct running *running, struct slot *slot, struct row_result *result);

/* A row that ends without a worker: skipped, given up, failed with its provider's open. */
void runner_end_unstarted(struct running *running, size_t row, enum verdict verdict, const char *reason);

/* Notes in the store that the row's attempt is taken up now. */
void runner_take_up(struct running *running, size_t row);

/* Stores a warning of the run, and prints it. */
void runner_warn(struct running *running, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether a target has rows left that need a worker; rows that need none are ended on the way. */
bool runner_has_row(struct running *running, size_t target);

/* Asks every GPU of the plan for a known answer, before its first row. */
void runner_check_devices(struct running *running);

/* Gives a row to a slot: starts a worker, or tells the one that is there. */
void runner_begin_row(struct running *running, struct slot *slot, size_t row);

/* Hears what a slot's worker has to say, and lets its time limits expire. */
void runner_listen(struct running *running, struct slot *slot);

/* Ends a slot's worker: lets it close within `milliseconds`, kills it at 0. */
void runner_free_worker(struct running *running, struct slot *slot, int milliseconds);

#endif
