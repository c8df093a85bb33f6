/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One runner a run: two that resume the same run at once would both write its rows. The lock is a name of this machine
 * that ends with its process, kill -9 included, and leaves no file behind; a database in use is on one machine anyway.
 */
#ifndef TOPKCTS_RUN_LOCK_H
#define TOPKCTS_RUN_LOCK_H

#include "harness/status.h"

/* Takes the lock until the process ends. STATUS_BOOKS when another process has it. */
enum status run_lock(const char *run, struct error *err);

#endif
