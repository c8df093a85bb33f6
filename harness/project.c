/* SPDX-License-Identifier: Apache-2.0 */
/* Where this program stands; see project.h. */
#include "harness/project.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int    kept_argc;
static char **kept_argv;

const char *project_folder(void)
{
    static char folder[PATH_MAX + 16];
    char        binary[PATH_MAX];
    struct stat unused;
    if (folder[0])
        return folder;
    ssize_t length = readlink("/proc/self/exe", binary, sizeof binary - 1);
    binary[length < 0 ? 0 : length] = '\0';
    /* build/topkcts stands one folder below the project; a portable folder holds the registry beside the binary. */
    for (int up = 0; up < 3; up++) {
        char *slash = strrchr(binary, '/');
        if (!slash)
            break;
        *slash = '\0';
        snprintf(folder, sizeof folder, "%s/registry", binary);
        if (stat(folder, &unused) == 0) {
            snprintf(folder, sizeof folder, "%s", binary);
            return folder;
        }
    }
    snprintf(folder, sizeof folder, ".");
    return folder;
}

enum status project_load_registry(const struct settings *settings, bool update, struct registry *registry,
                                  struct error *err)
{
    const char *folders[OPTION_MAX_LIST + 1];
    char        own[PATH_MAX + 32];
    snprintf(own, sizeof own, "%s/registry", project_folder());
    folders[0] = own;
    memcpy(folders + 1, settings->registries.items, settings->registries.n * sizeof *folders);
    return registry_load(registry, folders, settings->registries.n + 1, update, err);
}

enum status project_load_registry_aloud(const struct settings *settings, bool update, struct registry *registry,
                                        struct error *err)
{
    if (project_load_registry(settings, update, registry, err))
        return err->status;
    for (size_t i = 0; i < registry->n_notes; i++)
        fprintf(stderr, "note: %s\n", registry->notes[i]);
    return STATUS_OK;
}

void project_keep_arguments(int argc, char **argv)
{
    kept_argc = argc;
    kept_argv = argv;
}

char *project_arguments_json(void)
{
    json_t *list = json_array();
    for (int i = 0; i < kept_argc; i++) {
        json_t *word = json_string(kept_argv[i]);
        json_array_append_new(list, word ? word : json_string("?"));
    }
    char *text = json_dumps(list, JSON_COMPACT);
    json_decref(list);
    return text;
}
