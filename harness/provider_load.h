/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Providers by what the command line names: the reference, built-ins, plugins. Naming one touches no foreign code;
 * loading one does, and happens in a worker process.
 */
#ifndef TOPKCTS_PROVIDER_LOAD_H
#define TOPKCTS_PROVIDER_LOAD_H

#include "harness/arena.h"
#include "harness/digest.h"
#include "harness/provider.h"
#include "harness/status.h"
#include "kernels/builtin.h"

#include <stdbool.h>
#include <stddef.h>

enum provider_kind { PROVIDER_REFERENCE, PROVIDER_BUILTIN, PROVIDER_PLUGIN, PROVIDER_SOURCE, PROVIDER_PROCESS };

/* What a word on the command line names. */
struct provider_name {
    enum provider_kind             kind;
    const char                    *text;    /* the word; for a plugin or a kernel source its path; "process:CMD" */
    const struct builtin_provider *builtin; /* of a built-in */
    bool                           is_watched; /* a plugin built for the simulator */
};

/* Where a provider is to run: what is loaded for v1 and for kernel sources depends on it. */
struct provider_place {
    const char *device; /* "sim:32", "cuda:0" */
    const char *origin; /* aot, jit: what v1 must come as; NULL: its own choice */
    bool        watch;  /* on the simulator: v1 is watched, too */
};

/* A provider that is loaded. */
struct loaded_provider {
    const struct topk_provider *provider;
    struct topk_provider        as_loaded; /* of a plugin: what `provider` points to, beyond the plugin's reach */
    const char                 *origin; /* scalar, sim, plugin, aot, jit, source, process; "host" faults count as scalar */
    char                        digest[DIGEST_HEX];
    void                       *library; /* of a plugin */
    bool                        is_process;    /* provider_process.h has its line */
    bool                        unavailable;   /* a process that says it cannot be here: a skip; set with the error */
    bool                        is_gpu_kernel; /* v1 or a kernel source on a GPU: provider_gpu.h has its code */
    bool                        is_watched;    /* a kernel source or v1 on the simulator: provider_watched.h has it */
    int32_t                     wave_size;     /* lanes of the only waves it is for; 0: any */
};

/* Finds what a word names. STATUS_USAGE with the valid names when it names nothing, with the path when a file is
 * missing. */
enum status provider_find(const char *text, struct provider_name *name, struct error *err);

/* Loads it for a place and checks ABI, slots and claims. STATUS_USAGE: it cannot be a provider, with what would be
 * right. STATUS_BOOKS: the place is not there, or lacks what the provider needs (a compiler, a code object). */
enum status provider_load(const struct provider_name *name, const struct provider_place *place,
                          struct loaded_provider *loaded, struct error *err);
void        provider_unload(struct loaded_provider *loaded);

/* The device a provider runs on when none is named: v1 and kernel sources the first of their backends that this machine
 * has (v1: hip, cuda, sim; .hip: hip, sim; .cu: cuda, sim), host or sim for what else is linked in, by its memory for a
 * plugin. */
const char *provider_default_device(const struct provider_name *name, enum topk_memory memory);

/* Whether what `name` is depends on the device, so that each device must be asked for its own answer. */
bool provider_depends_on_device(const struct provider_name *name);

/* Whether a provider can run on a device of this backend. */
bool provider_fits(const struct provider_name *name, enum topk_memory memory, const char *backend);

/* The scalar reference as a provider, in provider_reference.c. */
extern const struct topk_provider provider_reference;

#endif
