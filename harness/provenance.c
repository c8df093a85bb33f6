/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a run comes from; see provenance.h. Reads only: no index is refreshed, no filter program is run.
 * Start reading at provenance_source() and provenance_environment().
 */
#include "harness/provenance.h"

#include <ctype.h>
#include <git2.h>
#include <gnu/libc-version.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

extern char **environ;

/* An untracked file larger than this counts as binary for the patch id: a stray database must not be read whole. */
#define PATCH_FILE_BYTES ((int64_t)16 << 20)

/* ROCm also knows HSA_OVERRIDE_GFX_VERSION_0, _1, ... for single devices. */
static const char identity_override[] = "HSA_OVERRIDE_GFX_VERSION";

static const char *git_cause(void)
{
    const git_error *cause = git_error_last();
    return cause != NULL && cause->message != NULL ? cause->message : "unknown error";
}

/* Commit and tree of HEAD; *tree is NULL in a repository without commits. */
static int read_head(git_repository *repository, struct provenance_source *source, git_tree **tree)
{
    git_reference *head = NULL;
    git_object    *commit = NULL;
    *tree = NULL;
    int rc = git_repository_head(&head, repository);
    if (rc == GIT_EUNBORNBRANCH || rc == GIT_ENOTFOUND)
        return 0;
    if (rc == 0)
        rc = git_reference_peel(&commit, head, GIT_OBJECT_COMMIT);
    if (rc == 0)
        rc = git_commit_tree(tree, (git_commit *)commit);
    if (rc == 0) {
        git_oid_tostr(source->commit, sizeof source->commit, git_object_id(commit));
        git_oid_tostr(source->tree, sizeof source->tree, git_tree_id(*tree));
    }
    git_object_free(commit);
    git_reference_free(head);
    return rc;
}

/* Ends the walk at the first difference. */
static int stop_at_first(const char *path, unsigned int flags, void *payload)
{
    (void)path;
    if (flags == GIT_STATUS_CURRENT || (flags & GIT_STATUS_IGNORED) != 0)
        return 0;
    *(int *)payload = 1;
    return 1;
}

static int read_dirty(git_repository *repository, int *dirty)
{
    git_status_options options;
    int                found = 0;
    git_status_options_init(&options, GIT_STATUS_OPTIONS_VERSION);
    options.flags = GIT_STATUS_OPT_INCLUDE_UNTRACKED;
    int rc = git_status_foreach_ext(repository, &options, stop_at_first, &found);
    if (rc < 0 && rc != GIT_EUSER)
        return rc;
    *dirty = found;
    return 0;
}

/* The patch id of everything that is not committed, untracked files included. */
static int read_patch_id(git_repository *repository, git_tree *tree, struct provenance_source *source)
{
    git_diff        *diff = NULL;
    git_diff_options options;
    git_oid          id;
    git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
    options.flags = GIT_DIFF_INCLUDE_UNTRACKED | GIT_DIFF_RECURSE_UNTRACKED_DIRS | GIT_DIFF_SHOW_UNTRACKED_CONTENT;
    options.max_size = PATCH_FILE_BYTES;
    int rc = git_diff_tree_to_workdir_with_index(&diff, repository, tree, &options);
    if (rc == 0)
        rc = git_diff_patchid(&id, diff, NULL);
    if (rc == 0)
        git_oid_tostr(source->patch_id, sizeof source->patch_id, &id);
    git_diff_free(diff);
    return rc;
}

/* HOME may be somebody else's (sudo -u, a container's user), and then its .gitconfig may not even be looked for. The
 * state of a repository is there without it, too. */
static bool is_home_unreadable;

void provenance_begin_git(void)
{
    git_libgit2_init();
    /* In a container the checkout often belongs to somebody else. Git refuses that for the sake of what it would run;
     * nothing is run here. */
    git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
    if (is_home_unreadable) {
        git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_GLOBAL, "");
        git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_XDG, "");
    }
}

/* What git knows of the folder; nothing, and 0, when it lies in no repository. Otherwise an error of libgit2. */
static int read_state(const char *folder, struct provenance_source *source)
{
    git_repository *repository = NULL;
    git_tree       *tree = NULL;
    int             rc = git_repository_open_ext(&repository, folder, 0, NULL);
    if (rc == GIT_ENOTFOUND)
        return 0;
    if (rc == 0)
        rc = read_head(repository, source, &tree);
    if (rc == 0 && !git_repository_is_bare(repository))
        rc = read_dirty(repository, &source->dirty);
    if (rc == 0 && source->dirty == 1)
        rc = read_patch_id(repository, tree, source);
    git_tree_free(tree);
    git_repository_free(repository);
    return rc;
}

enum status provenance_source(const char *folder, struct provenance_source *source, struct error *err)
{
    struct stat attributes;
    enum status status = STATUS_OK;

    memset(source, 0, sizeof *source);
    source->dirty = -1;
    if (stat(folder, &attributes) != 0 || !S_ISDIR(attributes.st_mode))
        return error_set(err, STATUS_USAGE, "%s: there is no such folder; expected a folder of sources", folder);
    provenance_begin_git();
    int rc = read_state(folder, source);
    if (rc != 0 && !is_home_unreadable) {
        is_home_unreadable = true; /* perhaps */
        git_libgit2_shutdown();
        provenance_begin_git();
        rc = read_state(folder, source);
    }
    if (rc != 0)
        status = error_set(err, STATUS_BOOKS, "%s: the git state cannot be read: %s", folder, git_cause());
    git_libgit2_shutdown();
    return status;
}

void provenance_host(char name[256])
{
    if (gethostname(name, 256) != 0 || name[0] == '\0')
        snprintf(name, 256, "unknown");
    name[255] = '\0';
}

/* A JSON string, or null for NULL. Bytes that are not UTF-8, which the environment may hold, become '?'. */
static json_t *json_text(const char *text)
{
    if (text == NULL)
        return json_null();
    json_t *json = json_string(text);
    if (json != NULL)
        return json;
    char *plain = strdup(text);
    for (char *c = plain; c != NULL && *c != '\0'; c++)
        if ((unsigned char)*c >= 128)
            *c = '?';
    if (plain != NULL)
        json = json_string(plain);
    free(plain);
    return json;
}

/* Cuts white space and quotes at both ends, in place. */
static char *trimmed(char *text)
{
    while (*text != '\0' && (isspace((unsigned char)*text) || *text == '"'))
        text++;
    size_t n = strlen(text);
    while (n > 0 && (isspace((unsigned char)text[n - 1]) || text[n - 1] == '"'))
        n--;
    text[n] = '\0';
    return text;
}

/* The value of the first line "KEY <separator> VALUE" of a file, written to `value`; NULL when there is none. */
static const char *value_in_file(const char *path, const char *key, char separator, char value[256])
{
    char        line[1024];
    const char *found = NULL;
    FILE       *file = fopen(path, "r");
    while (file != NULL && found == NULL && fgets(line, sizeof line, file) != NULL) {
        char *split = strchr(line, separator);
        if (split == NULL)
            continue;
        *split = '\0';
        if (strcmp(trimmed(line), key) == 0) {
            snprintf(value, 256, "%.255s", trimmed(split + 1));
            found = value;
        }
    }
    if (file != NULL)
        fclose(file);
    return found;
}

static json_t *cpu_model(void)
{
    char        value[256];
    const char *model = value_in_file("/proc/cpuinfo", "model name", ':', value);
    return json_text(model != NULL ? model : value_in_file("/proc/cpuinfo", "CPU part", ':', value));
}

static const char *first_set(const char *const *names)
{
    const char *value = NULL;
    for (; *names != NULL && (value == NULL || *value == '\0'); names++)
        value = getenv(*names);
    return value != NULL && *value != '\0' ? value : NULL;
}

/* What kind of container this is, or null. */
static json_t *container(void)
{
    static const char *const apptainer[] = {"APPTAINER_CONTAINER", "SINGULARITY_CONTAINER", NULL};
    static const char *const declared[] = {"container", NULL};
    static const char *const kubernetes[] = {"KUBERNETES_SERVICE_HOST", NULL};
    const char              *kind = first_set(declared);
    if (kind == NULL && access("/run/.containerenv", F_OK) == 0)
        kind = "podman";
    if (kind == NULL && access("/.dockerenv", F_OK) == 0)
        kind = "docker";
    if (kind == NULL && first_set(apptainer) != NULL)
        kind = "apptainer";
    if (kind == NULL && first_set(kubernetes) != NULL)
        kind = "kubernetes";
    return json_text(kind);
}

/* The image the container was made of, where anything tells. Docker itself never does. */
static json_t *container_image(void)
{
    static const char *const names[] = {"CONTAINER_IMAGE", "APPTAINER_CONTAINER", "SINGULARITY_CONTAINER", NULL};
    char                     value[256];
    const char              *image = first_set(names);
    return json_text(image != NULL ? image : value_in_file("/run/.containerenv", "image", '=', value));
}

/* Facts of the machine and of the build. */
static int add_machine(json_t *object)
{
    struct utsname system;
    char           kernel[256];
    char           libc[64];
    int            failed = 0;
    if (uname(&system) == 0)
        snprintf(kernel, sizeof kernel, "%.64s %.64s %.64s", system.sysname, system.release, system.machine);
    else
        snprintf(kernel, sizeof kernel, "unknown");
    snprintf(libc, sizeof libc, "glibc %s", gnu_get_libc_version());
    failed |= json_object_set_new(object, "kernel", json_text(kernel));
    failed |= json_object_set_new(object, "libc", json_text(libc));
    failed |= json_object_set_new(object, "cpu", cpu_model());
    failed |= json_object_set_new(object, "cores", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
    failed |= json_object_set_new(object, "memory_bytes",
                                  json_integer((json_int_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)));
#ifdef __clang__
    failed |= json_object_set_new(object, "compiler", json_text(__VERSION__));
#else
    failed |= json_object_set_new(object, "compiler", json_text("GCC " __VERSION__));
#endif
    failed |= json_object_set_new(object, "container", container());
    failed |= json_object_set_new(object, "container_image", container_image());
    return failed;
}

char *provenance_environment(void)
{
    static const char *const visibility[] = {identity_override, "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                             "CUDA_VISIBLE_DEVICES"};
    char                    *text = NULL;
    json_t                  *object = json_object();
    if (object == NULL)
        return NULL;
    int failed = add_machine(object);
    for (size_t i = 0; i < sizeof visibility / sizeof visibility[0]; i++)
        failed |= json_object_set_new(object, visibility[i], json_text(getenv(visibility[i])));
    if (!failed)
        text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    return text;
}

char *provenance_add_versions(char *environment, const char *provider, const char *versions)
{
    json_t *object = json_loads(environment, 0, NULL), *reported = json_loads(versions, 0, NULL), *providers;
    char   *text = NULL;
    if (!json_is_object(object) || !json_is_object(reported)) {
        json_decref(object);
        json_decref(reported);
        return environment;
    }
    providers = json_object_get(object, "providers");
    if (!providers && json_object_set_new(object, "providers", json_object()) == 0)
        providers = json_object_get(object, "providers");
    if (json_object_set_new(providers, provider, reported) == 0)
        text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    free(environment);
    return text;
}

bool provenance_overrides_identity(const char **variable)
{
    static _Thread_local char name[64];
    size_t                    n_prefix = sizeof identity_override - 1;
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        const char *value = strchr(*entry, '=');
        if (value == NULL || value[1] == '\0' || strncmp(*entry, identity_override, n_prefix) != 0)
            continue;
        size_t n = (size_t)(value - *entry);
        if (n != n_prefix && (*entry)[n_prefix] != '_')
            continue;
        snprintf(name, sizeof name, "%.*s", (int)n, *entry);
        *variable = name;
        return true;
    }
    return false;
}
