/* SPDX-License-Identifier: Apache-2.0 */
/* An object file of a kernel before it is linked: the one place that edits ELF (libelf). */
#ifndef TOPKCTS_SIMULATOR_OBJECT_H
#define TOPKCTS_SIMULATOR_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

/* Symbols; free with simulator_names_clear. */
struct simulator_names {
    char **names;
    size_t n;
    char   guarded[128]; /* a __shared__ object that has a constructor, mangled; "": there is none */
};

/* Makes every LDS array of the object (a thread-local section of its own) longer by a gap that no kernel may touch, and
 * adds the names of its `extern __shared__` arrays, each once, to *dynamic; notes an LDS object with a constructor. False with the cause in `text`. */
bool simulator_object_prepare(const char *path, struct simulator_names *dynamic, char *text, size_t size);

/* Whether the shared object at the path is a watched module: it carries the mark of module_entry.S. */
bool simulator_object_is_watched(const char *path);

void simulator_names_clear(struct simulator_names *names);

#endif
