/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a proof needs to know of a folder of sources beyond its commit: its files by digest, how far it is from its
 * commit, and how it differs from the commit that it is compared with. With provenance.c the only code that talks to
 * libgit2.
 */
#ifndef TOPKCTS_PROVENANCE_FILES_H
#define TOPKCTS_PROVENANCE_FILES_H

#include "harness/status.h"

#include <jansson.h>

/* A JSON object (the caller frees it):
 *
 *     folder, commit, tree, dirty (null: unknown), patch_id (of what is not committed; "" when clean)
 *     n_files, files_digest     of the files in the folder that git knows or does not ignore, by path within it
 *     files                     {path: xxh3-128}, or null when there are more than PROVENANCE_MAX_FILES
 *     diffstat                  {files, insertions, deletions, paths} of what is not committed
 *     base                      {commit, patch_id, diffstat}: from that commit to the folder's repository as it stands;
 *                               patch_id is null when the repository does not have the commit. Absent without `base`.
 *
 * STATUS_USAGE: there is no such folder. Outside a repository only folder is known. */
json_t *provenance_files(const char *folder, const char *base, struct error *err);

/* The difference from a commit to the folder's repository as it stands: {commit, patch_id, diffstat}, on these paths only
 * (a JSON array; NULL: all). patch_id is null when the repository does not have the commit. The caller frees it; NULL
 * outside a repository. */
json_t *provenance_difference(const char *folder, const char *base, const json_t *paths);

enum { PROVENANCE_MAX_FILES = 5000 };

#endif
