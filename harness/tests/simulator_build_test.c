/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cache of kernels compiled for the simulator: what is damaged is built anew, what is left by a build that was
 * killed harms nobody, and builders at the same time agree.
 */
#include "harness/simulator_build.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

static char folder[64], cache[96], file[96], object[PATH_MAX], sum[PATH_MAX], text[SIMULATOR_BUILD_TEXT];

static void write_file(const char *path, const char *bytes, size_t n)
{
    FILE *out = fopen(path, "w");
    cr_assert_not_null(out, "%s", path);
    cr_assert_eq(fwrite(bytes, 1, n, out), n);
    cr_assert_eq(fclose(out), 0);
}

/* A cache of its own, and a small kernel. */
static void begin(void)
{
    static const char kernel[] = "extern \"C\" __global__ void topk_kernel(int *a) { a[threadIdx.x] = 1; }\n";
    snprintf(folder, sizeof folder, "/tmp/simulator_build_XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(cache, sizeof cache, "%s/topkcts", folder);
    snprintf(file, sizeof file, "%s/k.hip", folder);
    setenv("XDG_CACHE_HOME", folder, 1);
    write_file(file, kernel, sizeof kernel - 1);
}

static enum simulator_build_result build(void)
{
    static char             project[PATH_MAX];
    const char             *files[] = {file};
    struct simulator_source source = {.files = files, .n_files = 1, .project = getcwd(project, sizeof project)};
    enum simulator_build_result result = simulator_build(&source, object, text);
    snprintf(sum, sizeof sum, "%.*s.sum", (int)(strlen(object) - 3), object);
    return result;
}

static bool is_loadable(void)
{
    void *module = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    bool  found = module && dlsym(module, "topk_kernel");
    if (module)
        dlclose(module);
    return found;
}

static void end(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cr_assert_eq(system(command), 0);
}

/* How many entries of the cache hold the word. */
static int n_entries(const char *word)
{
    int            n = 0;
    DIR           *directory = opendir(cache);
    struct dirent *entry;
    while (directory && (entry = readdir(directory)))
        n += strstr(entry->d_name, word) != NULL;
    if (directory)
        closedir(directory);
    return n;
}

static void expect_rebuilt(const char *what)
{
    cr_assert_eq(build(), SIMULATOR_BUILT, "%s: %s", what, text);
    cr_assert(is_loadable(), "%s: the object in the cache was taken as it is", what);
}

Test(simulator_build, damaged_entries_are_built_anew, .timeout = 120)
{
    struct stat first, second;
    begin();
    expect_rebuilt("an empty cache");
    cr_assert_eq(stat(object, &first), 0);
    expect_rebuilt("a whole entry");
    cr_assert_eq(stat(object, &second), 0);
    cr_assert_eq(first.st_ino, second.st_ino, "a whole entry was built anew");

    cr_assert_eq(truncate(object, first.st_size / 2), 0);
    expect_rebuilt("a truncated object");
    int  fd = open(object, O_RDWR | O_CLOEXEC);
    char byte;
    cr_assert_eq(pread(fd, &byte, 1, first.st_size / 3), 1);
    byte ^= 4;
    cr_assert_eq(pwrite(fd, &byte, 1, first.st_size / 3), 1);
    close(fd);
    expect_rebuilt("an object with one bit changed");

    write_file(sum, "no digest at all, and longer than any line of the file would be: ................\n", 82);
    expect_rebuilt("a digest that is none");
    cr_assert_eq(unlink(sum), 0);
    expect_rebuilt("no digest");
    end();
}

Test(simulator_build, what_stands_in_the_way_is_said, .timeout = 60)
{
    begin();
    expect_rebuilt("an empty cache");
    cr_assert_eq(unlink(object), 0);
    cr_assert_eq(mkdir(object, 0700), 0);
    cr_assert_eq(build(), SIMULATOR_NO_COMPILER);
    cr_assert_not_null(strstr(text, "cannot be kept"), "%s", text);
    end();
}

Test(simulator_build, a_source_that_is_wrong_leaves_nothing, .timeout = 60)
{
    begin();
    write_file(file, "extern \"C\" __global__ void topk_kernel(int *a) { no_such_function(a); }\n", 71);
    cr_assert_eq(build(), SIMULATOR_REJECTED);
    cr_assert_not_null(strstr(text, "no_such_function"), "%s", text);
    cr_assert_eq(n_entries("building-"), 0);
    cr_assert_eq(n_entries(".so"), 0);
    end();
}

/* A compiler that rejects everything is the machine's fault, not the source's; so is a disk without room. */
Test(simulator_build, a_compiler_that_does_not_work_is_not_the_sources_fault, .timeout = 60)
{
    static const char rejects[] = "#!/bin/sh\necho \"$TMPDIR: fatal error: 'stdint.h' file not found\"\nexit 1\n";
    static const char no_room[] = "#!/bin/sh\necho 'x.s: fatal error: error writing to x.s: No space left on device'\nexit 1\n";
    char              compiler[128], path[4096];
    begin();
    setenv("TMPDIR", "/nonexistent", 1);
    expect_rebuilt("a folder for temporary files that is not there");
    cr_assert_eq(unlink(object), 0);

    snprintf(compiler, sizeof compiler, "%s/clang++", folder);
    snprintf(path, sizeof path, "%s:%s", folder, getenv("PATH"));
    setenv("PATH", path, 1);
    write_file(compiler, rejects, sizeof rejects - 1);
    cr_assert_eq(chmod(compiler, 0700), 0);
    cr_assert_eq(build(), SIMULATOR_NO_COMPILER, "%s", text);
    cr_assert_not_null(strstr(text, "not even for a kernel of one line"), "%s", text);
    cr_assert_not_null(strstr(text, "stdint.h"), "%s", text);
    write_file(compiler, no_room, sizeof no_room - 1);
    cr_assert_eq(build(), SIMULATOR_NO_COMPILER, "%s", text);
    cr_assert_not_null(strstr(text, "No space left on device"), "%s", text);
    cr_assert_eq(n_entries("building-"), 0);
    end();
}

/* Killed at different moments of the build; the next build works, and clears away what is older than any build. */
Test(simulator_build, a_killed_build_harms_nobody, .timeout = 120)
{
    begin();
    for (int tenth = 0; tenth < 4; tenth++) {
        pid_t child = fork();
        if (child == 0) {
            setpgid(0, 0);
            build();
            _exit(0);
        }
        setpgid(child, child);
        for (int i = 0; i < 500 && n_entries("building-") <= tenth; i++)
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        nanosleep(&(struct timespec){.tv_nsec = tenth * 100000000L}, NULL);
        cr_assert_eq(kill(-child, SIGKILL), 0);
        cr_assert_eq(waitpid(child, NULL, 0), child);
        if (n_entries("building-") <= tenth)
            break; /* it was through already */
    }
    cr_assert_gt(n_entries("building-"), 0, "no build was killed on its way");
    expect_rebuilt("after killed builds");
    cr_assert_gt(n_entries("building-"), 0, "a build of a moment ago may still go on");

    DIR           *directory = opendir(cache);
    struct dirent *entry;
    while ((entry = readdir(directory)))
        if (strncmp(entry->d_name, "building-", 9) == 0) {
            char           path[PATH_MAX];
            struct utimbuf old = {.actime = time(NULL) - 100000, .modtime = time(NULL) - 100000};
            snprintf(path, sizeof path, "%s/%s", cache, entry->d_name);
            cr_assert_eq(utime(path, &old), 0);
        }
    closedir(directory);
    cr_assert_eq(unlink(object), 0);
    expect_rebuilt("after old leftovers");
    cr_assert_eq(n_entries("building-"), 0, "folders of builds that were killed long ago stay for ever");
    end();
}

Test(simulator_build, builders_at_the_same_time_agree, .timeout = 120)
{
    enum { BUILDERS = 4 };
    pid_t children[BUILDERS];
    begin();
    for (int i = 0; i < BUILDERS; i++) {
        children[i] = fork();
        if (children[i] == 0)
            _exit(build() == SIMULATOR_BUILT && is_loadable() ? 0 : 1);
    }
    for (int i = 0; i < BUILDERS; i++) {
        int status;
        cr_assert_eq(waitpid(children[i], &status, 0), children[i]);
        cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    cr_assert_eq(n_entries(".so"), 1);
    cr_assert_eq(n_entries("building-"), 0);
    end();
}
