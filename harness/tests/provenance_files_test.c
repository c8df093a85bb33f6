/* SPDX-License-Identifier: Apache-2.0 */
/* Files and differences of a folder of sources, and names of processes. Repositories are made with git itself. */
#include "harness/provenance_files.h"

#include "harness/provider_process.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char         folder[64];
static struct error err;

/* Runs a shell command in the folder. */
static void shell(const char *command)
{
    char whole[2048];
    snprintf(whole, sizeof whole,
             "cd %s && export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a "
             "GIT_COMMITTER_EMAIL=a@b; %s",
             folder, command);
    cr_assert_eq(system(whole), 0, "%s", command);
}

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/topkcts-files-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    shell("git init -q . && mkdir sub && echo one > sub/a.c && echo top > b.c && printf '*.o\\n' > .gitignore && git add . "
          "&& git commit -qm first");
}

static void remove_folder(void)
{
    char whole[128];
    snprintf(whole, sizeof whole, "rm -rf %s", folder);
    cr_assert_eq(system(whole), 0);
}

TestSuite(provenance_files, .init = make_folder, .fini = remove_folder);

static json_t *files_of(const char *below, const char *base)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, below);
    json_t *json = provenance_files(path, base, &err);
    cr_assert_not_null(json, "%s", err.text);
    return json;
}

static const char *text_in(const json_t *json, const char *name)
{
    const char *text = json_string_value(json_object_get(json, name));
    return text ? text : "";
}

Test(provenance_files, only_files_in_the_folder_count_untracked_ones_too_ignored_ones_not)
{
    shell("echo new > sub/n.c; echo object > sub/x.o");
    json_t *json = files_of("sub", NULL), *files = json_object_get(json, "files");
    cr_assert_eq(json_object_size(files), 2);
    cr_assert_not_null(json_object_get(files, "a.c"));
    cr_assert_not_null(json_object_get(files, "n.c"));
    cr_assert(json_is_true(json_object_get(json, "dirty")));
    cr_assert_null(json_object_get(json, "base"));
    json_decref(json);
}

Test(provenance_files, the_files_digest_follows_contents_and_names_but_not_commits)
{
    json_t *before = files_of("sub", NULL);
    shell("echo more >> b.c && git commit -qam elsewhere");
    json_t *elsewhere = files_of("sub", NULL);
    shell("mv sub/a.c sub/c.c");
    json_t *renamed = files_of("sub", NULL);
    cr_assert_str_eq(text_in(before, "files_digest"), text_in(elsewhere, "files_digest"));
    cr_assert_str_neq(text_in(before, "commit"), text_in(elsewhere, "commit"));
    cr_assert_str_neq(text_in(before, "files_digest"), text_in(renamed, "files_digest"));
    cr_assert_str_eq(text_in(json_object_get(renamed, "files"), "a.c"), "deleted");
    json_decref(before);
    json_decref(elsewhere);
    json_decref(renamed);
}

Test(provenance_files, the_difference_to_a_base_has_its_paths_and_lines)
{
    shell("echo two >> sub/a.c && git commit -qam second");
    json_t *json = files_of(".", "HEAD^"), *base = json_object_get(json, "base"), *stat = json_object_get(base, "diffstat");
    cr_assert_eq(json_integer_value(json_object_get(stat, "files")), 1);
    cr_assert_eq(json_integer_value(json_object_get(stat, "insertions")), 1);
    cr_assert_str_eq(json_string_value(json_array_get(json_object_get(stat, "paths"), 0)), "sub/a.c");
    cr_assert_eq(strlen(text_in(base, "patch_id")), 40);
    json_decref(json);
}

Test(provenance_files, a_patch_on_its_own_paths_keeps_its_id_whatever_else_changes)
{
    shell("git tag base && echo two >> sub/a.c && git commit -qam second");
    json_t *paths = json_pack("[s]", "sub/a.c"), *before = provenance_difference(folder, "base", paths);
    shell("echo other >> b.c && git commit -qam third");
    json_t *after = provenance_difference(folder, "base", paths), *whole = provenance_difference(folder, "base", NULL);
    cr_assert_str_eq(text_in(before, "patch_id"), text_in(after, "patch_id"));
    cr_assert_str_neq(text_in(before, "patch_id"), text_in(whole, "patch_id"));
    json_decref(paths);
    json_decref(before);
    json_decref(after);
    json_decref(whole);
}

Test(provenance_files, a_commit_that_is_not_there_is_said_so)
{
    json_t *json = files_of(".", "0123456789012345678901234567890123456789");
    cr_assert(json_is_null(json_object_get(json_object_get(json, "base"), "patch_id")));
    json_decref(json);
}

Test(provenance_files, a_folder_that_is_not_there_is_an_error)
{
    cr_assert_null(provenance_files("/nowhere/at/all", NULL, &err));
    cr_assert_eq(err.status, STATUS_USAGE);
}

Test(process_stem, is_the_script_and_what_follows_it)
{
    char name[64];
    process_stem("process:/usr/bin/python3 -u 'kernels/adapters/sglang_topk.py' v2", name, sizeof name);
    cr_assert_str_eq(name, "sglang_topk-v2");
    process_stem("process:./mine --fast", name, sizeof name);
    cr_assert_str_eq(name, "mine---fast");
    process_stem("process:", name, sizeof name);
    cr_assert_str_eq(name, "process");
    char small[8];
    process_stem("process:python3 a_long_name.py and more", small, sizeof small);
    cr_assert_eq(strlen(small), 7);
}
