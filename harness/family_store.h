/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A new family into a registry on the disk: checked against what is there, written whole or not at all, read back.
 */
#ifndef TOPKCTS_FAMILY_STORE_H
#define TOPKCTS_FAMILY_STORE_H

#include "harness/arena.h"
#include "harness/digest.h"
#include "harness/family_write.h"
#include "harness/option.h"

#include <stdbool.h>

/* Where new families go: the last --registry, which need not be there yet, or else the project's own registry. Texts live
 * in the arena. */
struct family_target {
    const char *registry; /* the folder */
    const char *captured; /* its folder of captured contents */
    bool        is_own;   /* the project's own */
};
struct family_target family_target_of(const struct settings *settings, struct arena *arena);

/* Checks what can be wrong before anything is written: the id's form, that no registry has it, that fault kind and suite
 * are declared. STATUS_USAGE says which and what would be right. */
enum status family_store_check(const struct settings *settings, const struct family_entry *entry, struct error *err);

/* Writes an entry that was checked, reads the registry again and makes the case: its name, which lives in the arena, and its input hash.
 * When that is not `expected_hash`, or the registry cannot be read any more, the entry is taken away again (STATUS_BOOKS:
 * a defect of this program). */
struct stored_family {
    const char *case_name, *path;
    char        hash[DIGEST_HEX];
};
enum status family_store(const struct settings *settings, const struct family_entry *entry, const char *expected_hash,
                         struct arena *arena, struct stored_family *stored, struct error *err);

/* The same for an entry that stands at `path` already: reads it back and compares its inputs. */
enum status family_read_back(const struct settings *settings, const struct family_entry *entry, const char *path,
                             const char *expected_hash, struct arena *arena, struct stored_family *stored,
                             struct error *err);

#endif
