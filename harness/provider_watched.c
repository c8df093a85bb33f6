/* SPDX-License-Identifier: Apache-2.0 */
/* Watched kernels as providers; see provider_watched.h. Start reading at provider_watched_load(). */
#include "harness/provider_watched.h"

#include "harness/kernel_source.h"
#include "harness/project.h"
#include "harness/simulator_build.h"
#include "kernels/simulator/simulator.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 4 };

/* The kernel's signature; DESIGN section 4. */
typedef void kernel_function(const float *scores, const int32_t *seq_lens, const int32_t *page_table,
                             int32_t *page_indices, int32_t *raw_indices, int64_t score_stride,
                             int64_t page_table_stride, int32_t topk, int32_t page_size, void *workspace);

/* What this process has loaded. */
static struct {
    struct kernel_source        source;   /* text NULL: a built-in */
    const struct topk_provider *plain;    /* of a built-in: what it is when it is not watched */
    const struct topk_provider *watched;  /* of a built-in: the one in the module, once prepared */
    struct topk_provider        provider;
    char                        files[MAX_FILES][PATH_MAX];
    size_t                      n_files;
    kernel_function            *kernel;
    void                       *module;
    int32_t                    *scratch; /* page indices when only raw ones are judged */
    size_t                      scratch_bytes;
} watched;

/* One launch, as every thread finds it. */
struct call {
    kernel_function           *kernel;
    const struct topk_problem *problem;
    int32_t                   *page_indices;
};

static void enter(const void *arguments)
{
    const struct call         *call = arguments;
    const struct topk_problem *p = call->problem;
    call->kernel(p->scores, p->seq_lens, p->page_table, call->page_indices, p->raw_indices, p->score_stride,
                 p->page_table_stride, p->topk, p->page_size, p->workspace);
}

static size_t source_workspace(void *self, const struct topk_problem *problem)
{
    (void)self;
    return (size_t)watched.source.workspace_per_row * (size_t)problem->batch;
}

static int source_supports(void *self, const struct topk_problem *problem, char *why, size_t why_size)
{
    (void)self;
    (void)problem;
    if (watched.source.wave == 0 || watched.source.wave == (uint32_t)simulator_schedule()->wave_size)
        return 1;
    snprintf(why, why_size, "the source is for waves of %u lanes", watched.source.wave);
    return 0;
}

static int source_open(int device, void **self, char *err, size_t err_size)
{
    (void)device;
    (void)err;
    (void)err_size;
    *self = NULL;
    return 0;
}

static void source_close(void *self)
{
    (void)self;
}

static int source_launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    struct call call = {.kernel = watched.kernel, .problem = problem, .page_indices = problem->page_indices};
    size_t      bytes = (size_t)problem->batch * (size_t)problem->topk * sizeof(int32_t);
    (void)self;
    if (!call.page_indices) {
        if (bytes > watched.scratch_bytes) {
            simulator_remove_buffer(watched.scratch);
            free(watched.scratch);
            watched.scratch = malloc(bytes);
            watched.scratch_bytes = watched.scratch ? bytes : 0;
        }
        if (!watched.scratch) {
            snprintf(err, err_size, "no memory for %zu bytes of page indices", bytes);
            return 1;
        }
        call.page_indices = watched.scratch;
        simulator_add_buffer("page_indices", watched.scratch, bytes, SIMULATOR_OUTPUT);
    } else if (watched.scratch)
        simulator_remove_buffer(watched.scratch);
    struct simulator_launch launch = {
        .kernel_name = KERNEL_SOURCE_SYMBOL,
        .entry = enter,
        .arguments = &call,
        .grid = (uint32_t)problem->batch,
        .block = watched.source.block,
        .dynamic_lds = watched.source.dynamic_lds,
    };
    memcpy(&launch.module_address, &watched.kernel, sizeof launch.module_address);
    return simulator_run(&launch, err, err_size);
}

/* A built-in that is watched answers for itself before it is compiled, and hands on to its module then. */
static int builtin_open(int device, void **self, char *err, size_t err_size)
{
    return watched.watched->open(device, self, err, err_size);
}

static int builtin_launch(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    return watched.watched->launch(self, problem, err, err_size);
}

static int builtin_supports(void *self, const struct topk_problem *problem, char *why, size_t why_size)
{
    return watched.watched->supports(self, problem, why, why_size);
}

static size_t builtin_workspace(void *self, const struct topk_problem *problem)
{
    return watched.watched->workspace_bytes(self, problem);
}

static const char *builtin_path(void *self)
{
    return watched.watched->path(self);
}

static void builtin_close(void *self)
{
    watched.watched->close(self);
}

static void add_file(const char *path)
{
    snprintf(watched.files[watched.n_files++], PATH_MAX, "%s", path);
}

static void add_project_file(const char *path)
{
    char full[PATH_MAX + 256];
    snprintf(full, sizeof full, "%s/%s", project_folder(), path);
    add_file(full);
}

static void fill_source(void)
{
    watched.provider = (struct topk_provider){
        .abi = TOPK_PROVIDER_ABI,
        .name = watched.source.name,
        .version = "source",
        .memory = TOPK_MEMORY_HOST,
        .claims = watched.source.claims,
        .open = source_open,
        .supports = source_supports,
        .workspace_bytes = source_workspace,
        .launch = source_launch,
        .close = source_close,
    };
}

enum status provider_watched_load(const struct provider_name *name, struct loaded_provider *loaded, struct error *err)
{
    memset(&watched, 0, sizeof watched);
    const char *path = name->text;
    char        planted[PATH_MAX + 256];
    bool        is_planted = name->kind == PROVIDER_BUILTIN && name->builtin->place == BUILTIN_SOURCE;
    if (is_planted) {
        snprintf(planted, sizeof planted, "%s/%s", project_folder(), name->builtin->file);
        path = planted;
    }
    if (name->kind == PROVIDER_SOURCE || is_planted) {
        if (kernel_source_read(path, &watched.source, err))
            return err->status;
        if (watched.source.is_cuda && watched.source.wave == 0)
            watched.source.wave = 32;
        fill_source();
        if (is_planted)
            watched.provider.name = name->builtin->provider->name;
        add_file(path);
        loaded->origin = is_planted ? "sim" : "source";
        memcpy(loaded->digest, watched.source.digest, sizeof loaded->digest);
    } else {
        watched.plain = name->builtin->provider;
        watched.provider = *watched.plain;
        watched.provider.open = builtin_open;
        watched.provider.launch = builtin_launch;
        watched.provider.close = builtin_close;
        watched.provider.supports = watched.plain->supports ? builtin_supports : NULL;
        watched.provider.workspace_bytes = watched.plain->workspace_bytes ? builtin_workspace : NULL;
        watched.provider.path = watched.plain->path ? builtin_path : NULL;
        add_project_file("kernels/topk_v1_simulator.cpp");
        loaded->origin = "sim";
    }
    loaded->provider = &watched.provider;
    loaded->is_watched = true;
    loaded->wave_size = (int32_t)watched.source.wave;
    return STATUS_OK;
}

/* The symbol as a function; false with the loader's words. */
static bool find_function(const char *symbol, void *function, struct error *err)
{
    void *address = dlsym(watched.module, symbol);
    if (address)
        memcpy(function, &address, sizeof address);
    else
        error_set(err, STATUS_FAIL, "the source defines no kernel named %s with C linkage: extern \"C\" __global__ void %s(const float *scores, "
                  "const int32_t *seq_lens, const int32_t *page_table, int32_t *page_indices, int32_t *raw_indices, "
                  "int64_t score_stride, int64_t page_table_stride, int32_t topk, int32_t page_size, void *workspace); "
                  "kernels/plugin/kernel.hip is one to copy", symbol, symbol);
    return address != NULL;
}

enum status provider_watched_prepare(struct error *err)
{
    const char             *files[MAX_FILES];
    char                    object[PATH_MAX], text[SIMULATOR_BUILD_TEXT];
    struct simulator_source source = {.files = files, .n_files = watched.n_files, .project = project_folder()};
    for (size_t i = 0; i < watched.n_files; i++)
        files[i] = watched.files[i];
    enum simulator_build_result result = simulator_build(&source, object, text);
    if (result != SIMULATOR_BUILT)
        return error_set(err, result == SIMULATOR_REJECTED ? STATUS_FAIL : STATUS_BOOKS, "%s", text);
    /* Left loaded until the process ends: the simulator remembers where its objects lie. */
    watched.module = dlopen(object, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!watched.module)
        return error_set(err, STATUS_FAIL, "the source uses what the simulator does not have: %s", dlerror());
    if (!watched.plain) {
        find_function(KERNEL_SOURCE_SYMBOL, &watched.kernel, err);
        return err->status;
    }
    const struct topk_provider *(*entry)(void);
    if (find_function("topk_provider_entry", &entry, err))
        watched.watched = entry();
    return err->status;
}

void provider_watched_unload(void)
{
    kernel_source_clear(&watched.source);
    free(watched.scratch);
    memset(&watched, 0, sizeof watched);
}
