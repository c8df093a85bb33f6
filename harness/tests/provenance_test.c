/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a folder of sources and of the machine. Repositories are made with git itself. */
#include "harness/provenance.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char         folder[64];
static struct error err;

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/topkcts-provenance-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

/* Runs a shell command in the folder and returns the first line it prints. */
static const char *shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static const char *shell(const char *format, ...)
{
    static char line[2][256];
    static int  turn;
    char        wanted[512];
    char        command[1024];
    va_list     arguments;
    va_start(arguments, format);
    vsnprintf(wanted, sizeof wanted, format, arguments);
    va_end(arguments);
    snprintf(command, sizeof command,
             "cd %s && export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a "
             "GIT_COMMITTER_EMAIL=a@b; %s",
             folder, wanted);
    turn ^= 1;
    line[turn][0] = '\0';
    FILE *output = popen(command, "r");
    cr_assert_not_null(output);
    if (fgets(line[turn], sizeof line[turn], output) != NULL)
        line[turn][strcspn(line[turn], "\n")] = '\0';
    cr_assert_eq(pclose(output), 0, "%s", wanted);
    return line[turn];
}

static void remove_folder(void)
{
    shell("rm -rf %s", folder);
}

TestSuite(provenance, .init = make_folder, .fini = remove_folder);

static struct provenance_source source_of(const char *path)
{
    struct provenance_source source;
    memset(&source, 0x55, sizeof source);
    cr_assert_eq(provenance_source(path, &source, &err), STATUS_OK, "%s", err.text);
    return source;
}

static void make_repository(void)
{
    shell("git init -q . && mkdir sub && echo one > sub/a.c && printf '*.o\\n' > .gitignore && git add . && git commit "
          "-qm first");
}

Test(provenance, a_folder_outside_any_repository_is_unknown)
{
    struct provenance_source source = source_of(folder);
    cr_assert_str_eq(source.commit, "");
    cr_assert_str_eq(source.tree, "");
    cr_assert_str_eq(source.patch_id, "");
    cr_assert_eq(source.dirty, -1);
}

Test(provenance, a_folder_that_does_not_exist_is_an_error)
{
    struct provenance_source source;
    cr_assert_eq(provenance_source("/tmp/topkcts-no-such-folder", &source, &err), STATUS_USAGE);
    cr_assert_not_null(strstr(err.text, "/tmp/topkcts-no-such-folder"), "%s", err.text);
    cr_assert_eq(source.dirty, -1);
}

Test(provenance, a_clean_repository)
{
    char inner[96];
    make_repository();
    shell("echo object > sub/a.o"); /* ignored */
    snprintf(inner, sizeof inner, "%s/sub", folder);
    struct provenance_source source = source_of(inner);
    cr_assert_str_eq(source.commit, shell("git rev-parse HEAD"));
    cr_assert_str_eq(source.tree, shell("git rev-parse 'HEAD^{tree}'"));
    cr_assert_eq(source.dirty, 0);
    cr_assert_str_eq(source.patch_id, "");
}

Test(provenance, a_changed_file_is_dirty_with_gits_own_patch_id)
{
    make_repository();
    shell("echo two >> sub/a.c");
    struct provenance_source source = source_of(folder);
    cr_assert_eq(source.dirty, 1);
    cr_assert_eq(strlen(source.patch_id), 40);
    cr_assert_str_eq(source.patch_id, shell("git diff HEAD | git patch-id --stable | cut -d' ' -f1"));
    shell("git add sub/a.c");
    cr_assert_str_eq(source_of(folder).patch_id, source.patch_id, "staging changed the patch id");
    shell("git commit -qm second");
    cr_assert_eq(source_of(folder).dirty, 0);
}

Test(provenance, an_untracked_file_is_dirty_and_its_contents_count)
{
    make_repository();
    shell("mkdir new && echo three > new/b.c");
    struct provenance_source first = source_of(folder);
    cr_assert_eq(first.dirty, 1);
    cr_assert_eq(strlen(first.patch_id), 40);
    shell("echo four > new/b.c");
    struct provenance_source second = source_of(folder);
    cr_assert_eq(second.dirty, 1);
    cr_assert_str_neq(second.patch_id, first.patch_id);
    cr_assert_str_eq(second.commit, first.commit);
    shell("rm -r new");
    cr_assert_eq(source_of(folder).dirty, 0);
}

Test(provenance, a_deleted_file_is_dirty)
{
    make_repository();
    shell("rm sub/a.c");
    cr_assert_eq(source_of(folder).dirty, 1);
}

Test(provenance, a_repository_without_commits)
{
    shell("git init -q . && echo one > a.c");
    struct provenance_source source = source_of(folder);
    cr_assert_str_eq(source.commit, "");
    cr_assert_str_eq(source.tree, "");
    cr_assert_eq(source.dirty, 1);
    cr_assert_eq(strlen(source.patch_id), 40);
}

Test(provenance, a_broken_repository_says_so)
{
    struct provenance_source source;
    make_repository();
    shell("rm -r .git/objects/* && mkdir -p .git/objects/info .git/objects/pack");
    cr_assert_eq(provenance_source(folder, &source, &err), STATUS_BOOKS);
    cr_assert_not_null(strstr(err.text, folder), "%s", err.text);
}

Test(provenance, reading_changes_nothing_in_the_repository)
{
    make_repository();
    shell("echo two >> sub/a.c && sleep 1 && touch sub/a.c");
    const char *before = shell("find .git -type f | sort | xargs cksum | cksum");
    source_of(folder);
    cr_assert_str_eq(shell("find .git -type f | sort | xargs cksum | cksum"), before);
}

static json_t *environment(void)
{
    json_error_t cause;
    char        *text = provenance_environment();
    cr_assert_not_null(text);
    json_t *object = json_loads(text, 0, &cause);
    cr_assert_not_null(object, "%s: %s", cause.text, text);
    free(text);
    return object;
}

Test(provenance, the_environment_names_the_machine)
{
    json_t *object = environment();
    cr_assert_gt(json_integer_value(json_object_get(object, "cores")), 0);
    cr_assert_gt(json_integer_value(json_object_get(object, "memory_bytes")), 1 << 20);
    cr_assert_eq(strncmp(json_string_value(json_object_get(object, "kernel")), "Linux ", 6), 0);
    cr_assert_eq(strncmp(json_string_value(json_object_get(object, "libc")), "glibc 2.", 8), 0);
    cr_assert_not_null(strchr(json_string_value(json_object_get(object, "compiler")), '.'));
    cr_assert_not_null(json_object_get(object, "cpu"));
    cr_assert_not_null(json_object_get(object, "container"));
    cr_assert_not_null(json_object_get(object, "container_image"));
    json_decref(object);
}

Test(provenance, visibility_variables_are_told_apart_from_unset_ones)
{
    unsetenv("HIP_VISIBLE_DEVICES");
    setenv("ROCR_VISIBLE_DEVICES", "7", 1);
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    setenv("HSA_OVERRIDE_GFX_VERSION", "11.\xff.0", 1);
    json_t *object = environment();
    cr_assert(json_is_null(json_object_get(object, "HIP_VISIBLE_DEVICES")));
    cr_assert_str_eq(json_string_value(json_object_get(object, "ROCR_VISIBLE_DEVICES")), "7");
    cr_assert_str_eq(json_string_value(json_object_get(object, "CUDA_VISIBLE_DEVICES")), "");
    cr_assert_str_eq(json_string_value(json_object_get(object, "HSA_OVERRIDE_GFX_VERSION")), "11.?.0");
    json_decref(object);
}

Test(provenance, a_declared_container_image_is_told)
{
    setenv("container", "podman", 1);
    setenv("CONTAINER_IMAGE", "rocm/dev:6.4", 1);
    json_t *object = environment();
    cr_assert_str_eq(json_string_value(json_object_get(object, "container")), "podman");
    cr_assert_str_eq(json_string_value(json_object_get(object, "container_image")), "rocm/dev:6.4");
    json_decref(object);
}

Test(provenance, an_overridden_identity_is_noticed)
{
    const char *variable = NULL;
    unsetenv("HSA_OVERRIDE_GFX_VERSION");
    cr_assert_not(provenance_overrides_identity(&variable));
    setenv("HSA_OVERRIDE_GFX_VERSION", "", 1);
    setenv("HSA_OVERRIDE_GFX_VERSIONING", "1", 1);
    setenv("ROCR_VISIBLE_DEVICES", "0", 1);
    cr_assert_not(provenance_overrides_identity(&variable));
    setenv("HSA_OVERRIDE_GFX_VERSION", "11.0.0", 1);
    cr_assert(provenance_overrides_identity(&variable));
    cr_assert_str_eq(variable, "HSA_OVERRIDE_GFX_VERSION");
    unsetenv("HSA_OVERRIDE_GFX_VERSION");
    setenv("HSA_OVERRIDE_GFX_VERSION_1", "11.0.0", 1);
    cr_assert(provenance_overrides_identity(&variable));
    cr_assert_str_eq(variable, "HSA_OVERRIDE_GFX_VERSION_1");
}

Test(provenance, the_host_has_a_name)
{
    char name[256];
    memset(name, 'x', sizeof name);
    provenance_host(name);
    cr_assert_not_null(memchr(name, '\0', sizeof name));
    cr_assert_gt(strlen(name), 0);
}
