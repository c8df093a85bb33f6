/* SPDX-License-Identifier: Apache-2.0 */
/* A provider that is a program of its own; see provider_process.h for the protocol. Used in workers only. */
#include "harness/provider_process.h"

#include "harness/claims.h"
#include "harness/project.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROTOCOL = 1, MAX_LIMITS = 16, ALIGNMENT = 256 };

/* The program of this worker. */
static struct {
    pid_t                pid;
    FILE                *orders, *answers;
    int                  room_fd;
    char                *room; /* mapped */
    size_t               room_bytes;
    char                 device[64];
    char                 name[128], version[64], limit_names[MAX_LIMITS][64];
    char                *versions;
    struct topk_limit    limits[MAX_LIMITS + 1];
    struct topk_provider provider;
} process = {.room_fd = -1};

/* The program is gone: the worker goes the same way, so that the runner sees what happened. */
static _Noreturn void follow_it(void)
{
    int status = 0;
    waitpid(process.pid, &status, 0);
    if (WIFSIGNALED(status)) {
        fprintf(stderr, "the process ended by signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    fprintf(stderr, "the process left with exit code %d\n", WEXITSTATUS(status));
    _exit(WEXITSTATUS(status));
}

static void tell(json_t *order)
{
    json_dumpf(order, process.orders, JSON_COMPACT);
    fputc('\n', process.orders);
    fflush(process.orders);
    json_decref(order);
}

/* The next answer; the caller frees it. Something that is no answer is read as a failure that shows it. */
static json_t *hear(void)
{
    char        *line = NULL;
    size_t       size = 0;
    json_error_t unread;
    if (getline(&line, &size, process.answers) <= 0) {
        free(line);
        follow_it();
    }
    json_t *answer = json_loads(line, 0, &unread);
    if (!json_is_object(answer) || !json_is_string(json_object_get(answer, "say"))) {
        json_decref(answer);
        answer = json_pack("{s:s, s:s++}", "say", "failed", "reason", "it broke the protocol with the line ",
                           json_string(line) ? line : "(not UTF-8)", "");
        if (!answer)
            answer = json_pack("{s:s, s:s}", "say", "failed", "reason", "it broke the protocol");
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
    json_t *answer = hear();
    int     failed = !says(answer, wanted);
    if (failed)
        snprintf(err, err_size, "%s%s", says(answer, "unavailable") ? "unavailable: " : "", reason_of(answer));
    json_decref(answer);
    return failed;
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
        places[i].offset = offset;
        places[i].bytes = (size_t)(places[i].rows * places[i].stride) * 4;
        offset = (offset + places[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    return offset ? offset : ALIGNMENT;
}

static int process_launch(void *self, const struct topk_problem *p, char *err, size_t err_size)
{
    struct place places[5] = {
        {.name = "scores", .from = p->scores, .rows = p->batch, .columns = p->max_seq_len, .stride = p->score_stride},
        {.name = "seq_lens", .from = p->seq_lens, .rows = 1, .columns = p->batch, .stride = p->batch},
        {.name = "page_table",
         .from = p->page_table,
         .rows = p->batch,
         .columns = (p->max_seq_len + p->page_size - 1) / p->page_size,
         .stride = p->page_table_stride},
    };
    size_t n = 3;
    (void)self;
    if (p->page_indices)
        places[n++] = (struct place){.name = "page_indices", .to = p->page_indices, .rows = p->batch, .columns = p->topk, .stride = p->topk};
    if (p->raw_indices)
        places[n++] = (struct place){.name = "raw_indices", .to = p->raw_indices, .rows = p->batch, .columns = p->topk, .stride = p->topk};
    size_t bytes = lay_out(places, n);
    if (grow_room(bytes, err, err_size))
        return 1;
    json_t *order = json_pack("{s:s, s:I, s:i, s:i}", "do", "launch", "bytes", (json_int_t)process.room_bytes, "topk",
                              (int)p->topk, "page_size", (int)p->page_size);
    for (size_t i = 0; i < n; i++) {
        /* Outputs come with the harness's poison in them, so that what is not written is seen. */
        memcpy(process.room + places[i].offset, places[i].from ? places[i].from : places[i].to, places[i].bytes);
        json_object_set_new(order, places[i].name,
                            json_pack("{s:I, s:[I, I], s:I}", "offset", (json_int_t)places[i].offset, "shape",
                                      (json_int_t)places[i].rows, (json_int_t)places[i].columns, "stride",
                                      (json_int_t)places[i].stride));
    }
    tell(order);
    if (expect("done", err, err_size))
        return 1;
    for (size_t i = 0; i < n; i++) {
        if (places[i].to)
            memcpy(places[i].to, process.room + places[i].offset, places[i].bytes);
        else if (memcmp(process.room + places[i].offset, places[i].from, places[i].bytes) != 0) {
            snprintf(err, err_size, "it changed its input %s", places[i].name);
            return 1;
        }
    }
    return 0;
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
    int keep_orders = fcntl(orders, F_DUPFD, 100), keep_answers = fcntl(answers, F_DUPFD, 100);
    for (int fd = 3; fd < 100; fd++)
        close(fd);
    snprintf(text, sizeof text, "%d,%d", keep_orders, keep_answers);
    setenv("TOPKCTS_PROTOCOL_FDS", text, 1);
    snprintf(paths, sizeof paths, "%s/kernels/adapters%s%s", project_folder(), before ? ":" : "", before ? before : "");
    setenv("PYTHONPATH", paths, 1);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
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
    process.answers = fdopen(answers[0], "r");
    return process.orders && process.answers ? STATUS_OK : error_no_memory(err);
}

static enum status read_claims(const json_t *hello, struct error *err)
{
    const char *name;
    json_t     *value;
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

static void read_limits(const json_t *hello)
{
    const char *name;
    json_t     *value;
    size_t      n = 0;
    json_object_foreach(json_object_get(hello, "limits"), name, value)
    {
        if (n == MAX_LIMITS)
            break;
        snprintf(process.limit_names[n], sizeof process.limit_names[n], "%s", name);
        process.limits[n].name = process.limit_names[n];
        process.limits[n++].value = json_integer_value(value);
    }
    process.provider.limits = process.limits;
}

/* Name, versions and the script: what a build of a process is. Words of the command that are files count as script. */
static void make_digest(const char *command, char hex[DIGEST_HEX])
{
    struct digest digest;
    char          words[4096], *rest = NULL;
    digest_begin(&digest);
    digest_add(&digest, process.name, strlen(process.name));
    digest_add(&digest, process.version, strlen(process.version));
    digest_add(&digest, process.versions, strlen(process.versions));
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
                                              .close = process_close};
    read_limits(hello);
    return read_claims(hello, err);
}

enum status process_start(const char *command, const struct topk_provider **provider, char digest[DIGEST_HEX],
                          bool *unavailable, struct error *err)
{
    *unavailable = false;
    if (strncmp(command, PROCESS_PREFIX, strlen(PROCESS_PREFIX)) == 0)
        command += strlen(PROCESS_PREFIX);
    if (spawn(command, err))
        return err->status;
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

void process_stop(void)
{
    int status;
    if (process.orders)
        fclose(process.orders);
    if (process.answers)
        fclose(process.answers);
    if (process.pid > 0)
        waitpid(process.pid, &status, 0);
    if (process.room)
        munmap(process.room, process.room_bytes);
    if (process.room_fd >= 0)
        close(process.room_fd);
    free(process.versions);
    memset(&process, 0, sizeof process);
    process.room_fd = -1;
}
