/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `topkcts report --html DIR`: the database as pages. The pages are made by reports/report.py; this finds a Python that
 * has what the script needs, checks the database as every command does, and hands over.
 */
#include "harness/command.h"
#include "harness/arena.h"
#include "harness/project.h"
#include "harness/store.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The user's own Python first: a virtual environment may have newer libraries than the system. */
static const char *const pythons[] = {"python3", "/usr/bin/python3"};
enum { N_PYTHONS = sizeof pythons / sizeof pythons[0] };

/* The exit status of a program, or -1 when it could not be started or did not exit by itself. */
static int run_program(char *const arguments[], bool quiet)
{
    posix_spawn_file_actions_t actions;
    pid_t                      child;
    int                        state = 0;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return -1;
    if (quiet)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failure = posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failure)
        return -1;
    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

static const char *find_python(void)
{
    for (int i = 0; i < N_PYTHONS; i++) {
        char *const probe[] = {(char *)pythons[i], "-c", "import jinja2, plotly.offline, sqlite3", NULL};
        if (run_program(probe, true) == 0)
            return pythons[i];
    }
    return NULL;
}

enum status command_report(const struct settings *settings, struct error *err)
{
    const char   *database = settings->database ? settings->database : "topkcts.db";
    struct arena  arena = {0};
    struct store *store = NULL;
    char          self[4096];
    if (!settings->html || settings->words.n) {
        error_set(err, STATUS_USAGE, "report: %s%s; it is called as: topkcts report --html DIR [--db FILE]",
                  settings->words.n ? "no argument is expected, but came " : "--html DIR is missing",
                  settings->words.n ? settings->words.items[0] : "");
        goto done;
    }
    if (store_open(&store, database, STORE_READ, err))
        goto done;
    const char *python = find_python();
    if (!python) {
        error_set(err, STATUS_BOOKS,
                  "report: no python3 with Jinja2 and plotly was found; Debian: apt install python3-jinja2 "
                  "python3-plotly, elsewhere: pip install jinja2 plotly");
        goto done;
    }
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    char *const arguments[] = {(char *)python,
                               arena_format(&arena, "%s/reports/report.py", project_folder()),
                               "--db",
                               (char *)database,
                               "--html",
                               (char *)settings->html,
                               length > 0 ? "--program" : NULL,
                               self,
                               NULL};
    fflush(stdout);
    int state = run_program(arguments, false);
    if (state != 0)
        error_set(err, STATUS_BOOKS, "report: the pages could not be written to %s: the script ended with %d",
                  settings->html, state);
done:
    store_close(store);
    arena_clear(&arena);
    return err->status;
}
