/* SPDX-License-Identifier: Apache-2.0 */
/* Submitting jobs; see slurm.h. No shell stands between: arguments reach sbatch as they are. */
#include "harness/fleet/slurm.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_ARGUMENTS = 32 };

extern char **environ;

/* Reads to the end, keeps what fits, ends lines with blanks. */
static void read_all(int descriptor, char *text, size_t size)
{
    size_t  used = 0;
    char    rest[256];
    ssize_t n;
    while ((n = used + 1 < size ? read(descriptor, text + used, size - 1 - used)
                                : read(descriptor, rest, sizeof rest)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        used += used + 1 < size ? (size_t)n : 0;
    }
    while (used > 0 && text[used - 1] == '\n')
        used--;
    text[used] = '\0';
    for (char *c = text; *c; c++)
        if (*c == '\n')
            *c = ' ';
}

/* Starts sbatch with its output, and its complaints, in a pipe. */
static enum status start(char *const *argv, int *output, pid_t *child, struct error *err)
{
    posix_spawn_file_actions_t actions;
    int                        ends[2];
    if (pipe(ends) != 0)
        return error_set(err, STATUS_BOOKS, "sbatch: no pipe: %s", strerror(errno));
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
    int rc = posix_spawnp(child, "sbatch", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *output = ends[0];
    if (rc == 0)
        return STATUS_OK;
    close(ends[0]);
    return error_set(err, STATUS_BOOKS,
                     "sbatch cannot be started: %s; Slurm's client commands must be in PATH (Debian: slurm-client)",
                     strerror(rc));
}

enum status slurm_submit(const char *const *arguments, char job[SLURM_JOB_TEXT], struct error *err)
{
    char *argv[MAX_ARGUMENTS + 3] = {(char *)"sbatch", (char *)"--parsable"};
    char  answer[700];
    int   n = 2, output = -1, how = 0;
    pid_t child;
    while (*arguments && n < MAX_ARGUMENTS + 2)
        argv[n++] = (char *)*arguments++;
    if (start(argv, &output, &child, err))
        return err->status;
    read_all(output, answer, sizeof answer);
    close(output);
    while (waitpid(child, &how, 0) < 0 && errno == EINTR) {
    }
    size_t digits = strspn(answer, "0123456789");
    if (!WIFEXITED(how) || WEXITSTATUS(how) != 0 || digits == 0 || digits >= SLURM_JOB_TEXT)
        return error_set(err, STATUS_BOOKS, "sbatch did not take the job: %s", answer[0] ? answer : "it said nothing");
    memcpy(job, answer, digits);
    job[digits] = '\0';
    return STATUS_OK;
}
