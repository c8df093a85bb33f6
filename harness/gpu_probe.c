/* SPDX-License-Identifier: Apache-2.0 */
/* Asking a GPU driver in a child process; see gpu_probe.h. */
#include "harness/gpu_probe.h"

#include "harness/device.h"
#include "harness/gpu_load.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROBE_MILLISECONDS = 60000, MAX_DEVICES = 64 };

/* What the child found: one answer for the whole backend, sent through a pipe. */
struct answer {
    int                    n;
    struct error           error;
    struct error           device_errors[MAX_DEVICES];
    struct gpu_description devices[MAX_DEVICES];
};

static void ask(const char *backend, struct answer *answer)
{
    const struct gpu_driver *driver = gpu_load_driver(backend, &answer->error);
    if (!driver || driver->count(&answer->n, &answer->error))
        return;
    if (answer->n > MAX_DEVICES)
        answer->n = MAX_DEVICES;
    for (int i = 0; i < answer->n; i++)
        driver->describe(i, &answer->devices[i], &answer->device_errors[i]);
}

static _Noreturn void become_probe(const char *backend, int fd)
{
    struct answer *answer = calloc(1, sizeof *answer);
    int            null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0) /* drivers chat on stdout */
        dup2(null, STDOUT_FILENO);
    if (answer) {
        ask(backend, answer);
        for (size_t done = 0; done < sizeof *answer;) {
            ssize_t n = write(fd, (const char *)answer + done, sizeof *answer - done);
            if (n <= 0)
                break;
            done += (size_t)n;
        }
    }
    _exit(0);
}

/* Reads the whole answer within the time limit. */
static bool read_answer(int fd, struct answer *answer)
{
    size_t done = 0;
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        int           ready = poll(&wait, 1, PROBE_MILLISECONDS);
        if (ready < 0 && errno == EINTR)
            continue;
        ssize_t n = ready > 0 ? read(fd, (char *)answer + done, sizeof *answer - done) : 0;
        if (n <= 0)
            return false;
        done += (size_t)n;
        if (done == sizeof *answer)
            return true;
    }
}

static void explain_end(const char *backend, int status, bool in_time, struct error *err)
{
    if (!in_time)
        error_set(err, STATUS_BOOKS, "the %s driver did not answer within %d s", backend, PROBE_MILLISECONDS / 1000);
    else if (WIFSIGNALED(status))
        error_set(err, STATUS_BOOKS, "the %s driver crashed when it was asked: signal %d (%s)", backend,
                  WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        error_set(err, STATUS_BOOKS, "the %s driver ended the process that asked it, with exit code %d", backend,
                  WEXITSTATUS(status));
}

static void probe(const char *backend, struct answer *answer)
{
    int   fds[2], status = 0;
    fflush(NULL);
    if (pipe2(fds, O_CLOEXEC)) {
        error_set(&answer->error, STATUS_BOOKS, "the %s driver cannot be asked: %s", backend, strerror(errno));
        return;
    }
    pid_t pid = fork();
    if (pid == 0)
        become_probe(backend, fds[1]);
    close(fds[1]);
    if (pid < 0) {
        error_set(&answer->error, STATUS_BOOKS, "the %s driver cannot be asked: %s", backend, strerror(errno));
    } else {
        bool whole = read_answer(fds[0], answer);
        bool ended = waitpid(pid, &status, whole ? 0 : WNOHANG) == pid;
        for (int i = 0; !ended && i < 20; i++) { /* it closed the line: it is ending, or it hangs */
            usleep(50000);
            ended = waitpid(pid, &status, WNOHANG) == pid;
        }
        if (!ended) {
            kill(pid, SIGKILL);
            waitpid(pid, NULL, WNOHANG);
        }
        if (!whole) {
            memset(answer, 0, sizeof *answer);
            explain_end(backend, status, ended, &answer->error);
        }
    }
    close(fds[0]);
}

/* Each backend is asked once. */
static struct answer *answer_of(const char *backend)
{
    static struct answer *answers[DEVICE_MAX_BACKENDS];
    int                   which = 0;
    while (device_backends[which + 1] && strcmp(device_backends[which]->name, backend) != 0)
        which++;
    if (!answers[which]) {
        answers[which] = calloc(1, sizeof *answers[which]);
        if (answers[which])
            probe(backend, answers[which]);
    }
    return answers[which];
}

enum status gpu_probe_count(const char *backend, int *n, struct error *err)
{
    const struct answer *answer = answer_of(backend);
    *n = 0;
    if (!answer)
        return error_no_memory(err);
    if (answer->error.status)
        return error_set(err, answer->error.status, "%s", answer->error.text);
    *n = answer->n;
    return STATUS_OK;
}

enum status gpu_probe_describe(const char *backend, int ordinal, struct gpu_description *description,
                               struct error *err)
{
    int n;
    if (gpu_probe_count(backend, &n, err))
        return err->status;
    const struct answer *answer = answer_of(backend);
    if (n == 0)
        return error_set(err, STATUS_BOOKS, "the %s driver answers, but finds no device", backend);
    if (ordinal >= n)
        return error_set(err, STATUS_BOOKS, "there is no %s:%d: %d device%s found, numbered from 0", backend, ordinal, n,
                         n == 1 ? "" : "s");
    if (answer->device_errors[ordinal].status)
        return error_set(err, STATUS_BOOKS, "%s", answer->device_errors[ordinal].text);
    *description = answer->devices[ordinal];
    return STATUS_OK;
}
