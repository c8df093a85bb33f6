/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Providers whose kernels run watched on the simulator: kernel sources (.hip, .cu), and built-ins of the simulator when
 * --watch asks for it. Compiled by simulator_build.h when first opened. One a process; lives in worker processes.
 */
#ifndef TOPKCTS_PROVIDER_WATCHED_H
#define TOPKCTS_PROVIDER_WATCHED_H

#include "harness/provider_load.h"

/* Describes the provider, without compiling: of a kernel source from its first line (STATUS_USAGE when that is wrong). */
enum status provider_watched_load(const struct provider_name *name, struct loaded_provider *loaded, struct error *err);
void        provider_watched_unload(void);

/* Gets the code, before the provider is opened. STATUS_FAIL: a compiler that works rejects it; STATUS_BOOKS: there is
 * none, or no place to keep what it makes. */
enum status provider_watched_prepare(struct error *err);

#endif
