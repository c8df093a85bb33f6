/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `topkcts plugin SOURCE`: builds a plugin with kernels and host code for the simulator, beside its source. What
 * `make plugin SRC=x.hip SIM=1` calls.
 */
#include "harness/command.h"
#include "harness/project.h"
#include "harness/regular_file.h"
#include "harness/simulator_build.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static enum status copy_file(const char *from, const char *to, struct error *err)
{
    char   bytes[65536];
    size_t n = 0;
    FILE  *in = fopen(from, "rb");
    if (!in)
        return error_set(err, STATUS_BOOKS, "%s: cannot be read: %s", from, strerror(errno));
    FILE *out = fopen(to, "wb");
    bool  good = out != NULL;
    while (good && (n = fread(bytes, 1, sizeof bytes, in)) > 0)
        good = fwrite(bytes, 1, n, out) == n;
    if (ferror(in))
        error_set(err, STATUS_BOOKS, "%s: cannot be read: %s", from, strerror(errno));
    fclose(in);
    if (out && fclose(out) != 0)
        good = false;
    if (!good)
        error_set(err, STATUS_BOOKS, "%s: cannot be written: %s", to, strerror(errno));
    return err->status;
}

enum status command_plugin(const struct settings *settings, struct error *err)
{
    char object[PATH_MAX], target[PATH_MAX], text[SIMULATOR_BUILD_TEXT];
    if (settings->words.n != 1)
        return error_set(err, STATUS_USAGE, "plugin: one source is wanted: topkcts plugin x.hip");
    const char *path = settings->words.items[0], *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    if (!dot || (slash && dot < slash))
        return error_set(err, STATUS_USAGE, "plugin: %s has no ending; a source is called x.hip, x.cu or x.cpp", path);
    FILE *file;
    if (regular_file_open(path, &file, err)) /* said here as a mistake of the command line, as `run` does */
        return err->status;
    fclose(file);
    struct simulator_source source = {.files = &path, .n_files = 1, .project = project_folder()};
    enum simulator_build_result result = simulator_build(&source, object, text);
    if (result != SIMULATOR_BUILT)
        return error_set(err, result == SIMULATOR_REJECTED ? STATUS_FAIL : STATUS_BOOKS, "%s", text);
    snprintf(target, sizeof target, "%.*s.so", (int)(dot - path), path);
    if (copy_file(object, target, err))
        return err->status;
    printf("%s\n", target);
    fprintf(stderr, "next: topkcts run --provider %s%s --device sim\n", strchr(target, '/') ? "" : "./", target);
    return STATUS_OK;
}
