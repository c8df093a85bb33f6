/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `topkcts bench`: the grid, the process that measures (bench_measure.c), the books, the table. Nothing foreign is
 * called here: that process may die of what it measures.
 */
#include "harness/bench.h"

#include "harness/command.h"
#include "harness/interrupts.h"
#include "harness/project.h"
#include "harness/provenance.h"
#include "harness/provider_load.h"
#include "harness/store.h"
#include "harness/version.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPEN_SECONDS = 300, MEASUREMENT_SECONDS = 60, CLOSE_SECONDS = 10, LINE_BYTES = 1 << 16 };

/* A provider as the measuring process has loaded it. */
struct loaded_name {
    char name[128], version[64], digest[DIGEST_HEX], origin[16], claims[256];
};

/* Everything of one bench. */
struct bench_books {
    const struct settings *settings;
    struct bench_grid      grid;
    size_t                 n_cells;
    const char            *device_name;
    struct store_device    device;
    struct loaded_name     loaded[BENCH_MAX_PROVIDERS + 1];
    struct bench_answers   answers;
    struct store          *store;
    const char            *database;
    char                   run[32];
    int64_t               *row_ids; /* as results */
    /* the process that measures */
    pid_t  pid;
    int    fd;
    char  *line;
    size_t used;
    bool   is_ready, is_done;
    int    at_cell, at_provider; /* in flight */
    size_t left_out_from;        /* cells that --seconds left out; n_cells: none */
};

/* ---- where ----------------------------------------------------------------------------------------------------- */

static enum status choose_device(struct bench_books *books, struct error *err)
{
    const struct settings *settings = books->settings;
    struct provider_name   name;
    if (settings->providers.n > BENCH_MAX_PROVIDERS)
        return error_set(err, STATUS_USAGE, "bench: at most %d providers at a time", BENCH_MAX_PROVIDERS);
    if (settings->devices.n > 1)
        return error_set(err, STATUS_USAGE, "bench: one --device at a time");
    for (size_t i = 0; i < settings->providers.n; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(settings->providers.items[i], settings->providers.items[j]) == 0)
                return error_set(err, STATUS_USAGE, "bench: --provider %s is given twice", settings->providers.items[i]);
    if (provider_find(settings->providers.items[0], &name, err))
        return err->status;
    if (settings->devices.n)
        books->device_name = settings->devices.items[0];
    else if (name.kind == PROVIDER_PLUGIN)
        return error_set(err, STATUS_USAGE, "bench: where does %s run? --device cuda:0, hip:0 or host", name.text);
    else
        books->device_name = provider_default_device(&name, TOPK_MEMORY_HOST);
    const struct device_backend *backend;
    int                          ordinal;
    if (device_parse(books->device_name, &backend, &ordinal, err) ||
        device_describe(books->device_name, &books->device, err))
        return err->status;
    if (strcmp(backend->name, "sim") == 0)
        return error_set(err, STATUS_USAGE, "bench: the simulator's time says nothing of a GPU's; --device cuda:0, hip:0, or "
                         "host for what runs there");
    books->answers.is_wall_time = strcmp(backend->name, "host") == 0;
    return STATUS_OK;
}

/* ---- the process that measures --------------------------------------------------------------------------------- */

static enum status start(struct bench_books *books, struct error *err)
{
    int fds[2];
    fflush(NULL);
    if (pipe2(fds, O_CLOEXEC))
        return error_set(err, STATUS_BOOKS, "no line to a process that measures: %s", strerror(errno));
    pid_t parent = getpid();
    books->pid = fork();
    if (books->pid == 0) {
        signal(SIGINT, SIG_IGN); /* the parent ends it, and the books */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(STATUS_BOOKS);
        dup2(STDERR_FILENO, STDOUT_FILENO); /* what providers print is no answer */
        int   high = fcntl(fds[1], F_DUPFD_CLOEXEC, 500);
        FILE *to = fdopen(high < 0 ? fds[1] : high, "w");
        if (to)
            bench_measure(books->settings, &books->grid, books->device_name, to);
        fflush(NULL);
        _exit(to ? 0 : STATUS_BOOKS);
    }
    close(fds[1]);
    books->fd = fds[0];
    if (books->pid < 0)
        return error_set(err, STATUS_BOOKS, "no process that measures: %s", strerror(errno));
    return STATUS_OK;
}

/* Ends it, if it still runs; says how it ended. */
static void stop(struct bench_books *books, bool kill_it, char *cause, size_t cause_size)
{
    int   status = 0;
    pid_t ended = 0;
    cause[0] = '\0';
    if (books->pid <= 0)
        return;
    for (int i = 0; !kill_it && i < CLOSE_SECONDS * 20 && (ended = waitpid(books->pid, &status, WNOHANG)) == 0; i++)
        usleep(50000);
    if (ended == 0) {
        kill(books->pid, SIGKILL);
        for (int i = 0; i < 40 && (ended = waitpid(books->pid, &status, WNOHANG)) == 0; i++)
            usleep(50000); /* a process in the driver's hands may be beyond any signal: it is left alone */
    }
    if (ended > 0 && WIFSIGNALED(status))
        snprintf(cause, cause_size, "signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (ended > 0)
        snprintf(cause, cause_size, "left by itself with exit code %d", WEXITSTATUS(status));
    books->pid = 0;
}

/* How long the process may say nothing. */
static int patience_seconds(const struct bench_books *books)
{
    if (!books->is_ready)
        return OPEN_SECONDS;
    return books->settings->timeout ? (int)books->settings->timeout : MEASUREMENT_SECONDS;
}

/* The next line; NULL when the process is gone, or silent for too long (*in_time false). */
static char *next_line(struct bench_books *books, bool *in_time)
{
    int seconds = patience_seconds(books);
    *in_time = true;
    for (;;) {
        char *end = memchr(books->line, '\n', books->used);
        if (end) {
            size_t length = (size_t)(end - books->line);
            char  *line = strndup(books->line, length);
            books->used -= length + 1;
            memmove(books->line, end + 1, books->used);
            return line;
        }
        if (books->used == LINE_BYTES)
            return NULL;
        struct pollfd wait = {.fd = books->fd, .events = POLLIN};
        int           ready = poll(&wait, 1, seconds * 1000);
        if (interrupts_so_far())
            return NULL;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready == 0) {
            *in_time = false;
            return NULL;
        }
        ssize_t n = read(books->fd, books->line + books->used, LINE_BYTES - books->used);
        if (n <= 0)
            return NULL;
        books->used += (size_t)n;
    }
}

/* ---- books ----------------------------------------------------------------------------------------------------- */

static const char *text_or_null(const char *text)
{
    return text[0] ? text : NULL;
}

static void fill_planned(const struct bench_books *books, struct store_planned *planned, char (*names)[160],
                         char (*families)[32], char (*hashes)[DIGEST_HEX])
{
    size_t n = books->answers.n_providers + 1;
    for (size_t cell = 0; cell < books->n_cells; cell++) {
        struct bench_cell at = bench_grid_cell(&books->grid, cell);
        snprintf(families[cell], sizeof families[cell], "bench-%s", at.pattern->name);
        snprintf(names[cell], sizeof names[cell], "%s/topk=%d,length=%d,page_size=%d,batch=%d,outputs=page+raw",
                 families[cell], at.topk, at.length, BENCH_PAGE_SIZE, at.batch);
        bench_inputs_hash(&at, hashes[cell]);
        for (size_t p = 0; p < n; p++)
            planned[cell * n + p] = (struct store_planned){
                .device = 0, .provider = p, .case_name = names[cell], .family = families[cell], .topk = at.topk,
                .length = at.length, .page_size = BENCH_PAGE_SIZE, .batch = at.batch, .outputs = "page+raw",
                .input_hash = hashes[cell], .promised = p + 1 < n ? TOPK_LEVEL_VALID : TOPK_LEVEL_NONE, .in_budget = true};
    }
}

static enum status begin_run(struct bench_books *books, const struct store_planned *planned, struct error *err)
{
    struct provenance_source source = {.dirty = -1};
    struct store_provider    providers[BENCH_MAX_PROVIDERS + 1];
    char                     host[256], started_at[32];
    char                    *environment = provenance_environment(), *argv = project_arguments_json();
    size_t                   n = books->answers.n_providers + 1;
    provenance_host(host);
    store_now(started_at);
    store_new_run_name(books->run);
    for (size_t p = 0; p < n; p++) {
        const struct loaded_name *l = &books->loaded[p];
        bool is_file = strcmp(l->origin, "plugin") == 0 || strcmp(l->origin, "source") == 0;
        providers[p] = (struct store_provider){.name = l->name, .version = l->version, .digest = l->digest,
                                               .origin = l->origin, .claims = l->claims,
                                               .file = is_file && p + 1 < n ? books->settings->providers.items[p] : NULL};
    }
    if (!environment || !argv)
        error_no_memory(err);
    else if (!provenance_source(project_folder(), &source, err)) {
        struct store_run run = {.run = books->run, .started_at = started_at, .label = books->settings->label,
                                .suite = "bench", .host = host, .argv = argv, .harness_version = TOPKCTS_VERSION,
                                .source_commit = text_or_null(source.commit), .source_tree = text_or_null(source.tree),
                                .dirty = source.dirty, .patch_id = text_or_null(source.patch_id),
                                .environment = environment};
        store_begin_run(books->store, &run, &books->device, 1, providers, n, planned, books->n_cells * n, books->row_ids,
                        err);
    }
    free(environment);
    free(argv);
    return err->status;
}

/* Once the providers are known: every cell of every provider as a planned row. */
static enum status open_books(struct bench_books *books, struct error *err)
{
    size_t n_rows = books->n_cells * (books->answers.n_providers + 1);
    struct store_planned *planned = calloc(n_rows, sizeof *planned);
    char (*names)[160] = calloc(books->n_cells, sizeof *names);
    char (*families)[32] = calloc(books->n_cells, sizeof *families);
    char (*hashes)[DIGEST_HEX] = calloc(books->n_cells, sizeof *hashes);
    books->row_ids = calloc(n_rows, sizeof *books->row_ids);
    if (!planned || !names || !families || !hashes || !books->row_ids)
        error_no_memory(err);
    else {
        fill_planned(books, planned, names, families, hashes);
        begin_run(books, planned, err);
    }
    free(planned);
    free(names);
    free(families);
    free(hashes);
    return err->status;
}

static enum status store_answer(struct bench_books *books, size_t cell, size_t provider, struct error *err)
{
    const struct bench_result *result = bench_answer(&books->answers, cell, provider);
    int64_t                   *row = &books->row_ids[cell * (books->answers.n_providers + 1) + provider];
    double                     cold = bench_median(result, BENCH_COLD);
    char                       names[BENCH_N_HEATS][32];
    struct store_samples       samples[BENCH_N_HEATS];
    struct store_result        stored = {
               .verdict = result->verdict,
               .has_level = result->verdict == VERDICT_PASS || result->verdict == VERDICT_FAIL,
               .level = result->verdict == VERDICT_PASS ? TOPK_LEVEL_VALID : TOPK_LEVEL_NONE,
               .set_exact = -1,
               .reason = text_or_null(result->reason),
               .path = text_or_null(result->path),
               .attempt = 1,
               .wall_ms = -1,
               .kernel_us_p50 = books->answers.is_wall_time ? -1 : cold >= 0 ? cold : bench_median(result, BENCH_WARM),
               .samples = samples,
               .n_samples = BENCH_N_HEATS,
    };
    for (int heat = 0; heat < BENCH_N_HEATS; heat++) {
        snprintf(names[heat], sizeof names[heat], "bench-%s%s", books->answers.is_wall_time ? "wall-" : "",
                 bench_heat_names[heat]);
        samples[heat] = (struct store_samples){names[heat], result->samples[heat], (size_t)result->n_samples[heat]};
    }
    return store_record(books->store, row, &stored, err);
}

/* ---- what comes ------------------------------------------------------------------------------------------------ */

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static void take_provider(struct bench_books *books, const json_t *object)
{
    size_t              p = (size_t)json_integer_value(json_object_get(object, "number"));
    struct loaded_name *l = &books->loaded[p < BENCH_MAX_PROVIDERS ? p : 0];
    snprintf(l->name, sizeof l->name, "%s", text_of(object, "name"));
    snprintf(l->version, sizeof l->version, "%s", text_of(object, "version"));
    snprintf(l->digest, sizeof l->digest, "%s", text_of(object, "digest"));
    snprintf(l->origin, sizeof l->origin, "%s", text_of(object, "origin"));
    snprintf(l->claims, sizeof l->claims, "%s", text_of(object, "claims"));
}

/* Two builds of one provider are told apart by their files. */
static void name_providers(struct bench_books *books)
{
    size_t              n = books->answers.n_providers;
    struct loaded_name *read = &books->loaded[n];
    *read = (struct loaded_name){.name = "one-read", .version = TOPKCTS_VERSION, .claims = "level=none"};
    snprintf(read->origin, sizeof read->origin, "%s", books->answers.is_wall_time ? "scalar" : "jit");
    snprintf(read->digest, sizeof read->digest, "%032d", 0);
    for (size_t p = 0; p <= n; p++) {
        bool twice = false;
        for (size_t q = 0; q < n; q++)
            twice |= p < n && q != p && strcmp(books->loaded[p].name, books->loaded[q].name) == 0;
        snprintf(books->answers.names[p], sizeof books->answers.names[p], "%s %s", books->loaded[p].name,
                 twice ? books->settings->providers.items[p] : books->loaded[p].version);
    }
}

static enum status take_cell(struct bench_books *books, const json_t *object, struct error *err)
{
    size_t cell = (size_t)json_integer_value(json_object_get(object, "cell"));
    size_t p = (size_t)json_integer_value(json_object_get(object, "provider"));
    if (cell >= books->n_cells || p > books->answers.n_providers)
        return error_set(err, STATUS_BOOKS, "the process that measures told of a cell that is not planned");
    struct bench_result *result = bench_answer(&books->answers, cell, p);
    result->verdict = verdict_from_text(text_of(object, "verdict"));
    if (result->verdict == VERDICT_COUNT)
        result->verdict = VERDICT_ERROR;
    snprintf(result->reason, sizeof result->reason, "%s", text_of(object, "reason"));
    snprintf(result->path, sizeof result->path, "%s", text_of(object, "path"));
    for (int heat = 0; heat < BENCH_N_HEATS; heat++) {
        const json_t *samples = json_object_get(object, bench_heat_names[heat]);
        for (size_t i = 0; i < json_array_size(samples) && i < BENCH_MAX_SAMPLES; i++)
            result->samples[heat][result->n_samples[heat]++] = json_number_value(json_array_get(samples, i));
    }
    if (store_answer(books, cell, p, err))
        return err->status;
    if (p == books->answers.n_providers && !books->settings->json)
        bench_table_cell(&books->answers, cell, stdout);
    return STATUS_OK;
}

static enum status begin(struct bench_books *books, struct error *err)
{
    name_providers(books);
    books->is_ready = true;
    if (open_books(books, err))
        return err->status;
    fprintf(books->settings->json ? stderr : stdout, "%s (%s, %s); %zu cells\n", books->device_name, books->device.name,
            books->device.arch, books->n_cells);
    if (!books->settings->json)
        bench_table_heading(&books->answers, stdout);
    return STATUS_OK;
}

/* One line of the process that measures. */
static enum status take(struct bench_books *books, const char *line, struct error *err)
{
    json_t     *object = json_loads(line, 0, NULL);
    const char *kind = text_of(object, "kind");
    if (strcmp(kind, "refused") == 0) {
        int status = (int)json_integer_value(json_object_get(object, "status"));
        error_set(err, status >= STATUS_FAIL && status <= STATUS_BOOKS ? (enum status)status : STATUS_BOOKS, "%s",
                  text_of(object, "text"));
    } else if (strcmp(kind, "provider") == 0)
        take_provider(books, object);
    else if (strcmp(kind, "ready") == 0)
        begin(books, err);
    else if (strcmp(kind, "done") == 0)
        books->is_done = true;
    else if (strcmp(kind, "at") == 0) {
        books->at_cell = (int)json_integer_value(json_object_get(object, "cell"));
        books->at_provider = (int)json_integer_value(json_object_get(object, "provider"));
    } else if (strcmp(kind, "cell") == 0)
        take_cell(books, object, err);
    else if (strcmp(kind, "out_of_time") == 0)
        books->left_out_from = (size_t)json_integer_value(json_object_get(object, "cell"));
    json_decref(object);
    return err->status;
}

/* The process ended, hung or was interrupted in the middle of a cell. */
static enum status note_end(struct bench_books *books, bool in_time, const char *cause, struct error *err)
{
    size_t n = books->answers.n_providers;
    if (!books->is_ready && in_time)
        return error_set(err, STATUS_BOOKS, "the process that measures ended before anything was measured: %s", cause);
    if (!books->is_ready)
        return error_set(err, STATUS_BOOKS, "the process that measures was not ready after %d s, and said nothing",
                         patience_seconds(books));
    if (interrupts_so_far() || books->at_cell < 0)
        return STATUS_OK;
    size_t               p = books->at_provider < 0 ? n : (size_t)books->at_provider;
    struct bench_result *result = bench_answer(&books->answers, (size_t)books->at_cell, p <= n ? p : n);
    result->verdict = p == n ? VERDICT_ERROR : in_time ? VERDICT_CRASH : VERDICT_TIMEOUT;
    if (in_time)
        snprintf(result->reason, sizeof result->reason, "it took the process that measures down: %s", cause);
    else
        snprintf(result->reason, sizeof result->reason, "no end of a measurement after %d s (--timeout)",
                 patience_seconds(books));
    struct bench_cell at = bench_grid_cell(&books->grid, (size_t)books->at_cell);
    fprintf(stderr, "bench: %s at %s, %d x %d, topk %d: %s\n", books->answers.names[p <= n ? p : n], at.pattern->name,
            at.batch, at.length, at.topk, result->reason);
    return store_answer(books, (size_t)books->at_cell, p <= n ? p : n, err);
}

/* ---- the end --------------------------------------------------------------------------------------------------- */

static enum status exit_status(const struct bench_books *books)
{
    size_t n_measured = 0, n_red = 0, n_missing = 0;
    for (size_t cell = 0; cell < books->n_cells; cell++)
        for (size_t p = 0; p < books->answers.n_providers; p++) {
            const struct bench_result *result = bench_answer(&books->answers, cell, p);
            n_measured += result->n_samples[BENCH_COLD] + result->n_samples[BENCH_WARM] > 0;
            n_red += result->verdict != VERDICT_NOTRUN && verdict_is_red(result->verdict);
            n_missing += result->verdict == VERDICT_NOTRUN && cell < books->left_out_from;
        }
    return n_red || (n_measured && n_missing) ? STATUS_FAIL : n_measured ? STATUS_OK : STATUS_BOOKS;
}

/* The first few answers that are wrong, and launches that failed. */
static void print_reasons(const struct bench_books *books, FILE *file)
{
    size_t n = books->answers.n_providers, told = 0;
    for (size_t p = 0; p <= n; p++) {
        size_t bad = 0, first = 0;
        for (size_t cell = 0; cell < books->left_out_from; cell++) {
            enum verdict verdict = bench_answer(&books->answers, cell, p)->verdict;
            if (verdict == VERDICT_PASS || verdict == VERDICT_NOTRUN || (p == n && verdict == VERDICT_SKIP))
                continue;
            if (bad++ == 0)
                first = cell;
        }
        if (!bad)
            continue;
        struct bench_cell          at = bench_grid_cell(&books->grid, first);
        const struct bench_result *result = bench_answer(&books->answers, first, p);
        fprintf(file, "%s%s: %zu of %zu cells without a right answer; first %s, %d x %d, topk %d: %s: %s\n", told++ ? "" : "\n",
                books->answers.names[p], bad, books->n_cells, at.pattern->name, at.batch, at.length, at.topk,
                verdict_text(result->verdict), result->reason);
    }
}

static enum status close_books(struct bench_books *books, enum status *exit_code, struct error *err)
{
    struct bench_result left_out = {.verdict = VERDICT_SKIP};
    snprintf(left_out.reason, sizeof left_out.reason, "left out by --seconds");
    *exit_code = exit_status(books);
    for (size_t cell = books->left_out_from; cell < books->n_cells; cell++)
        for (size_t p = 0; p <= books->answers.n_providers; p++) {
            *bench_answer(&books->answers, cell, p) = left_out;
            if (store_answer(books, cell, p, err))
                return err->status;
        }
    if (store_end_run(books->store, books->run, (int)*exit_code, err))
        return err->status;
    FILE *file = books->settings->json ? stderr : stdout;
    bench_table_summary(&books->answers, file);
    print_reasons(books, file);
    if (books->left_out_from < books->n_cells)
        fprintf(file, "%zu of %zu cells left out by --seconds\n", books->n_cells - books->left_out_from, books->n_cells);
    fprintf(file, "run %s in %s\n", books->run, books->database);
    if (books->settings->json) {
        json_t *list = bench_table_json(&books->answers);
        json_dumpf(list, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(list);
    }
    return STATUS_OK;
}

/* Listens until the process has said all, is gone or is silent. */
static enum status listen(struct bench_books *books, struct error *err)
{
    char  cause[128];
    bool  in_time = true;
    char *line;
    while (!err->status && (line = next_line(books, &in_time))) {
        take(books, line, err);
        free(line);
    }
    bool is_device_fault = err->status == STATUS_FAIL && books->is_ready;
    stop(books, !in_time || interrupts_so_far(), cause, sizeof cause);
    if (is_device_fault) {
        fprintf(stderr, "bench: %s\n", err->text);
        *err = (struct error){0};
    } else if (!err->status && !books->is_done)
        note_end(books, in_time, cause, err);
    return err->status;
}

static enum status bench_providers(const struct settings *settings, struct error *err)
{
    struct bench_books *books = calloc(1, sizeof *books);
    enum status         exit_code = STATUS_BOOKS;
    if (!books)
        return error_no_memory(err);
    *books = (struct bench_books){.settings = settings, .fd = -1, .at_cell = -1,
                                  .database = settings->database ? settings->database : "topkcts.db"};
    signal(SIGPIPE, SIG_IGN);
    if (bench_grid_read(settings, &books->grid, err) || choose_device(books, err))
        goto done;
    books->n_cells = books->left_out_from = bench_grid_cells(&books->grid);
    books->answers.grid = &books->grid;
    books->answers.n_providers = settings->providers.n;
    books->answers.results = calloc(books->n_cells * (settings->providers.n + 1), sizeof *books->answers.results);
    books->line = malloc(LINE_BYTES);
    if (!books->answers.results || !books->line) {
        error_no_memory(err);
        goto done;
    }
    for (size_t i = 0; i < books->n_cells * (settings->providers.n + 1); i++)
        books->answers.results[i].verdict = VERDICT_NOTRUN;
    if (store_open(&books->store, books->database, STORE_WRITE, err) || start(books, err))
        goto done;
    interrupts_catch();
    if (!listen(books, err) && books->is_ready)
        close_books(books, &exit_code, err);
    interrupts_release();
done:
    if (books->fd >= 0)
        close(books->fd);
    store_close(books->store);
    free(books->answers.results);
    free(books->row_ids);
    free(books->line);
    free(books);
    return err->status ? err->status : exit_code;
}

enum status command_bench(const struct settings *settings, struct error *err)
{
    if (settings->providers.n)
        return bench_providers(settings, err);
    if (settings->devices.n || settings->batches || settings->lengths || settings->topks || settings->patterns ||
        settings->warm || settings->cold || settings->seconds || settings->database || settings->origin ||
        settings->timeout || settings->label)
        return error_set(err, STATUS_USAGE, "bench: these options are for times of a --provider, and none is given");
    return bench_parts(settings, err);
}
