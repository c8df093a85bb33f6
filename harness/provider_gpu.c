/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels on a GPU as providers; see provider_gpu.h. Start reading at provider_gpu_load(). */
#include "harness/provider_gpu.h"

#include "harness/code_object.h"
#include "harness/gpu_load.h"
#include "harness/jit.h"
#include "harness/kernel_source.h"
#include "kernels/topk_v1.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Dynamic LDS that portable kernels may use; beyond it a launch works on one vendor's devices only. */
enum { DYNAMIC_LDS_BUDGET = 48 * 1024, MAX_FUNCTIONS = CODE_OBJECT_MAX_KERNELS, MAX_ARGUMENTS = 12 };

/* Where a kernel set's code comes from. PTX: the driver compiles it, where there is no compiler. */
enum code_origin { CODE_AOT, CODE_JIT, CODE_PTX };

struct loaded_function {
    const char               *symbol;
    void                     *function;
    struct gpu_function_needs needs;
};

/* Kernels of one origin, loaded into the device once opened. */
struct kernel_set {
    enum code_origin          origin;
    const struct code_object *object;  /* AOT, PTX */
    void                     *image;   /* its bytes */
    struct jit_code           code;    /* JIT */
    void                     *module;
    struct loaded_function    functions[MAX_FUNCTIONS];
    size_t                    n_functions;
    const char               *last_path;
};

/* What this process has loaded. */
static struct {
    const struct gpu_driver *driver;
    struct gpu_description   device;
    struct code_object_list  objects;
    struct kernel_source     source; /* of a .cu or .hip; text NULL for v1 */
    struct kernel_set        sets[2]; /* as asked for; the other origin */
    char                     folder[PATH_MAX];
    struct topk_provider     provider;
} gpu;

static bool is_v1(void)
{
    return gpu.source.text == NULL;
}

static struct jit_source jit_source(void)
{
    return (struct jit_source){
        .backend = gpu.driver->backend,
        .arch = gpu.device.arch,
        .name = is_v1() ? topk_v1_texts[0].name : gpu.source.name,
        .text = is_v1() ? topk_v1_texts[0].text : gpu.source.text,
        .folder = is_v1() ? NULL : gpu.folder,
        .is_v1 = is_v1(),
    };
}

/* ---- launching ------------------------------------------------------------------------------------------------ */

/* LDS and threads against what the device has: a refusal that explains itself instead of the driver's one word. */
static int check_fit(const struct loaded_function *f, uint32_t block, uint32_t dynamic_lds, char *err, size_t err_size)
{
    int64_t total = f->needs.static_lds + dynamic_lds;
    if (strcmp(gpu.driver->backend, "hip") == 0 && dynamic_lds > DYNAMIC_LDS_BUDGET) {
        snprintf(err, err_size, "%s asks for %u bytes of dynamic LDS; at most %d are allowed", f->symbol, dynamic_lds,
                 DYNAMIC_LDS_BUDGET);
        return 1;
    }
    if (total > gpu.device.lds_bytes) {
        snprintf(err, err_size,
                 "%s needs %" PRId64 " bytes of LDS (%" PRId64 " static + %u dynamic); a block on %s has %" PRId64, f->symbol,
                 total, f->needs.static_lds, dynamic_lds, gpu.device.arch, gpu.device.lds_bytes);
        return 1;
    }
    if (f->needs.max_threads > 0 && block > (uint32_t)f->needs.max_threads) {
        snprintf(err, err_size, "%s is launched with %u threads a block; its %d registers a thread allow %d", f->symbol,
                 block, f->needs.registers, f->needs.max_threads);
        return 1;
    }
    return 0;
}

static int start(const struct loaded_function *f, const struct gpu_launch *launch, char *err, size_t err_size)
{
    struct error      cause = {0};
    struct gpu_launch full = *launch;
    if (check_fit(f, launch->block, launch->dynamic_lds, err, err_size))
        return 1;
    full.function = f->function;
    if (!gpu.driver->launch(&full, &cause))
        return 0;
    snprintf(err, err_size, "%s", cause.text);
    return 1;
}

static int launch_v1(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    struct kernel_set  *set = self;
    struct topk_problem p = *problem;
    if (topk_v1_check(problem, err, err_size) != 0)
        return 1;
    struct topk_v1_plan plan = topk_v1_plan(problem);
    void *arguments[MAX_ARGUMENTS] = {&p.scores,       &p.seq_lens,          &p.page_table, &p.page_indices,
                                      &p.raw_indices,  &p.score_stride,      &p.page_table_stride,
                                      &p.topk,         &p.page_size,         &p.max_seq_len,
                                      &p.workspace,    &plan.splits};
    set->last_path = plan.launches[0].kernel;
    for (int32_t l = 0; l < plan.n_launches; l++) {
        const struct topk_v1_launch *planned = &plan.launches[l];
        size_t                       i = 0;
        while (i + 1 < set->n_functions && strcmp(set->functions[i].symbol, planned->kernel) != 0)
            i++;
        if (start(&set->functions[i],
                  &(struct gpu_launch){.grid = planned->grid, .block = planned->block,
                                       .dynamic_lds = planned->dynamic_lds, .stream = p.stream, .arguments = arguments,
                                       .early = set->functions[i].needs.may_wait}, /* all kernels of v1 wait */
                  err, err_size))
            return 1;
    }
    return 0;
}

static size_t v1_workspace_bytes(void *self, const struct topk_problem *problem)
{
    (void)self;
    return topk_v1_workspace_bytes(problem);
}

static size_t rows_workspace(const struct topk_problem *problem)
{
    size_t bytes = (size_t)gpu.source.workspace_per_row * (size_t)problem->batch;
    return (bytes + 255) / 256 * 256;
}

/* A source's page_indices is never null: where only raw indices are asked for, the end of the workspace takes them. */
static size_t source_workspace_bytes(void *self, const struct topk_problem *problem)
{
    (void)self;
    return rows_workspace(problem) +
           (problem->page_indices ? 0 : (size_t)problem->batch * (size_t)problem->topk * sizeof(int32_t));
}

static int launch_source(void *self, const struct topk_problem *problem, char *err, size_t err_size)
{
    struct kernel_set  *set = self;
    struct topk_problem p = *problem;
    if (!p.page_indices)
        p.page_indices = (int32_t *)(void *)((char *)p.workspace + rows_workspace(problem));
    void *arguments[MAX_ARGUMENTS] = {&p.scores, &p.seq_lens, &p.page_table, &p.page_indices, &p.raw_indices,
                                      &p.score_stride, &p.page_table_stride, &p.topk, &p.page_size, &p.workspace};
    return start(&set->functions[0],
                 &(struct gpu_launch){.grid = (uint32_t)p.batch, .block = gpu.source.block,
                                      .dynamic_lds = gpu.source.dynamic_lds, .stream = p.stream, .arguments = arguments},
                 err, err_size);
}

static const char *path_v1(void *self)
{
    const struct kernel_set *set = self;
    return set->last_path;
}

/* ---- the code onto the device --------------------------------------------------------------------------------- */

static enum status load_function(struct kernel_set *set, const char *symbol, uint32_t dynamic_lds, struct error *err)
{
    struct loaded_function *f = &set->functions[set->n_functions++];
    f->symbol = symbol;
    f->function = gpu.driver->function(set->module, symbol, err);
    if (!f->function || gpu.driver->function_needs(f->function, &f->needs, err))
        return err->status;
    if (dynamic_lds > DYNAMIC_LDS_BUDGET && f->needs.static_lds + dynamic_lds <= gpu.device.lds_bytes)
        return gpu.driver->function_allow(f->function, dynamic_lds, err);
    return STATUS_OK;
}

static enum status load_set(struct kernel_set *set, struct error *err)
{
    const void *image = set->origin == CODE_JIT ? set->code.bytes : set->image;
    char        cause[512] = "";
    if (set->module)
        return STATUS_OK;
    set->module = gpu.driver->module_load(image, err);
    if (!set->module)
        return err->status;
    if (!is_v1()) {
        if (load_function(set, KERNEL_SOURCE_SYMBOL, gpu.source.dynamic_lds, err))
            return err->status;
        if (check_fit(&set->functions[0], gpu.source.block, gpu.source.dynamic_lds, cause, sizeof cause))
            return error_set(err, STATUS_FAIL, "%s", cause);
        return STATUS_OK;
    }
    for (const struct topk_v1_launch *planned = topk_v1_kernels; planned->kernel && !err->status; planned++)
        load_function(set, planned->kernel, planned->dynamic_lds, err);
    return err->status;
}

static int open_provider(int device, void **self, char *err, size_t err_size)
{
    struct error cause = {0};
    (void)device;
    *self = &gpu.sets[0];
    if (!load_set(&gpu.sets[0], &cause))
        return 0;
    snprintf(err, err_size, "%s", cause.text);
    return 1;
}

static void close_provider(void *self)
{
    struct kernel_set *set = self;
    if (set->module)
        gpu.driver->module_unload(set->module);
    set->module = NULL;
    set->n_functions = 0;
}

/* Gets a set's code: reads it, or compiles it. */
static enum status fetch(struct kernel_set *set, struct error *err)
{
    struct jit_source source = jit_source();
    if (set->image || set->code.bytes)
        return STATUS_OK;
    if (set->origin == CODE_JIT)
        return jit_compile(&source, NULL, &set->code, err);
    return code_object_read(&gpu.objects, set->object, &set->image, err);
}

enum status provider_gpu_prepare(struct error *err)
{
    return gpu.driver ? fetch(&gpu.sets[0], err) : STATUS_OK;
}

/* ---- choosing ------------------------------------------------------------------------------------------------- */

static enum status choose_aot(struct kernel_set *set, struct error *err)
{
    char digest[DIGEST_HEX], folder[PATH_MAX + 16];
    snprintf(folder, sizeof folder, "%s/code_objects", gpu_binary_folder());
    if (!gpu.objects.folder && code_object_list_load(folder, &gpu.objects, err))
        return err->status;
    code_object_source_digest(digest);
    set->origin = CODE_AOT;
    set->object = code_object_find(&gpu.objects, gpu.driver->backend, gpu.device.arch);
    if (!set->object)
        return error_set(err, STATUS_BOOKS, "no code object of v1 for %s was built ahead of time (%s has %zu); run make where "
                         "a compiler knows that target, or use --origin jit", gpu.device.arch, folder, gpu.objects.n);
    if (strcmp(gpu.objects.source_digest, digest) != 0)
        return error_set(err, STATUS_BOOKS, "the code objects in %s were compiled from another source than this program "
                         "embeds; run make", folder);
    return STATUS_OK;
}

static enum status choose_jit(struct kernel_set *set, struct error *err)
{
    struct jit_source source = jit_source();
    struct error      no_compiler = {0};
    set->origin = CODE_JIT;
    if (!jit_identify(&source, &set->code, &no_compiler))
        return STATUS_OK;
    set->object = is_v1() ? code_object_find_portable(&gpu.objects, gpu.driver->backend, gpu.device.arch) : NULL;
    if (!set->object)
        return error_set(err, no_compiler.status, "%s", no_compiler.text);
    set->origin = CODE_PTX;
    return STATUS_OK;
}

static enum status choose(struct kernel_set *set, const char *origin, struct error *err)
{
    struct error none = {0};
    if (!is_v1() || (origin && strcmp(origin, "jit") == 0))
        return choose_jit(set, err);
    if (origin && strcmp(origin, "aot") == 0)
        return choose_aot(set, err);
    if (!choose_aot(set, &none))
        return STATUS_OK;
    *set = (struct kernel_set){0};
    if (choose_jit(set, err))
        error_prefix(err, "%s; and just in time", none.text);
    return err->status;
}

static void fill_provider(void)
{
    gpu.provider = (struct topk_provider){
        .abi = TOPK_PROVIDER_ABI,
        .name = is_v1() ? "v1" : gpu.source.name,
        .version = "1",
        .memory = strcmp(gpu.driver->backend, "hip") == 0 ? TOPK_MEMORY_HIP : TOPK_MEMORY_CUDA,
        .claims = is_v1() ? topk_v1_claims : gpu.source.claims,
        .limits = is_v1() ? topk_v1_limits : NULL,
        .open = open_provider,
        .workspace_bytes = is_v1() ? v1_workspace_bytes : source_workspace_bytes,
        .launch = is_v1() ? launch_v1 : launch_source,
        .path = is_v1() ? path_v1 : NULL,
        .close = close_provider,
    };
    /* Launches of kernels, nothing else: always capturable. */
    gpu.provider.claims.capture = TOPK_CAPTURE_OK;
}

enum status provider_gpu_load(const struct provider_name *name, const char *backend, int ordinal, const char *origin,
                              struct loaded_provider *loaded, struct error *err)
{
    gpu.driver = gpu_load_driver(backend, err);
    if (!gpu.driver || gpu.driver->describe(ordinal, &gpu.device, err))
        return err->status;
    if (name->kind != PROVIDER_BUILTIN) {
        if (kernel_source_read(name->text, &gpu.source, err))
            return err->status;
        const char *slash = strrchr(name->text, '/');
        snprintf(gpu.folder, sizeof gpu.folder, "%.*s", slash ? (int)(slash - name->text) : 1, slash ? name->text : ".");
    }
    if (choose(&gpu.sets[0], origin, err))
        return err->status;
    fill_provider();
    loaded->provider = &gpu.provider;
    loaded->origin = !is_v1() ? "source" : gpu.sets[0].origin == CODE_AOT ? "aot" : "jit";
    snprintf(loaded->digest, sizeof loaded->digest, "%s",
             !is_v1()                         ? gpu.source.digest
             : gpu.sets[0].origin == CODE_JIT ? gpu.sets[0].code.digest
                                              : gpu.sets[0].object->digest);
    return STATUS_OK;
}

const struct topk_provider *provider_gpu_other_origin(void **self, struct error *err)
{
    struct kernel_set *other = &gpu.sets[1];
    if (!gpu.driver || !is_v1()) {
        error_set(err, STATUS_BOOKS, "only v1 on a GPU has two origins");
        return NULL;
    }
    if (!other->module && (choose(other, gpu.sets[0].origin == CODE_AOT ? "jit" : "aot", err) || fetch(other, err) ||
                           load_set(other, err)))
        return NULL;
    *self = other;
    return &gpu.provider;
}

void provider_gpu_unload(void)
{
    for (size_t i = 0; i < 2; i++) {
        free(gpu.sets[i].image);
        jit_code_clear(&gpu.sets[i].code);
    }
    code_object_list_clear(&gpu.objects);
    kernel_source_clear(&gpu.source);
    memset(&gpu, 0, sizeof gpu);
}
