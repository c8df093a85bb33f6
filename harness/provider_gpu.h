/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Providers that are a kernel on a GPU: v1 (from a code object built ahead of time, or compiled just in time) and kernel
 * sources. One kernel set a process. Lives in worker processes; knows the driver table, not the judge.
 */
#ifndef TOPKCTS_PROVIDER_GPU_H
#define TOPKCTS_PROVIDER_GPU_H

#include "harness/provider_load.h"

/* Describes the provider that `name` is on a device: claims, origin and digest, without compiling anything. `origin`:
 * aot, jit, or NULL for v1's own choice (the exact target ahead of time, else just in time); "source" for sources.
 * STATUS_BOOKS: no device, no compiler, no code object for this target. STATUS_USAGE: a first line that is wrong. */
enum status provider_gpu_load(const struct provider_name *name, const char *backend, int ordinal, const char *origin,
                              struct loaded_provider *loaded, struct error *err);
void        provider_gpu_unload(void);

/* After loading and once the device is open: gets the code. STATUS_FAIL: a working compiler rejects it, or the kernel
 * does not fit the device. STATUS_BOOKS: the machine's doing. A compiler may end the process. */
enum status provider_gpu_prepare(struct error *err);

/* v1 by the other origin than the one that is loaded, prepared, for the family that demands both. NULL with the reason
 * when this machine has one of them only. Owned by this file. */
const struct topk_provider *provider_gpu_other_origin(void **self, struct error *err);

#endif
