/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only place that calls a provider's slots. Foreign code may leave its process in any state; what would change an
 * answer of the judge is put back after every call: rounding and the flushing of denormals, the decimal point, and a
 * child that a slot forked and let return, which ends here instead of judging on as a second worker.
 *
 * Texts that a provider fills are terminated here; a slot that may be left out is checked for here.
 */
#ifndef TOPKCTS_PROVIDER_CALL_H
#define TOPKCTS_PROVIDER_CALL_H

#include "harness/provider.h"

#include <stddef.h>

/* What the slot returned. `err` holds one line of cause after a failure, even where the provider gives none. */
int provider_call_open(const struct topk_provider *provider, int device, void **self, char *err, size_t err_size);

/* 1: can run it, 0: cannot, with the reason in `why`. */
int provider_call_supports(const struct topk_provider *provider, void *self, const struct topk_problem *problem,
                           char *why, size_t why_size);

/* Bytes; 0 when the slot is left out. */
size_t provider_call_workspace_bytes(const struct topk_provider *provider, void *self,
                                     const struct topk_problem *problem);

/* As open. */
int provider_call_launch(const struct topk_provider *provider, void *self, const struct topk_problem *problem,
                         char *err, size_t err_size);

/* Copies the inner path of the last launch; "" when there is none. Reads at most `size` - 1 bytes of the provider's
 * text, so one without an end does no harm. */
void provider_call_path(const struct topk_provider *provider, void *self, char *path, size_t size);

/* Puts /dev/null on a descriptor that is nobody's any more, to see whether a provider closes what is not its own. */
void provider_call_watch(int descriptor);

/* The first watched descriptor that was closed since the last look, -1 when none was. It is then watched anew. */
int provider_call_closed_descriptor(void);

void provider_call_close(const struct topk_provider *provider, void *self);

#endif
