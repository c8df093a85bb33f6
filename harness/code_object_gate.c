/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The static gate: what a code object's metadata says about each kernel, held against what the project allows. It needs
 * no device, so that a register spill on one of seven targets shows the day it is written.
 *
 * Occupancy is how many waves of the kernel one SIMD (AMD) or multiprocessor (NVIDIA) can hold, by registers and LDS;
 * register file sizes and allocation steps are those of LLVM's AMDGPUBaseInfo.cpp and of NVIDIA's occupancy tables.
 */
#include "harness/code_object.h"

#include "kernels/topk_v1.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DYNAMIC_LDS_LIMIT = 48 * 1024, TOTAL_LDS_LIMIT = 64 * 1024 };

/* What a multiprocessor of a target holds. `lds` is what blocks on `simds` SIMDs share. */
static const struct shape {
    const char *target;
    int32_t     wave_size, waves_per_simd, simds;
    int32_t     registers, step; /* vector registers of a SIMD per lane, and their allocation step */
    int32_t     lds;
} shapes[] = {
    {"gfx1030", 32, 16, 4, 1024, 16, 128 * 1024},  {"gfx1100", 32, 16, 4, 1536, 24, 128 * 1024},
    {"gfx1151", 32, 16, 4, 1536, 24, 128 * 1024},  {"gfx1201", 32, 16, 4, 1536, 24, 128 * 1024},
    {"gfx90a", 64, 8, 4, 512, 8, 64 * 1024},       {"gfx942", 64, 8, 4, 512, 8, 64 * 1024},
    {"gfx950", 64, 8, 4, 512, 8, 160 * 1024},      {"sm_80", 32, 16, 4, 512, 8, 164 * 1024},
    {"sm_90", 32, 16, 4, 512, 8, 228 * 1024},      {"sm_100", 32, 16, 4, 512, 8, 228 * 1024},
    {"sm_120", 32, 12, 4, 512, 8, 100 * 1024},
};

static const struct shape *shape_of(const char *target)
{
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (strcmp(shapes[i].target, target) == 0)
            return &shapes[i];
    return NULL;
}

/* Waves per SIMD that run at once; 0 when not even one block fits. */
static int32_t occupancy(const struct shape *shape, const struct code_object_kernel *kernel)
{
    int32_t registers = (kernel->vgprs + kernel->agprs + shape->step - 1) / shape->step * shape->step;
    int32_t by_registers = registers ? shape->registers / registers : shape->waves_per_simd;
    int32_t waves_per_block = (kernel->block + shape->wave_size - 1) / shape->wave_size;
    int32_t lds = kernel->static_lds + kernel->dynamic_lds;
    int32_t waves = by_registers < shape->waves_per_simd ? by_registers : shape->waves_per_simd;
    int32_t blocks = waves_per_block ? waves * shape->simds / waves_per_block : 0;
    if (lds > 0 && shape->lds / lds < blocks)
        blocks = shape->lds / lds;
    return blocks * waves_per_block / shape->simds;
}

static void broken(size_t *n, const struct code_object *object, const char *symbol, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void broken(size_t *n, const struct code_object *object, const char *symbol, const char *format, ...)
{
    va_list arguments;
    (*n)++;
    printf("GATE  %s %s: ", object->target, symbol);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
}

static void judge_kernel(const struct code_object *object, const struct code_object_kernel *kernel, size_t *n)
{
    const struct shape *shape = shape_of(object->target);
    int32_t             lds = kernel->static_lds + kernel->dynamic_lds;
    int32_t             waves = shape ? occupancy(shape, kernel) : 0;
    printf("%-8s %-14s %5d %6d+%-6d %5d %5d %5d %6d %7d %5d  ", object->target, kernel->symbol, kernel->block,
           kernel->static_lds, kernel->dynamic_lds, kernel->vgprs, kernel->agprs, kernel->sgprs, kernel->spills,
           kernel->scratch, kernel->wave_size);
    if (shape)
        printf("%2d of %d waves\n", waves, shape->waves_per_simd);
    else
        printf("(occupancy of this target is not known here)\n");
    if (kernel->block == 0)
        broken(n, object, kernel->symbol, "is no kernel that v1 launches; name it in topk_v1_kernels or take it out");
    if (kernel->dynamic_lds > DYNAMIC_LDS_LIMIT)
        broken(n, object, kernel->symbol, "%d bytes of dynamic LDS; at most %d are allowed", kernel->dynamic_lds,
               DYNAMIC_LDS_LIMIT);
    if (lds > TOTAL_LDS_LIMIT)
        broken(n, object, kernel->symbol, "%d bytes of LDS, static and dynamic; at most %d are allowed", lds,
               TOTAL_LDS_LIMIT);
    /* nvcc's numbers are shown alone: its rarely called functions are kept out of line, with a stack of their own. */
    const bool is_judged = strncmp(object->target, "gfx", 3) == 0;
    if (is_judged && kernel->spills)
        broken(n, object, kernel->symbol, "spills %d registers; none may spill", kernel->spills);
    if (is_judged && kernel->scratch)
        broken(n, object, kernel->symbol, "%d bytes of scratch a thread; there must be none", kernel->scratch);
    if (shape && kernel->wave_size != shape->wave_size)
        broken(n, object, kernel->symbol, "compiled for wave size %d; HIP runs %s in waves of %d", kernel->wave_size,
               object->target, shape->wave_size);
    if (kernel->max_threads && kernel->max_threads < kernel->block)
        broken(n, object, kernel->symbol, "allows %d threads a block; it is launched with %d", kernel->max_threads,
               kernel->block);
    if (shape && waves == 0)
        broken(n, object, kernel->symbol, "not one block fits a multiprocessor");
}

static void judge_object(const struct code_object *object, size_t *n)
{
    for (size_t i = 0; i < object->n_kernels; i++)
        judge_kernel(object, &object->kernels[i], n);
    for (const struct topk_v1_launch *planned = topk_v1_kernels; planned->kernel; planned++) {
        const char *symbol = planned->kernel;
        size_t      k = 0;
        while (k < object->n_kernels && strcmp(object->kernels[k].symbol, symbol) != 0)
            k++;
        if (k == object->n_kernels)
            broken(n, object, symbol, "is missing from %s", object->file);
    }
}

/* What was checked is what a device will load: the file is there, and is the one that its description is of. */
static void judge_file(const struct code_object_list *list, const struct code_object *object, size_t *n)
{
    struct error err = {0};
    void        *bytes;
    if (code_object_read(list, object, &bytes, &err)) {
        printf("GATE  %s: %s\n", object->target, err.text);
        (*n)++;
    }
    free(bytes);
}

size_t code_object_gate(const struct code_object_list *list, const char *targets)
{
    size_t n = 0, judged = 0;
    char  *words = strdup(targets ? targets : ""), *rest = NULL;
    printf("%-8s %-14s %5s %6s+%-6s %5s %5s %5s %6s %7s %5s  %s\n", "target", "kernel", "block", "LDS", "dyn", "VGPR",
           "AGPR", "SGPR", "spills", "scratch", "wave", "occupancy");
    for (size_t i = 0; i < list->n; i++) {
        judge_file(list, &list->items[i], &n);
        if (strncmp(list->items[i].target, "compute_", 8) != 0) { /* PTX has no registers yet */
            judge_object(&list->items[i], &n);
            judged++;
        }
    }
    for (char *word = words ? strtok_r(words, ",", &rest) : NULL; word; word = strtok_r(NULL, ",", &rest)) {
        size_t i = 0;
        while (i < list->n && strcmp(list->items[i].target, word) != 0)
            i++;
        if (i == list->n) {
            printf("GATE  %s: no code object was built for it\n", word);
            n++;
        }
    }
    if (judged == 0) {
        printf("GATE  %s holds no code object: nothing was checked\n", list->folder);
        n++;
    }
    free(words);
    return n;
}
