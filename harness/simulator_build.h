/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds a kernel source for the simulator: the machine's C++ compiler (clang++ when it is there, else g++) makes a
 * shared object whose every load, store and atomic calls out to the simulator. LDS arrays get gaps between them, so that
 * an index past one of them does not fall into the next (libelf).
 *
 * Objects are cached by content: source, simulator headers, compiler, flags. A source is compiled once for each content
 * on this machine, whichever worker comes first; a damaged object in the cache is noticed by its digest and built anew.
 * The cache is $XDG_CACHE_HOME/topkcts or ~/.cache/topkcts, else /tmp/topkcts-UID.
 */
#ifndef TOPKCTS_SIMULATOR_BUILD_H
#define TOPKCTS_SIMULATOR_BUILD_H

#include "harness/status.h"

#include <limits.h>
#include <stddef.h>

enum { SIMULATOR_BUILD_TEXT = 1400 };

/* What to build. */
struct simulator_source {
    const char *const *files;   /* C++ by their content, whatever they end in; the first names the object */
    size_t             n_files;
    const char        *project; /* the folder that holds kernels/ and harness/ */
};

enum simulator_build_result {
    SIMULATOR_BUILT,
    SIMULATOR_REJECTED,   /* a compiler that works rejects the source: its message is in text */
    SIMULATOR_NO_COMPILER /* or anything else that is not the source's fault: disk, missing headers */
};

/* Builds, or finds in the cache. `object`: the path of the shared object. `text`: why not. */
enum simulator_build_result simulator_build(const struct simulator_source *source, char object[PATH_MAX],
                                            char text[SIMULATOR_BUILD_TEXT]);

#endif
