/* SPDX-License-Identifier: Apache-2.0 */
/* Files and differences of a folder of sources; see provenance_files.h. Reads only. */
#include "harness/provenance_files.h"

#include "harness/digest.h"
#include "harness/provenance.h"

#include <git2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* An untracked file larger than this counts as binary for a difference: a stray database must not be read whole. */
#define DIFFERENCE_FILE_BYTES ((int64_t)16 << 20)

struct listing {
    git_repository *repository;
    char            prefix[4096]; /* of the folder within the repository: "" or "kernels/" */
    json_t         *files;        /* {path: digest} */
};

/* Adds one file by its path within the repository. What is no longer there is said so: a deleted file is a change. */
static void add_file(struct listing *listing, const char *path)
{
    char         full[8192], hex[DIGEST_HEX];
    struct stat  attributes;
    struct error unread = {0};
    size_t       n = strlen(listing->prefix);
    if (strncmp(path, listing->prefix, n) != 0)
        return;
    snprintf(full, sizeof full, "%s%s", git_repository_workdir(listing->repository), path);
    if (lstat(full, &attributes) != 0)
        json_object_set_new(listing->files, path + n, json_string("deleted"));
    else if (S_ISREG(attributes.st_mode))
        json_object_set_new(listing->files, path + n,
                            json_string(digest_of_file(full, hex, &unread) ? "unreadable" : hex));
}

static int add_untracked(const char *path, unsigned int flags, void *payload)
{
    if (flags & GIT_STATUS_WT_NEW)
        add_file(payload, path);
    return 0;
}

static int list_files(struct listing *listing)
{
    git_index         *index = NULL;
    git_status_options options;
    int                rc = git_repository_index(&index, listing->repository);
    for (size_t i = 0; rc == 0 && i < git_index_entrycount(index); i++)
        add_file(listing, git_index_get_byindex(index, i)->path);
    git_index_free(index);
    git_status_options_init(&options, GIT_STATUS_OPTIONS_VERSION);
    options.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED | GIT_STATUS_OPT_RECURSE_UNTRACKED_DIRS;
    return rc ? rc : git_status_foreach_ext(listing->repository, &options, add_untracked, listing);
}

/* One digest over all paths and digests, in the order of paths. */
static json_t *digest_listing(json_t *files)
{
    struct digest digest;
    char          hex[DIGEST_HEX];
    char         *text = json_dumps(files, JSON_COMPACT | JSON_SORT_KEYS);
    if (!text)
        return NULL;
    digest_begin(&digest);
    digest_add(&digest, text, strlen(text));
    digest_end(&digest, hex);
    free(text);
    return json_string(hex);
}

/* The difference from a tree to the working tree, untracked files included. */
static int read_difference(git_repository *repository, git_tree *tree, const json_t *only, json_t **stat_json,
                           char patch_id[64])
{
    git_diff        *diff = NULL;
    git_diff_stats  *stats = NULL;
    git_diff_options options;
    git_oid          id;
    json_t          *paths = json_array();
    git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
    options.flags = GIT_DIFF_INCLUDE_UNTRACKED | GIT_DIFF_RECURSE_UNTRACKED_DIRS | GIT_DIFF_SHOW_UNTRACKED_CONTENT;
    options.max_size = DIFFERENCE_FILE_BYTES;
    char **wanted = calloc(json_array_size(only) + 1, sizeof *wanted);
    for (size_t i = 0; wanted && i < json_array_size(only); i++)
        wanted[options.pathspec.count++] = (char *)(uintptr_t)json_string_value(json_array_get(only, i));
    options.pathspec.strings = wanted;
    if (options.pathspec.count)
        options.flags |= GIT_DIFF_DISABLE_PATHSPEC_MATCH;
    int rc = git_diff_tree_to_workdir_with_index(&diff, repository, tree, &options);
    if (rc == 0)
        rc = git_diff_get_stats(&stats, diff);
    patch_id[0] = '\0';
    if (rc == 0 && git_diff_num_deltas(diff) > 0) {
        rc = git_diff_patchid(&id, diff, NULL);
        if (rc == 0)
            git_oid_tostr(patch_id, 64, &id);
    }
    for (size_t i = 0; rc == 0 && i < git_diff_num_deltas(diff) && i < PROVENANCE_MAX_FILES; i++)
        json_array_append_new(paths, json_string(git_diff_get_delta(diff, i)->new_file.path));
    if (rc == 0)
        *stat_json = json_pack("{s:I, s:I, s:I, s:o}", "files", (json_int_t)git_diff_stats_files_changed(stats),
                               "insertions", (json_int_t)git_diff_stats_insertions(stats), "deletions",
                               (json_int_t)git_diff_stats_deletions(stats), "paths", paths);
    else
        json_decref(paths);
    free(wanted);
    git_diff_stats_free(stats);
    git_diff_free(diff);
    return rc;
}

static int tree_of(git_repository *repository, const char *revision, git_tree **tree)
{
    git_object *object = NULL, *peeled = NULL;
    int         rc = git_revparse_single(&object, repository, revision);
    if (rc == 0)
        rc = git_object_peel(&peeled, object, GIT_OBJECT_TREE);
    git_object_free(object);
    *tree = rc == 0 ? (git_tree *)peeled : NULL;
    return rc;
}

/* {commit, patch_id, diffstat}; a commit that the repository does not have is said so, and is no error. */
static json_t *difference_json(git_repository *repository, const char *revision, const json_t *only)
{
    git_tree *tree = NULL;
    char      patch_id[64] = "";
    json_t   *diffstat = NULL;
    bool      is_known = tree_of(repository, revision, &tree) == 0 &&
                    read_difference(repository, tree, only, &diffstat, patch_id) == 0;
    git_tree_free(tree);
    return json_pack("{s:s, s:s?, s:o?}", "commit", revision, "patch_id", is_known ? patch_id : NULL, "diffstat", diffstat);
}

/* Where the folder stands within the repository's working tree. */
static void find_prefix(struct listing *listing, const char *folder)
{
    char        full[4096];
    const char *top = git_repository_workdir(listing->repository);
    char       *real_top = top ? realpath(top, NULL) : NULL;
    if (real_top && realpath(folder, full) && strncmp(full, real_top, strlen(real_top)) == 0 && full[strlen(real_top)] == '/')
        snprintf(listing->prefix, sizeof listing->prefix, "%s/", full + strlen(real_top) + 1);
    free(real_top);
}

json_t *provenance_files(const char *folder, const char *base, struct error *err)
{
    struct provenance_source source;
    struct listing           listing = {.files = json_object()};
    if (provenance_source(folder, &source, err)) {
        json_decref(listing.files);
        return NULL;
    }
    json_t *json = json_pack("{s:s, s:s, s:s, s:o, s:s}", "folder", folder, "commit", source.commit, "tree", source.tree,
                             "dirty", source.dirty < 0 ? json_null() : json_boolean(source.dirty), "patch_id",
                             source.patch_id);
    provenance_begin_git();
    if (git_repository_open_ext(&listing.repository, folder, 0, NULL) == 0 && !git_repository_is_bare(listing.repository)) {
        find_prefix(&listing, folder);
        if (list_files(&listing) != 0)
            error_set(err, STATUS_BOOKS, "%s: its files cannot be listed: %s", folder,
                      git_error_last() ? git_error_last()->message : "no reason given");
        json_object_set_new(json, "n_files", json_integer((json_int_t)json_object_size(listing.files)));
        json_object_set_new(json, "files_digest", digest_listing(listing.files));
        json_object_set(json, "files", json_object_size(listing.files) > PROVENANCE_MAX_FILES ? json_null() : listing.files);
        if (source.commit[0]) {
            json_t *own = difference_json(listing.repository, source.commit, NULL);
            json_object_set(json, "diffstat", json_object_get(own, "diffstat"));
            json_decref(own);
        }
        if (base)
            json_object_set_new(json, "base", difference_json(listing.repository, base, NULL));
    }
    git_repository_free(listing.repository);
    git_libgit2_shutdown();
    json_decref(listing.files);
    if (err->status) {
        json_decref(json);
        return NULL;
    }
    return json;
}

json_t *provenance_difference(const char *folder, const char *base, const json_t *paths)
{
    git_repository *repository = NULL;
    json_t         *json = NULL;
    provenance_begin_git();
    if (git_repository_open_ext(&repository, folder, 0, NULL) == 0 && !git_repository_is_bare(repository))
        json = difference_json(repository, base, paths);
    git_repository_free(repository);
    git_libgit2_shutdown();
    return json;
}
