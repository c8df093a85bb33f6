/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a run comes from: the git state of a folder, the machine, the tool-chains and the environment variables that
 * steer a GPU run time. With provenance_files.c the only code that talks to libgit2.
 */
#ifndef TOPKCTS_PROVENANCE_H
#define TOPKCTS_PROVENANCE_H

#include "harness/status.h"

#include <stdbool.h>

/* The git state of a working tree. All texts are owned by the structure; empty when unknown. */
struct provenance_source {
    char commit[64];   /* hex; "" when the folder is in no repository or has no commit */
    char tree[64];
    int  dirty;        /* 1 when tracked files differ from the commit or untracked, not ignored files exist; -1 unknown */
    char patch_id[64]; /* stable patch id of the difference to the commit; "" when clean */
};

/* Starts libgit2 as this program wants it, for provenance_files.c; git_libgit2_shutdown() ends it. */
void provenance_begin_git(void);

/* Reads the state of the repository that holds `folder`. A folder outside any repository is not an error: everything
 * is then empty and dirty is -1. A folder that does not exist is STATUS_USAGE. */
enum status provenance_source(const char *folder, struct provenance_source *source, struct error *err);

/* The machine's name; "unknown" when it has none. */
void provenance_host(char name[256]);

/* A JSON object (malloc'd text; the caller frees it; NULL when out of memory) with: kernel, libc, cpu (model), cores,
 * memory_bytes, compiler (that built the harness), container (kind) and container_image where they can be told
 * (/run/.containerenv, /.dockerenv, environment), and HSA_OVERRIDE_GFX_VERSION, ROCR_VISIBLE_DEVICES,
 * HIP_VISIBLE_DEVICES, CUDA_VISIBLE_DEVICES as their value or null when unset. */
char *provenance_environment(void);

/* Takes the text of an environment object and gives it back with "providers": {provider: versions} added, `versions`
 * being a JSON object. Frees what it was given when that had to change; NULL when out of memory. */
char *provenance_add_versions(char *environment, const char *provider, const char *versions);

/* Whether the environment overrides a GPU's identity; the variable's name is written to *variable. */
bool provenance_overrides_identity(const char **variable);

#endif
