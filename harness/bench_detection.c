/* SPDX-License-Identifier: Apache-2.0 */
/* Time to detection; see bench_detection.h. Judges by what the run itself reports, not by its exit code. */
#include "harness/bench_detection.h"

#include "harness/clock.h"
#include "kernels/builtin.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FOUND_BYTES = 64 };

/* The files of one run, in a folder that is removed after it. */
struct scratch {
    char folder[64], database[96], results[96];
};

static int remove_entry(const char *path, const struct stat *what, int kind, struct FTW *place)
{
    (void)what;
    (void)kind;
    (void)place;
    return remove(path);
}

static enum status make_scratch(struct scratch *scratch, struct error *err)
{
    snprintf(scratch->folder, sizeof scratch->folder, "/tmp/topkcts-bench-XXXXXX");
    if (!mkdtemp(scratch->folder))
        return error_set(err, STATUS_BOOKS, "%s: no folder for a run: %s", scratch->folder, strerror(errno));
    snprintf(scratch->database, sizeof scratch->database, "%s/bench.db", scratch->folder);
    snprintf(scratch->results, sizeof scratch->results, "%s/results", scratch->folder);
    return STATUS_OK;
}

/* `topkcts run`, silent, with an empty cache of compiled kernels. */
static enum status run(const char *provider, const struct scratch *scratch, struct error *err)
{
    const char *const words[] = {"topkcts", "run", "--suite", "race", "--device", "sim", "--provider", provider,
                                 "--fail-fast", "--db", scratch->database, "--json-lines",
                                 scratch->results, NULL};
    int   status = 0;
    pid_t child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(nothing, STDOUT_FILENO);
        dup2(nothing, STDERR_FILENO);
        setenv("XDG_CACHE_HOME", scratch->folder, 1);
        execv("/proc/self/exe", (char *const *)(uintptr_t)words);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child < 0)
        return error_set(err, STATUS_BOOKS, "bench: a run of %s cannot be started: %s", provider, strerror(errno));
    if (WIFSIGNALED(status))
        return error_set(err, STATUS_BOOKS, "bench: the run of %s was killed by signal %d", provider, WTERMSIG(status));
    if (WEXITSTATUS(status) == 127)
        return error_set(err, STATUS_BOOKS, "bench: the run of %s could not be started from /proc/self/exe", provider);
    return STATUS_OK;
}

/* What the reason begins with: "race", "not valid". */
static bool read_found(const char *path, char found[FOUND_BYTES])
{
    char  *line = NULL;
    size_t size = 0;
    FILE  *file = fopen(path, "r");
    found[0] = '\0';
    while (file && !found[0] && getline(&line, &size, file) > 0) {
        json_t     *result = json_loads(line, 0, NULL);
        const char *verdict = json_string_value(json_object_get(result, "verdict"));
        const char *reason = json_string_value(json_object_get(result, "reason"));
        if (verdict && strcmp(verdict, "pass") != 0 && strcmp(verdict, "notrun") != 0)
            snprintf(found, FOUND_BYTES, "%s %.*s", verdict, reason ? (int)strcspn(reason, ":") : 0, reason ? reason : "");
        json_decref(result);
    }
    free(line);
    if (file)
        fclose(file);
    return found[0] != '\0';
}

static enum status detect(const char *provider, double *seconds, char found[FOUND_BYTES], struct error *err)
{
    struct scratch scratch = {0};
    if (make_scratch(&scratch, err))
        return err->status;
    double begin = clock_seconds();
    run(provider, &scratch, err);
    *seconds = clock_seconds() - begin;
    read_found(scratch.results, found);
    nftw(scratch.folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    return err->status;
}

enum status bench_detection(json_t *list, bool prints, struct error *err)
{
    size_t n_missed = 0;
    char   missed[FOUND_BYTES] = "";
    if (prints)
        printf("\n%-32s %8s  %s\n", "planted kernel fault", "found in", "as");
    for (size_t i = 0; builtin_providers[i] && !err->status; i++) {
        const struct builtin_provider *planted = builtin_providers[i];
        double                         seconds = 0;
        char                           found[FOUND_BYTES];
        if (!planted->fault || planted->place == BUILTIN_HOST || detect(planted->provider->name, &seconds, found, err))
            continue;
        if (!found[0]) {
            n_missed++;
            snprintf(missed, sizeof missed, "%s", planted->provider->name);
        }
        json_array_append_new(list, json_pack("{s:s, s:f, s:s?}", "fault", planted->provider->name, "seconds", seconds,
                                              "found", found[0] ? found : NULL));
        if (prints)
            printf("%-32s %6.2f s  %s\n", planted->provider->name, seconds, found[0] ? found : "NOT FOUND");
        fflush(stdout);
    }
    if (n_missed && !err->status)
        error_set(err, STATUS_FAIL, "%zu planted faults were not found by suite race on the simulator: %s%s", n_missed,
                  missed, n_missed > 1 ? " and others" : "");
    return err->status;
}
