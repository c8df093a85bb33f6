/* SPDX-License-Identifier: Apache-2.0 */
/* A worker process as its parent sees it; see worker_process.h. */
#include "harness/worker_process.h"

#include "harness/command_words.h"
#include "harness/device.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_LINE_BYTES = 1 << 20, READ_BYTES = 65536, WAITED_WORKERS = 256 };
enum { TERM_MILLISECONDS = 500, KILL_MILLISECONDS = 2000, EXIT_MILLISECONDS = 200, TELL_MILLISECONDS = 5000 };

/* The kernel's count of processes killed for want of memory; -1 when it cannot be read. */
static int64_t count_oom_kills(void)
{
    char      line[256];
    long long count = -1;
    FILE     *file = fopen("/proc/vmstat", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "oom_kill %lld", &count) == 1)
            break;
    if (file)
        fclose(file);
    return count;
}

static void make_quiet(int fd)
{
    fcntl(fd, F_SETFL, O_NONBLOCK);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static void set_limits(int64_t memory_bytes)
{
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    if (memory_bytes > 0) {
        struct rlimit data = {(rlim_t)memory_bytes, (rlim_t)memory_bytes};
        setrlimit(RLIMIT_DATA, &data);
    }
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) { /* if the machine runs short, it is the worker that goes, not the keeper of the books */
        ssize_t unused = write(fd, "1000", 4);
        (void)unused;
        close(fd);
    }
}

/* In the child, between fork and exec: only calls that are safe there. */
static _Noreturn void become_worker(int orders, int messages, int log, pid_t parent, int64_t memory_bytes, char **argv,
                                    char **environment)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* What the runner ignores for its own sake is not for a provider to inherit. */
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(STATUS_BOOKS);
    set_limits(memory_bytes);
    int null = open("/dev/null", O_RDONLY);
    /* High copies first, so that none of the wanted numbers is overwritten before it is moved. */
    int high_orders = fcntl(orders, F_DUPFD, WORKER_MESSAGES_FD + 1),
        high_messages = fcntl(messages, F_DUPFD, WORKER_MESSAGES_FD + 1),
        high_log = fcntl(log, F_DUPFD, WORKER_MESSAGES_FD + 1);
    dup2(null, STDIN_FILENO);
    dup2(high_log, STDOUT_FILENO);
    dup2(high_log, STDERR_FILENO);
    dup2(high_orders, WORKER_ORDERS_FD);
    dup2(high_messages, WORKER_MESSAGES_FD);
    close(high_orders);
    close(high_messages);
    close(high_log);
    execve("/proc/self/exe", argv, environment);
    _exit(STATUS_BOOKS);
}

/* The environment with the marker in front. malloc'd, the texts aside; NULL when out of memory. */
static char **marked_environment(char *marker)
{
    size_t n = 0;
    while (environ[n])
        n++;
    char **marked = calloc(n + 2, sizeof *marked);
    if (!marked)
        return NULL;
    marked[0] = marker;
    memcpy(marked + 1, environ, n * sizeof *marked);
    return marked;
}

static void make_words(struct command_words *words, const struct settings *settings, const char *provider,
                       const char *device)
{
    command_words_add(words, "topkcts");
    command_words_add(words, "worker");
    command_words_option(words, "--provider", provider);
    command_words_option(words, "--device", device);
    if (settings->watch)
        command_words_add(words, "--watch");
    command_words_number(words, "--schedule", settings->schedule);
    command_words_number(words, "--explore", settings->explore);
    command_words_option(words, "--beside", settings->beside);
    command_words_option(words, "--origin", settings->origin);
}

enum status worker_start(struct worker_process *worker, const struct settings *settings, const char *provider,
                         const char *device, int64_t memory_bytes, struct error *err)
{
    struct command_words words = {0};
    char               **environment = NULL;
    int                  orders[2] = {-1, -1}, messages[2] = {-1, -1}, log[2] = {-1, -1};
    if (device && device_is_gpu(device))
        memory_bytes = 0;
    memset(worker, 0, sizeof *worker);
    worker->orders_fd = worker->messages_fd = worker->log_fd = worker->pid_fd = -1;
    make_words(&words, settings, provider, device);
    worker->oom_kills_before = count_oom_kills();
    stray_new_marker(worker->marker);
    environment = marked_environment(worker->marker);
    if (!environment) {
        error_no_memory(err);
        goto done;
    }
    if (pipe2(orders, O_CLOEXEC) || pipe2(messages, O_CLOEXEC) || pipe2(log, O_CLOEXEC)) {
        error_set(err, STATUS_BOOKS, "a worker cannot be started: %s", strerror(errno));
        goto done;
    }
    signal(SIGPIPE, SIG_IGN); /* an order to a worker that is gone is answered by its end */
    fflush(NULL);
    pid_t parent = getpid();
    worker->pid = fork();
    if (worker->pid == 0)
        become_worker(orders[0], messages[1], log[1], parent, memory_bytes, words.items, environment);
    if (worker->pid < 0) {
        worker->pid = 0;
        error_set(err, STATUS_BOOKS, "a worker cannot be started: %s", strerror(errno));
        goto done;
    }
    setpgid(worker->pid, worker->pid);
    worker->pid_fd = (int)syscall(SYS_pidfd_open, worker->pid, 0);
    worker->orders_fd = orders[1];
    worker->messages_fd = messages[0];
    worker->log_fd = log[0];
    make_quiet(worker->orders_fd);
    make_quiet(worker->messages_fd);
    make_quiet(worker->log_fd);
    orders[1] = messages[0] = log[0] = -1;
done:
    for (int i = 0; i < 2; i++) {
        if (orders[i] >= 0)
            close(orders[i]);
        if (messages[i] >= 0)
            close(messages[i]);
        if (log[i] >= 0)
            close(log[i]);
    }
    free(environment);
    return err->status;
}

/* A case with many literal rows is longer than a pipe is deep. A worker that stopped reading (its provider has a thread
 * that stopped it, say) is not waited for long: the time limit of what it was told ends it. */
void worker_tell(struct worker_process *worker, const struct message *message)
{
    char *line = message_write(message);
    for (size_t at = 0, length = line ? strlen(line) : 0; at < length;) {
        ssize_t       n = write(worker->orders_fd, line + at, length - at);
        struct pollfd room = {.fd = worker->orders_fd, .events = POLLOUT};
        at += n > 0 ? (size_t)n : 0;
        if (n <= 0 && errno != EINTR && (errno != EAGAIN || poll(&room, 1, TELL_MILLISECONDS) <= 0))
            break;
    }
    free(line);
}

/* Keeps the end of what the worker prints; drains all there is, up to a bound a call. */
static void drain_log(struct worker_process *worker)
{
    char bytes[READ_BYTES];
    for (int round = 0; round < 16 && worker->log_fd >= 0; round++) {
        ssize_t n = read(worker->log_fd, bytes, sizeof bytes);
        if (n <= 0) {
            if (n == 0) {
                close(worker->log_fd);
                worker->log_fd = -1;
            }
            return;
        }
        size_t take = (size_t)n < sizeof worker->log ? (size_t)n : sizeof worker->log;
        size_t keep = sizeof worker->log - take < worker->log_used ? sizeof worker->log - take : worker->log_used;
        memmove(worker->log, worker->log + worker->log_used - keep, keep);
        memcpy(worker->log + keep, bytes + n - take, take);
        worker->log_used = keep + take;
    }
}

/* Reads what has come; false at the end of the line or when a line is longer than any message. */
static bool fill_line(struct worker_process *worker)
{
    if (worker->messages_fd < 0)
        return false;
    for (;;) {
        if (worker->line_size - worker->line_used < READ_BYTES) {
            char *larger = worker->line_size < MAX_LINE_BYTES
                               ? realloc(worker->line, worker->line_size + 2 * (size_t)READ_BYTES)
                               : NULL;
            worker->babbles = worker->line_size >= MAX_LINE_BYTES;
            if (!larger)
                return false;
            worker->line = larger;
            worker->line_size += 2 * (size_t)READ_BYTES;
        }
        ssize_t n = read(worker->messages_fd, worker->line + worker->line_used, READ_BYTES);
        if (n > 0) {
            worker->line_used += (size_t)n;
            if (memchr(worker->line, '\n', worker->line_used))
                return true;
        } else
            return n < 0 && (errno == EAGAIN || errno == EINTR);
    }
}

/* Takes the first whole line as a message. */
static bool take_line(struct worker_process *worker, struct arena *arena, struct message *message)
{
    for (;;) {
        char *end = worker->line_used ? memchr(worker->line, '\n', worker->line_used) : NULL;
        if (!end)
            return false;
        struct error ignored = {0};
        *end = '\0';
        size_t length = (size_t)(end - worker->line) + 1;
        /* What is no message was written by a provider that got hold of the descriptor. */
        enum status status = length > 1 ? message_read(worker->line, arena, message, &ignored) : STATUS_BOOKS;
        memmove(worker->line, worker->line + length, worker->line_used - length);
        worker->line_used -= length;
        if (status == STATUS_OK)
            return true;
    }
}

static void look_for_exit(struct worker_process *worker)
{
    if (worker->pid && !worker->has_exited && waitpid(worker->pid, &worker->wait_status, WNOHANG) == worker->pid)
        worker->has_exited = true;
}

enum worker_news worker_listen(struct worker_process *worker, struct arena *arena, struct message *message)
{
    drain_log(worker);
    if (take_line(worker, arena, message))
        return WORKER_MESSAGE;
    look_for_exit(worker); /* before the last read, so that nothing it wrote before it ended is lost */
    bool open = fill_line(worker);
    if (take_line(worker, arena, message))
        return WORKER_MESSAGE;
    if (worker->has_exited || !open)
        return WORKER_GONE;
    return WORKER_NOTHING;
}

void worker_wait(struct worker_process *const *workers, size_t n, int milliseconds)
{
    struct pollfd fds[3 * WAITED_WORKERS];
    nfds_t        count = 0;
    for (size_t i = 0; i < n && i < WAITED_WORKERS; i++) {
        int watched[] = {workers[i]->messages_fd, workers[i]->log_fd, workers[i]->pid_fd};
        for (int w = 0; w < 3; w++)
            if (watched[w] >= 0)
                fds[count++] = (struct pollfd){.fd = watched[w], .events = POLLIN};
    }
    poll(fds, count, milliseconds);
}

static bool wait_for_exit(struct worker_process *worker, int milliseconds)
{
    for (int waited = 0;; waited += 5) {
        drain_log(worker);
        look_for_exit(worker);
        if (worker->has_exited || waited >= milliseconds)
            return worker->has_exited;
        struct timespec pause = {0, 5000000};
        nanosleep(&pause, NULL);
    }
}

void worker_await_exit(struct worker_process *worker)
{
    if (worker->pid && !worker->babbles)
        wait_for_exit(worker, EXIT_MILLISECONDS);
}

bool worker_kill(struct worker_process *worker)
{
    if (!worker->pid)
        return true;
    look_for_exit(worker);
    if (!worker->has_exited) {
        worker->killed = true;
        kill(-worker->pid, SIGTERM);
        kill(worker->pid, SIGTERM);
        wait_for_exit(worker, TERM_MILLISECONDS);
    }
    if (!worker->has_exited) {
        kill(-worker->pid, SIGKILL);
        kill(worker->pid, SIGKILL);
        wait_for_exit(worker, KILL_MILLISECONDS);
    }
    /* Whatever it left behind goes too, in its process group or out of it. */
    kill(-worker->pid, SIGKILL);
    stray_kill(worker->marker);
    return worker->has_exited;
}

static void release(struct worker_process *worker)
{
    int fds[] = {worker->orders_fd, worker->messages_fd, worker->log_fd, worker->pid_fd};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(worker->line);
    memset(worker, 0, sizeof *worker);
    worker->orders_fd = worker->messages_fd = worker->log_fd = worker->pid_fd = -1;
}

void worker_end_orders(struct worker_process *worker)
{
    if (worker->orders_fd >= 0)
        close(worker->orders_fd);
    worker->orders_fd = -1;
}

bool worker_ended_well(struct worker_process *worker)
{
    return wait_for_exit(worker, 1000) && WIFEXITED(worker->wait_status) && WEXITSTATUS(worker->wait_status) == 0;
}

bool worker_stop(struct worker_process *worker, int milliseconds, char *cause, size_t cause_size)
{
    bool ended_well = true;
    if (!worker->pid)
        return true;
    worker_end_orders(worker);
    if (milliseconds > 0) {
        ended_well = wait_for_exit(worker, milliseconds) && WIFEXITED(worker->wait_status) &&
                     WEXITSTATUS(worker->wait_status) == 0;
        if (!ended_well && cause && worker->has_exited)
            worker_cause(worker, cause, cause_size);
        else if (!ended_well && cause)
            snprintf(cause, cause_size, "no end after %d ms", milliseconds);
    }
    worker_kill(worker);
    release(worker);
    return ended_well;
}

void worker_cause(const struct worker_process *worker, char *text, size_t size)
{
    if (worker->babbles)
        snprintf(text, size, "it wrote what is no message to the runner");
    else if (!worker->has_exited)
        snprintf(text, size, "it closed its line to the runner");
    else if (WIFSIGNALED(worker->wait_status))
        snprintf(text, size, "signal %d (%s)", WTERMSIG(worker->wait_status), strsignal(WTERMSIG(worker->wait_status)));
    else
        snprintf(text, size, "the worker left by itself with exit code %d", WEXITSTATUS(worker->wait_status));
}

bool worker_was_out_of_memory(const struct worker_process *worker)
{
    return worker->has_exited && !worker->killed && WIFSIGNALED(worker->wait_status) &&
           WTERMSIG(worker->wait_status) == SIGKILL && worker->oom_kills_before >= 0 &&
           count_oom_kills() > worker->oom_kills_before;
}
