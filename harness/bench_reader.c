/* SPDX-License-Identifier: Apache-2.0 */
/* The yardstick of a bench: one read of the scores; see bench.h and kernels/read_once.hip. */
#include "harness/bench.h"

#include "harness/gpu_load.h"
#include "harness/jit.h"
#include "kernels/read_once.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Scores that a block reads before there is another one; and no more blocks than this. */
enum { THREADS = 512, SCORES_OF_A_BLOCK = 8192, MAX_BLOCKS = 2048 };

static struct jit_source source_for(const char *backend, const char *arch)
{
    return (struct jit_source){.backend = backend, .arch = arch, .name = "read_once.hip", .text = read_once_kernel_text};
}

static enum status compile(const char *backend, int ordinal, struct jit_code *code, struct error *err)
{
    struct gpu_description   device;
    const struct gpu_driver *driver = gpu_load_driver(backend, err);
    if (!driver || driver->describe(ordinal, &device, err))
        return err->status;
    struct jit_source source = source_for(backend, device.arch);
    return jit_compile(&source, NULL, code, err);
}

void bench_reader_prepare(struct bench_reader *reader, const char *device_name)
{
    const struct device_backend *backend;
    int                          ordinal, ended = 0;
    struct error                 err = {0};
    memset(reader, 0, sizeof *reader);
    reader->usable = true;
    if (!device_is_gpu(device_name) || device_parse(device_name, &backend, &ordinal, &err))
        return;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        struct jit_code code = {0};
        if (compile(backend->name, ordinal, &code, &err))
            fprintf(stderr, "bench: the yardstick: %s\n", err.text);
        _exit((int)err.status);
    }
    while (pid > 0 && waitpid(pid, &ended, 0) < 0 && errno == EINTR)
        ;
    reader->usable = pid > 0 && ended == 0;
    if (WIFSIGNALED(ended))
        snprintf(reader->why_not, sizeof reader->why_not, "the run-time compiler ended its process with signal %d (%s)",
                 WTERMSIG(ended), strsignal(WTERMSIG(ended)));
    else
        snprintf(reader->why_not, sizeof reader->why_not, "its kernel could not be compiled at run time");
}

static void open_on_gpu(struct bench_reader *reader, struct device *device, struct error *err)
{
    struct jit_code          code = {0};
    const struct gpu_driver *driver = gpu_load_driver(device->backend->name, err);
    struct gpu_description   description;
    if (!driver || driver->describe(device->ordinal, &description, err))
        return;
    struct jit_source source = source_for(device->backend->name, description.arch);
    if (jit_compile(&source, NULL, &code, err))
        return;
    snprintf(reader->digest, sizeof reader->digest, "%s", code.digest);
    reader->driver = driver;
    reader->module = driver->module_load(code.bytes, err);
    if (reader->module)
        reader->function = driver->function(reader->module, READ_ONCE_SYMBOL, err);
    if (reader->function)
        reader->sink = driver->alloc(sizeof *reader->sink, err);
    jit_code_clear(&code);
}

void bench_reader_open(struct bench_reader *reader, struct device *device)
{
    struct error err = {0};
    snprintf(reader->digest, sizeof reader->digest, "%032d", 0);
    if (!reader->usable || !device_is_gpu(device->name))
        return;
    open_on_gpu(reader, device, &err);
    reader->usable = !err.status;
    snprintf(reader->why_not, sizeof reader->why_not, "%.500s", err.text);
}

/* What a compiler may not drop. */
static volatile float host_sink;

enum status bench_reader_launch(struct bench_reader *reader, const float *scores, int64_t n, void *stream,
                                struct error *err)
{
    const struct gpu_driver *driver = reader->driver;
    if (!driver) {
        float sums[16] = {0}; /* independent, so that the loop is bound by memory */
        for (int64_t i = 0; i + 16 <= n; i += 16)
            for (int j = 0; j < 16; j++)
                sums[j] += scores[i + j];
        for (int j = 1; j < 16; j++)
            sums[0] += sums[j];
        host_sink = sums[0];
        return STATUS_OK;
    }
    int64_t blocks = (n + SCORES_OF_A_BLOCK - 1) / SCORES_OF_A_BLOCK;
    void   *arguments[] = {&scores, &n, &reader->sink};
    return driver->launch(&(struct gpu_launch){.function = reader->function,
                                               .grid = (uint32_t)(blocks > MAX_BLOCKS ? MAX_BLOCKS : blocks),
                                               .block = THREADS,
                                               .stream = stream,
                                               .arguments = arguments},
                          err);
}

void bench_reader_close(struct bench_reader *reader)
{
    const struct gpu_driver *driver = reader->driver;
    if (driver && reader->sink)
        driver->free(reader->sink);
    if (driver && reader->module)
        driver->module_unload(reader->module);
    memset(reader, 0, sizeof *reader);
}
