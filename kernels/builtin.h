/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The providers that are linked into topkcts: v1 on the simulator and the planted faults.
 *
 * Adding a kernel is one source file that defines a `const struct builtin_provider` and one line in builtin.c.
 */
#ifndef TOPKCTS_BUILTIN_H
#define TOPKCTS_BUILTIN_H

#include "harness/provider.h"

/* Where a built-in runs. SIMULATOR: host memory, launched through kernels/simulator. SOURCE: a kernel source, compiled
 * for the simulator when it is used. */
enum builtin_place { BUILTIN_HOST, BUILTIN_SIMULATOR, BUILTIN_SOURCE };

struct builtin_provider {
    const struct topk_provider *provider; /* provider->name is the name on the command line */
    enum builtin_place          place;
    const char                 *fault;    /* faulty/NAME: the kind of registry/faults.yaml it plants; NULL otherwise */
    const char                 *summary;  /* one line: what it is, or what is wrong with it */
    const char                 *source;   /* the text whose digest identifies the build: source and flags */
    const char                 *file;     /* of a SOURCE: where it stands, from the project's folder */
};

/* NULL-terminated; the order is the order of `topkcts providers`. */
extern const struct builtin_provider *const builtin_providers[];

#endif
