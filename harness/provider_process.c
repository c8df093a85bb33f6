/* SPDX-License-Identifier: Apache-2.0 */
/* A provider that is a program of its own; see provider_process.h for the protocol. Used in workers only. */
#include "harness/provider_process.h"

#include "harness/claims.h"
#include "harness/project.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROTOCOL = 1, MAX_LIMITS = 16, ALIGNMENT = 256, READ_BYTES = 4096, GROW_BYTES = 8192, MAX_LINE_BYTES = 1 << 20 };
enum { SHELL_CANNOT_RUN = 126, SHELL_SIGNAL = 128 };

/* The program of this worker. */
static struct {
    pid_t                pid;
    FILE                *orders;
    int                  answers_fd;
    char                *heard; /* bytes of answers not yet taken */
    size_t               n_heard, heard_size;
    int                  room_fd;
    char                *room; /* mapped */
    size_t               room_bytes;
    bool                 broken, unavailable;
    char                 device[64];
    char                 path[64];       /* of the last launch */
    char                 complaint[384]; /* that the next launch fails with */
    char                 name[128], version[64], limit_names[MAX_LIMITS][64];
    char                *versions;
    struct topk_limit    limits[MAX_LIMITS + 1];
    struct topk_provider provider;
} process = {.room_fd = -1, .answers_fd = -1};

bool process_is_named(const char *text)
{
    return strncmp(text, PROCESS_PREFIX, strlen(PROCESS_PREFIX)) == 0;
}

/* The program is gone: the worker goes the same way, so that the runner sees what happened. */
static _Noreturn void follow_it(void)
{
    int status = 0, death = 0;
    waitpid(process.pid, &status, 0);
    if (WIFSIGNALED(status))
        death = WTERMSIG(status);
    else if (WEXITSTATUS(status) > SHELL_SIGNAL && WEXITSTATUS(status) < SHELL_SIGNAL + 32)
        death = WEXITSTATUS(status) - SHELL_SIGNAL; /* as the shell in between reports it */
    if (death) {
        signal(death, SIG_DFL);
        raise(death);
    }
    _exit(WEXITSTATUS(status));
}

static void tell(json_t *order)
{
    json_dumpf(order, process.orders, JSON_COMPACT);
    fputc('\n', process.orders);
    fflush(process.orders);
    json_decref(order);
}

/* Reads more of what it says; false at the end of the line. */
static bool hear_more(void)
{
    if (process.n_heard + READ_BYTES > process.heard_size) {
        char *larger = realloc(process.heard, process.heard_size + GROW_BYTES);
        if (!larger)
            return false;
        process.heard = larger;
        process.heard_size += GROW_BYTES;
    }
    ssize_t n;
    do
        n = read(process.answers_fd, process.heard + process.n_heard, READ_BYTES);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        process.n_heard += (size_t)n;
    return n > 0;
}

/* The next line, malloc'd, without its newline. NULL: the line is closed. What never ends is cut. */
static char *hear_line(void)
{
    for (size_t looked = 0;;) {
        char *end = process.n_heard > looked ? memchr(process.heard + looked, '\n', process.n_heard - looked) : NULL;
        if (!end && process.n_heard < MAX_LINE_BYTES) {
            looked = process.n_heard;
            if (!hear_more())
                return NULL;
            continue;
        }
        size_t length = end ? (size_t)(end - process.heard) : process.n_heard, taken = length + (end != NULL);
        char  *line = strndup(process.heard, length);
        memmove(process.heard, process.heard + taken, process.n_heard - taken);
        process.n_heard -= taken;
        return line;
    }
}

/* Whether it has said something that nobody asked for. */
static bool babbles(void)
{
    struct pollfd answers = {.fd = process.answers_fd, .events = POLLIN};
    return process.n_heard > 0 || (poll(&answers, 1, 0) == 1 && (answers.revents & POLLIN) && hear_more());
}

/* A failure that shows the line; from here on nobody knows which answer belongs to which order. */
static json_t *broken_protocol(const char *line)
{
    char text[160];
    process.broken = true;
    snprintf(text, sizeof text, "it broke the protocol with the line '%.80s'", line);
    json_t *answer = json_pack("{s:s, s:s}", "say", "failed", "reason", text);
    return answer ? answer
                  : json_pack("{s:s, s:s}", "say", "failed", "reason", "it broke the protocol with a line that is not UTF-8");
}

/* The next answer; the caller frees it. Something that is no answer is read as a failure that shows it. */
static json_t *hear(void)
{
    json_error_t unread;
    char        *line = hear_line();
    if (!line)
        follow_it();
    json_t *answer = json_loads(line, 0, &unread);
    if (!json_is_object(answer) || !json_is_string(json_object_get(answer, "say"))) {
        json_decref(answer);
        answer = broken_protocol(line);
    }
    free(line);
    return answer;
}

static bool says(const json_t *answer, const char *what)
{
    return strcmp(json_string_value(json_object_get(answer, "say")), what) == 0;
}

static const char *reason_of(const json_t *answer)
{
    const char *reason = json_string_value(json_object_get(answer, "reason"));
    return reason ? reason : "it gives no reason";
}

/* Waits for `wanted`; anything else is a failure with its reason in err. */
static int expect(const char *wanted, char *err, size_t err_size)
{
    json_t     *answer = hear();
    int         failed = !says(answer, wanted);
    const char *path = json_string_value(json_object_get(answer, "path"));
    snprintf(process.path, sizeof process.path, "%s", path ? path : "");
    process.unavailable = says(answer, "unavailable");
    if (failed && (says(answer, "failed") || process.unavailable))
        snprintf(err, err_size, "%s", reason_of(answer));
    else if (failed) {
        process.broken = true;
        snprintf(err, err_size, "it broke the protocol: it says '%.40s' where '%s' or 'failed' was due",
                 json_string_value(json_object_get(answer, "say")), wanted);
    }
    json_decref(answer);
    return failed;
}

/* Whether it may get another order. */
static bool is_in_step(char *err, size_t err_size)
{
    if (!process.broken && babbles()) {
        process.broken = true;
        snprintf(err, err_size, "it broke the protocol: it said something unasked: '%.*s'",
                 (int)(process.n_heard < 80 ? process.n_heard : 80), process.heard);
        return false;
    }
    if (process.broken)
        snprintf(err, err_size, "it broke the protocol in an earlier launch");
    return !process.broken;
}

/* ---- the provider's slots --------------------------------------------------------------------------------------- */

static int process_open(int device, void **self, char *err, size_t err_size)
{
    char path[64];
    (void)device;
    *self = &process;
    process.room_fd = memfd_create("topkcts-room", MFD_CLOEXEC);
    if (process.room_fd < 0) {
        snprintf(err, err_size, "no memory to share with the process: %s", strerror(errno));
        return 1;
    }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), process.room_fd);
    tell(json_pack("{s:s, s:s, s:s}", "do", "open", "device", process.device[0] ? process.device : "host", "room", path));
    return expect("opened", err, err_size);
}

static int grow_room(size_t bytes, char *err, size_t err_size)
{
    if (bytes <= process.room_bytes)
        return 0;
    if (process.room)
        munmap(process.room, process.room_bytes);
    process.room = NULL;
    size_t larger = (bytes + bytes / 4 + 4095) / 4096 * 4096;
    if (ftruncate(process.room_fd, (off_t)larger) == 0)
        process.room = mmap(NULL, larger, PROT_READ | PROT_WRITE, MAP_SHARED, process.room_fd, 0);
    if (!process.room || process.room == MAP_FAILED) {
        snprintf(err, err_size, "no memory to share with the process: %zu bytes: %s", larger, strerror(errno));
        process.room = NULL;
        process.room_bytes = 0;
        return 1;
    }
    process.room_bytes = larger;
    return 0;
}

/* One array of a launch and its place in the room. */
struct place {
    const char *name;
    const void *from; /* NULL for an output */
    void       *to;   /* of an output */
    int64_t     rows, columns, stride;
    size_t      bytes, offset;
};

static size_t lay_out(struct place *places, size_t n)
{
    size_t offset = 0;
    for (size_t i = 0; i < n; i++) {
        /* Inputs keep their alignment: a kernel that reads four scores at a time is to meet odd addresses here too. */
        places[i].offset = offset + (places[i].from ? (uintptr_t)places[i].from % ALIGNMENT : 0);
        places[i].bytes = (size_t)(places[i].rows * places[i].stride) * 4;
        offset = (places[i].offset + places[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return offset ? offset : ALIGNMENT;
}

/* The arrays of a launch; returns how many. */
static size_t list_places(const struct topk_problem *p, struct place places[5])
{
    size_t n = 0;
    places[n++] = (struct place){
        .name = "scores", .from = p->scores, .rows = p->batch, .columns = p->max_seq_len, .stride = p->score_stride};
    places[n++] = (struct place){.name = "seq_lens", .from = p->seq_lens, .rows = 1, .columns = p->batch, .stride = p->batch};
    places[n++] = (struct place){.name = "page_table",
                                 .from = p->page_table,
                                 .rows = p->batch,
                                 .columns = (p->max_seq_len + p->page_size - 1) / p->page_size,
                                 .stride = p->page_table_stride};
    if (p->page_indices)
        places[n++] = (struct place){
            .name = "page_indices", .to = p->page_indices, .rows = p->batch, .columns = p->topk, .stride = p->topk};
    if (p->raw_indices)
        places[n++] = (struct place){
            .name = "raw_indices", .to = p->raw_indices, .rows = p->batch, .columns = p->topk, .stride = p->topk};
    return n;
}

/* What goes into the room: an input, or what an output holds before the launch. */
static const void *source_of(const struct place *place)
{
    return place->to ? place->to : place->from;
}

static json_t *make_order(const char *what, const struct topk_problem *p, const struct place *places, size_t n)
{
    json_t *order = json_pack("{s:s, s:I, s:i, s:i}", "do", what, "bytes", (json_int_t)process.room_bytes, "topk",
                              (int)p->topk, "page_size", (int)p->page_size);
    for (size_t i = 0; i < n; i++)
        json_object_set_new(order, places[i].name,
                            json_pack("{s:I, s:[I, I], s:I}", "offset", (json_int_t)places[i].offset, "shape",
                                      (json_int_t)places[i].rows, (json_int_t)places[i].columns, "stride",
                                      (json_int_t)places[i].stride));
    return order;
}

static int process_supports(void *self, const struct topk_problem *p, char *why, size_t why_size)
{
    struct place places[5];
    size_t       n = list_places(p, places);
    (void)self;
    if (!is_in_step(why, why_size))
        return 1; /* the launch then says what is wrong */
    lay_out(places, n);
    tell(make_order("supports", p, places, n));
    json_t *answer = hear();
    int     yes = !says(answer, "no");
    if (says(answer, "failed")) /* that is for the launch to say */
        snprintf(process.complaint, sizeof process.complaint, "in supports: %s", reason_of(answer));
    else if (yes && !says(answer, "yes"))
        process.broken = true;
    if (!yes)
        snprintf(why, why_size, "%s", reason_of(answer));
    json_decref(answer);
    return yes;
}

static int process_launch(void *self, const struct topk_problem *p, char *err, size_t err_size)
{
    struct place places[5];
    size_t       n = list_places(p, places), bytes = lay_out(places, n);
    (void)self;
    if (process.complaint[0]) {
        snprintf(err, err_size, "%s", process.complaint);
        process.complaint[0] = '\0';
        return 1;
    }
    if (!is_in_step(err, err_size) || grow_room(bytes, err, err_size))
        return 1;
    /* Outputs come with the harness's poison in them, so that what is not written is seen. */
    for (size_t i = 0; i < n; i++)
        if (source_of(&places[i]))
            memcpy(process.room + places[i].offset, source_of(&places[i]), places[i].bytes);
    tell(make_order("launch", p, places, n));
    if (expect("done", err, err_size))
        return 1;
    for (size_t i = 0; i < n; i++) {
        if (places[i].to)
            memcpy(places[i].to, process.room + places[i].offset, places[i].bytes);
        else if (places[i].from && memcmp(process.room + places[i].offset, places[i].from, places[i].bytes) != 0) {
            snprintf(err, err_size, "it changed its input %s", places[i].name);
            return 1;
        }
    }
    return 0;
}

static const char *process_path(void *self)
{
    (void)self;
    return process.path[0] ? process.path : NULL;
}

static void process_close(void *self)
{
    (void)self;
}

/* ---- starting --------------------------------------------------------------------------------------------------- */

static _Noreturn void become_program(const char *command, int orders, int answers)
{
    char        text[64], paths[8192];
    const char *before = getenv("PYTHONPATH");
    /* The worker's own line to the runner is none of the program's business. */
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    fcntl(orders, F_SETFD, 0);
    fcntl(answers, F_SETFD, 0);
    snprintf(text, sizeof text, "%d,%d", orders, answers);
    setenv("TOPKCTS_PROTOCOL_FDS", text, 1);
    snprintf(paths, sizeof paths, "%s/kernels/adapters%s%s", project_folder(), before ? ":" : "", before ? before : "");
    setenv("PYTHONPATH", paths, 1);
    signal(SIGPIPE, SIG_DFL);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(SHELL_CANNOT_RUN);
}

static enum status spawn(const char *command, struct error *err)
{
    int orders[2] = {-1, -1}, answers[2] = {-1, -1};
    if (pipe2(orders, O_CLOEXEC) || pipe2(answers, O_CLOEXEC))
        return error_set(err, STATUS_BOOKS, "a process cannot be started: %s", strerror(errno));
    fflush(NULL);
    process.pid = fork();
    if (process.pid == 0)
        become_program(command, orders[0], answers[1]);
    close(orders[0]);
    close(answers[1]);
    if (process.pid < 0) {
        close(orders[1]);
        close(answers[0]);
        return error_set(err, STATUS_BOOKS, "a process cannot be started: %s", strerror(errno));
    }
    signal(SIGPIPE, SIG_IGN); /* an order to a program that is gone is answered by its end */
    process.orders = fdopen(orders[1], "w");
    process.answers_fd = answers[0];
    return process.orders ? STATUS_OK : error_no_memory(err);
}

static enum status read_claims(const json_t *hello, struct error *err)
{
    const char *name;
    json_t     *value;
    if (!json_is_object(json_object_get(hello, "claims")))
        return error_set(err, STATUS_USAGE, "process '%s': claims must be an object, {\"level\": \"valid\"}", process.name);
    json_object_foreach(json_object_get(hello, "claims"), name, value)
    {
        char        number[32];
        const char *text = json_string_value(value);
        if (json_is_integer(value)) {
            snprintf(number, sizeof number, "%lld", (long long)json_integer_value(value));
            text = number;
        }
        if (claims_set(&process.provider.claims, name, text ? text : "?", err))
            return error_prefix(err, "process '%s': claims", process.name);
    }
    if (claims_validate(&process.provider.claims, err))
        return error_prefix(err, "process '%s'", process.name);
    return STATUS_OK;
}

static enum status read_limits(const json_t *hello, struct error *err)
{
    const char *name;
    json_t     *value;
    size_t      n = 0;
    json_object_foreach(json_object_get(hello, "limits"), name, value)
    {
        if (n == MAX_LIMITS)
            return error_set(err, STATUS_USAGE, "process '%s': it declares more than %d limits", process.name, MAX_LIMITS);
        if (!json_is_integer(value) || json_integer_value(value) <= 0)
            return error_set(err, STATUS_USAGE, "process '%s': limit '%s' must be a whole number above 0", process.name, name);
        snprintf(process.limit_names[n], sizeof process.limit_names[n], "%s", name);
        process.limits[n].name = process.limit_names[n];
        process.limits[n++].value = json_integer_value(value);
    }
    process.provider.limits = process.limits;
    return STATUS_OK;
}

/* Name, versions and the script: what a build of a process is. Words of the command that are files count as script. */
static void make_digest(const char *command, char hex[DIGEST_HEX])
{
    struct digest digest;
    char          words[4096], *rest = NULL;
    digest_begin(&digest);
    digest_add(&digest, process.name, strlen(process.name));
    digest_add(&digest, process.version, strlen(process.version));
    digest_add(&digest, process_versions(), strlen(process_versions()));
    snprintf(words, sizeof words, "%s", command);
    for (char *word = strtok_r(words, " '\"", &rest); word; word = strtok_r(NULL, " '\"", &rest)) {
        struct stat  file;
        struct error ignored = {0};
        char         content[DIGEST_HEX];
        if (stat(word, &file) == 0 && S_ISREG(file.st_mode) && !digest_of_file(word, content, &ignored))
            digest_add(&digest, content, sizeof content);
    }
    digest_end(&digest, hex);
}

static enum status take_hello(const json_t *hello, const char *command, bool *unavailable, struct error *err)
{
    const char *name = json_string_value(json_object_get(hello, "name"));
    const char *version = json_string_value(json_object_get(hello, "version"));
    if (says(hello, "unavailable")) {
        *unavailable = true;
        return error_set(err, STATUS_USAGE, "%s", reason_of(hello));
    }
    if (!says(hello, "hello"))
        return error_set(err, STATUS_USAGE, "process '%s': it must say hello first, it says: %s", command, reason_of(hello));
    if (json_integer_value(json_object_get(hello, "protocol")) != PROTOCOL)
        return error_set(err, STATUS_USAGE, "process '%s': it speaks protocol %lld, this harness speaks %d", command,
                         (long long)json_integer_value(json_object_get(hello, "protocol")), PROTOCOL);
    if (!name || !name[0] || !version)
        return error_set(err, STATUS_USAGE, "process '%s': its hello lacks name or version", command);
    if (strlen(name) >= sizeof process.name || strlen(version) >= sizeof process.version)
        return error_set(err, STATUS_USAGE, "process '%s': a name is at most %zu bytes long, a version %zu", command,
                         sizeof process.name - 1, sizeof process.version - 1);
    snprintf(process.name, sizeof process.name, "%s", name);
    snprintf(process.version, sizeof process.version, "%s", version);
    process.versions = json_dumps(json_object_get(hello, "versions"), JSON_COMPACT | JSON_SORT_KEYS);
    if (!process.versions)
        process.versions = strdup("{}");
    process.provider = (struct topk_provider){.abi = TOPK_PROVIDER_ABI,
                                              .name = process.name,
                                              .version = process.version,
                                              .memory = TOPK_MEMORY_HOST,
                                              .open = process_open,
                                              .launch = process_launch,
                                              .path = process_path,
                                              .close = process_close};
    if (json_is_true(json_object_get(hello, "supports")))
        process.provider.supports = process_supports;
    return read_limits(hello, err) ? err->status : read_claims(hello, err);
}

/* Whether the shell could not run the command at all. */
static bool shell_refused(void)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)process.pid, &info, WEXITED | WNOWAIT) == 0 && info.si_code == CLD_EXITED &&
           (info.si_status == SHELL_CANNOT_RUN || info.si_status == SHELL_CANNOT_RUN + 1);
}

enum status process_start(const char *command, const struct topk_provider **provider, char digest[DIGEST_HEX],
                          bool *unavailable, struct error *err)
{
    *unavailable = false;
    if (process_is_named(command))
        command += strlen(PROCESS_PREFIX);
    if (command[strspn(command, " ")] == '\0')
        return error_set(err, STATUS_USAGE, "process: there is no command; write --provider 'process:python3 mine.py'");
    if (spawn(command, err))
        return err->status;
    if (process.n_heard == 0 && !hear_more() && shell_refused())
        return error_set(err, STATUS_USAGE, "process '%s': there is no such command, or it may not be run", command);
    json_t *hello = hear();
    take_hello(hello, command, unavailable, err);
    json_decref(hello);
    if (!err->status) {
        make_digest(command, digest);
        *provider = &process.provider;
    }
    return err->status;
}

const char *process_versions(void)
{
    return process.versions ? process.versions : "{}";
}

void process_set_device(const char *device)
{
    snprintf(process.device, sizeof process.device, "%s", device);
}

void process_digest(const char *command, char digest[DIGEST_HEX])
{
    make_digest(process_is_named(command) ? command + strlen(PROCESS_PREFIX) : command, digest);
}

bool process_is_unavailable(void)
{
    return process.unavailable;
}

void process_stem(const char *command, char *name, size_t size)
{
    char   words[4096], *rest = NULL;
    bool   found = false;
    size_t used = 0;
    snprintf(words, sizeof words, "%s", process_is_named(command) ? command + strlen(PROCESS_PREFIX) : command);
    bool has_script = strstr(words, ".py") != NULL;
    snprintf(name, size, "process");
    for (char *word = strtok_r(words, " '\"", &rest); word; word = strtok_r(NULL, " '\"", &rest)) {
        char *dot = strstr(word, ".py"), *slash = strrchr(word, '/');
        if (!found && has_script && !dot)
            continue; /* the interpreter */
        if (dot)
            *dot = '\0';
        used += (size_t)snprintf(name + used, size - used, "%s%s", found ? "-" : "", slash ? slash + 1 : word);
        if (used >= size)
            return;
        found = true;
    }
}

void process_stop(void)
{
    int status;
    if (process.orders)
        fclose(process.orders);
    if (process.answers_fd >= 0)
        close(process.answers_fd);
    if (process.pid > 0)
        waitpid(process.pid, &status, 0);
    if (process.room)
        munmap(process.room, process.room_bytes);
    if (process.room_fd >= 0)
        close(process.room_fd);
    free(process.versions);
    free(process.heard);
    memset(&process, 0, sizeof process);
    process.room_fd = process.answers_fd = -1;
}
