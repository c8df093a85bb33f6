/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker process as its parent sees it: started, told, listened to, watched, killed. The parent never calls foreign
 * code; whatever a provider does happens here.
 */
#ifndef TOPKCTS_WORKER_PROCESS_H
#define TOPKCTS_WORKER_PROCESS_H

#include "harness/message.h"
#include "harness/option.h"
#include "harness/status.h"
#include "harness/stray.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The descriptors a worker finds: orders to read, messages to write. It moves them out of a provider's way. */
enum { WORKER_ORDERS_FD = 3, WORKER_MESSAGES_FD = 4, WORKER_LOG_BYTES = 4096 };

struct worker_process {
    pid_t  pid; /* 0: not running */
    int    pid_fd, orders_fd, messages_fd, log_fd;
    char  *line; /* bytes of messages not yet read */
    size_t line_used, line_size;
    char   log[WORKER_LOG_BYTES]; /* the end of what the worker printed */
    size_t log_used;
    bool   killed;      /* by us */
    bool   has_exited;
    int    wait_status; /* once has_exited */
    bool   babbles;     /* it wrote what is no message, and more than any message is long */
    char   marker[STRAY_MARKER_BYTES]; /* in the environment of the worker and all it starts */
    int64_t oom_kills_before;          /* the machine's count when it started; -1 unknown */
};

/* Starts `topkcts worker` for a provider on a device (NULL: any). Its memory is bounded to `memory_bytes` (0: not); a
 * GPU's worker is not bounded: drivers reserve address space far beyond the machine's memory. */
enum status worker_start(struct worker_process *worker, const struct settings *settings, const char *provider,
                         const char *device, int64_t memory_bytes, struct error *err);

/* Tells it one order. A worker that is gone is no error here: worker_listen says so. */
void worker_tell(struct worker_process *worker, const struct message *message);

/* What one look at a worker brings. */
enum worker_news { WORKER_NOTHING, WORKER_MESSAGE, WORKER_GONE };

/* Takes the next message if there is one; drains the log. Never blocks. GONE: the process has ended (wait_status is
 * set) and every message it sent has been taken, or it closed its end of the line. */
enum worker_news worker_listen(struct worker_process *worker, struct arena *arena, struct message *message);

/* Waits until something may have come from any of the workers, at most `milliseconds`. */
void worker_wait(struct worker_process *const *workers, size_t n, int milliseconds);

/* Ends it with everything it started and takes it from the process table: SIGTERM first, SIGKILL half a second later. A
 * process that cannot be killed within two seconds more is abandoned; false says so. */
bool worker_kill(struct worker_process *worker);

/* Tells it that there are no more orders: it closes its provider, says so and ends. */
void worker_end_orders(struct worker_process *worker);

/* Whether it ended by itself with exit code 0, waiting for a moment for an end that has begun. */
bool worker_ended_well(struct worker_process *worker);

/* Lets it close its provider and end by itself; kills it after `milliseconds`. Frees everything. False when it did not
 * end well: `cause` (may be NULL) then says how. */
bool worker_stop(struct worker_process *worker, int milliseconds, char *cause, size_t cause_size);

/* After WORKER_GONE: gives a process that closed its line in dying a moment to be dead, so that the cause can be told. */
void worker_await_exit(struct worker_process *worker);

/* In words, why it is gone: "signal 11 (Segmentation fault)", "left by itself with exit code 0". */
void worker_cause(const struct worker_process *worker, char *text, size_t size);

/* Whether it was killed by the kernel for want of memory, as far as can be told. */
bool worker_was_out_of_memory(const struct worker_process *worker);

#endif
