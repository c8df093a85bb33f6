/* SPDX-License-Identifier: Apache-2.0 */
/* Processes left behind, found by a marker in their environment; see stray.h. */
#include "harness/stray.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARKER_NAME "TOPKCTS_WORKER"

enum { ENVIRONMENT_BYTES = 1 << 18, SWEEPS = 5, FOLDER_BYTES = 4096 };

static char     runner_marker[STRAY_MARKER_BYTES]; /* what all markers of this runner begin with */
static unsigned n_markers;
static pid_t    keeper_pid;
static int      keeper_line = -1; /* its end is the keeper's sign that the runner is gone */

/* Whether the environment of a process has an entry that is the marker or, for a prefix, begins with it. */
static bool carries(const char *pid, const char *marker, bool is_prefix)
{
    static char environment[ENVIRONMENT_BYTES + 1];
    char        path[300];
    size_t      used = 0, length = strlen(marker);
    ssize_t     n = 0;
    snprintf(path, sizeof path, "/proc/%s/environ", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (used < ENVIRONMENT_BYTES && (n = read(fd, environment + used, ENVIRONMENT_BYTES - used)) > 0)
        used += (size_t)n;
    close(fd);
    environment[used] = '\0';
    for (size_t at = 0; at < used; at += strlen(environment + at) + 1)
        if (is_prefix ? strncmp(environment + at, marker, length) == 0 : strcmp(environment + at, marker) == 0)
            return true;
    return false;
}

/* One look at all processes. Returns how many were killed. */
static int sweep(const char *marker, bool is_prefix)
{
    DIR                 *processes = opendir("/proc");
    const struct dirent *entry;
    int                  n = 0;
    while (processes && (entry = readdir(processes)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && carries(entry->d_name, marker, is_prefix))
            n += kill((pid_t)strtol(entry->d_name, NULL, 10), SIGKILL) == 0;
    if (processes)
        closedir(processes);
    return n;
}

/* One that is just forking may be missed by a look, hence several. */
static void sweep_all(const char *marker, bool is_prefix)
{
    for (int i = 0; i < SWEEPS && sweep(marker, is_prefix) > 0; i++)
        usleep(2000);
}

void stray_kill(const char *marker)
{
    if (marker[0])
        sweep_all(marker, false);
}

static void remove_folder(const char *folder)
{
    int                  fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR                 *files = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    while (files && (entry = readdir(files)))
        unlinkat(fd, entry->d_name, 0); /* "." and ".." are no files, and stay */
    if (files)
        closedir(files);
    else if (fd >= 0)
        close(fd);
    rmdir(folder);
}

/* Reads folders, one a line, until the runner's end of the line is closed; what does not fit is dropped. */
static void read_folders(int line, char folders[FOLDER_BYTES])
{
    size_t  used = 0;
    ssize_t n = 0;
    char    more[512];
    do {
        n = read(line, more, sizeof more);
        for (ssize_t i = 0; i < n && used < FOLDER_BYTES - 1; i++)
            folders[used++] = more[i];
    } while (n > 0 || (n < 0 && errno == EINTR));
    while (used > 0 && folders[used - 1] != '\n')
        used--;
    folders[used] = '\0';
}

/* The keeper: holds nothing but its end of the line, and outlives what a terminal or a shell does to the runner. */
static _Noreturn void keep(int line)
{
    static char folders[FOLDER_BYTES];
    char       *rest = NULL;
    setsid();
    prctl(PR_SET_NAME, "topkcts-keeper");
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    int null = open("/dev/null", O_RDWR);
    if (line < 3) /* cannot be: the runner has its three standard descriptors */
        _exit(0);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    for (int fd = 3; fd < (int)sysconf(_SC_OPEN_MAX) && fd < 4096; fd++)
        if (fd != line)
            close(fd);
    read_folders(line, folders);
    sweep_all(runner_marker, true);
    for (char *folder = strtok_r(folders, "\n", &rest); folder; folder = strtok_r(NULL, "\n", &rest))
        remove_folder(folder);
    _exit(0);
}

/* Everything that still carries one of the markers is killed. Harmless without a keeper. */
static void end_keeper(void)
{
    if (!keeper_pid)
        return;
    close(keeper_line);
    keeper_line = -1;
    while (waitpid(keeper_pid, NULL, 0) < 0 && errno == EINTR)
        ;
    keeper_pid = 0;
}

static void start_keeper(void)
{
    int      ends[2];
    uint32_t random = 0;
    if (getentropy(&random, sizeof random) != 0)
        random = (uint32_t)getpid() * 2654435761U;
    snprintf(runner_marker, sizeof runner_marker, MARKER_NAME "=%d.%08x.", (int)getpid(), random);
    if (pipe2(ends, O_CLOEXEC))
        return;
    fflush(NULL);
    keeper_pid = fork();
    if (keeper_pid == 0) {
        close(ends[1]);
        keep(ends[0]);
    }
    close(ends[0]);
    if (keeper_pid < 0) {
        keeper_pid = 0;
        close(ends[1]);
        return;
    }
    keeper_line = ends[1];
    atexit(end_keeper);
}

void stray_new_marker(char marker[STRAY_MARKER_BYTES])
{
    if (!runner_marker[0])
        start_keeper();
    snprintf(marker, STRAY_MARKER_BYTES, "%.80s%u", runner_marker, n_markers++);
}

void stray_keep_folder(const char *folder)
{
    char   text[512];
    size_t length = (size_t)snprintf(text, sizeof text, "%s\n", folder);
    if (!runner_marker[0])
        start_keeper();
    if (keeper_line >= 0 && length < sizeof text && write(keeper_line, text, length) < 0)
        return; /* the keeper is gone: then so is its help */
}
