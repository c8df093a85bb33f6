/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiling a kernel at run time, through a cache on disk. Used in worker processes only: a compiler may take its
 * caller down.
 *
 * The cache holds one file a code object, named by the digest of everything the code depends on: texts, options,
 * compiler version, target. A file carries the digest of its own bytes; one that is damaged, cut short or of another
 * version is compiled anew and replaced. Files appear by rename, so that writers at the same time never mix. A cache
 * that cannot be written is no error. Sources that include other files of the user's are not cached: what those hold is
 * not in the name.
 */
#ifndef TOPKCTS_JIT_H
#define TOPKCTS_JIT_H

#include "harness/digest.h"
#include "harness/status.h"

#include <stdbool.h>
#include <stddef.h>

/* What to compile, for which target. */
struct jit_source {
    const char *backend; /* cuda, hip */
    const char *arch;    /* the device's full target id */
    const char *name;    /* of the text, for messages */
    const char *text;
    const char *folder;  /* where it may include files from; NULL: it includes none of its own */
    bool        is_v1;   /* may include kernels/port.h; otherwise the plain types are declared for it */
};

/* What came of it. Owned by itself. */
struct jit_code {
    void  *bytes;
    size_t n_bytes;
    char   compiler[64];
    char   digest[DIGEST_HEX]; /* of source, options, compiler and target: identifies the build */
    bool   from_cache;
};

/* The identity of a build without building it. STATUS_BOOKS when there is no compiler here. */
enum status jit_identify(const struct jit_source *source, struct jit_code *code, struct error *err);

/* Compiles, or takes from the cache. STATUS_FAIL: the compiler rejects the source (its log goes to stderr, its first
 * error into the message). STATUS_BOOKS: no compiler, or it does not work. `folder`: of the cache; NULL: the user's; "":
 * none. */
enum status jit_compile(const struct jit_source *source, const char *folder, struct jit_code *code, struct error *err);

void jit_code_clear(struct jit_code *code);

/* The cache's files, for jit.c and tests. Reading returns false for whatever is no whole entry. */
bool jit_cache_read(const char *folder, const char *key, void **bytes, size_t *n_bytes);
bool jit_cache_write(const char *folder, const char *key, const void *bytes, size_t n_bytes);

/* The user's cache folder: $XDG_CACHE_HOME/topkcts, or ~/.cache/topkcts. False when there is no home. */
bool jit_cache_folder(char *folder, size_t size);

#endif
