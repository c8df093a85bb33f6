/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A provider open on a device in a worker process, to be given trials. The worker keeps the provider open from trial to
 * trial; when it crashes or hangs, the trial in flight gets that verdict and a new worker goes on with the next one.
 *
 *     struct trial_session *session;
 *     if (trial_session_open(&session, settings, "./mine.so", NULL, err)) ...
 *     trial_session_run(session, trials, n, judgements, err);
 *     trial_session_close(session, NULL, 0);
 */
#ifndef TOPKCTS_TRIAL_SESSION_H
#define TOPKCTS_TRIAL_SESSION_H

#include "harness/message.h"
#include "harness/option.h"
#include "harness/trial.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trial_session;

/* Starts a worker and opens the provider. `device` NULL: the provider's default. settings->timeout, origin, watch and
 * schedule apply. STATUS_USAGE: no such provider or device, or they do not fit; STATUS_BOOKS: the device or a compiler
 * is not there; STATUS_FAIL: the provider broke while it was loaded or opened, with how. *session is NULL then. */
enum status trial_session_open(struct trial_session **session, const struct settings *settings, const char *provider,
                               const char *device, struct error *err);

/* Who the provider is, and where it runs. Valid while the session is open. */
const struct provider_description *trial_session_provider(const struct trial_session *session);
const char                        *trial_session_device(const struct trial_session *session);

/* Runs trials in order and judges each: judgements [n]. Verdicts are those of judge_trial, and crash or timeout with how
 * it came to that. An error only where no worker can be had any more (or the provider does not open again). */
enum status trial_session_run(struct trial_session *session, const struct trial *trials, size_t n,
                              struct judgement *judgements, struct error *err);

/* The same in two halves, for several sessions at once: begin copies the trials; poll waits at most `milliseconds` and
 * says with *is_done whether judgements [n] are filled. One batch at a time. */
enum status trial_session_begin(struct trial_session *session, const struct trial *trials, size_t n, struct error *err);
enum status trial_session_poll(struct trial_session *session, int milliseconds, struct judgement *judgements,
                               bool *is_done, struct error *err);

/* Waits until one of the sessions may have something, at most `milliseconds`. */
void trial_session_wait(struct trial_session *const *sessions, size_t n, int milliseconds);

/* Replaces the worker by a fresh one, so that nothing of earlier trials is left. */
enum status trial_session_restart(struct trial_session *session, struct error *err);

/* The processor time that all of its workers have taken, in seconds. */
double trial_session_cpu_seconds(const struct trial_session *session);

/* Lets the worker close its provider; how that went wrong, or "", is in `cause` (may be NULL). */
void trial_session_close(struct trial_session *session, char *cause, size_t cause_size);

#endif
