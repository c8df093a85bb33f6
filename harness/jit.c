/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling at run time; see jit.h. Start reading at jit_compile(). */
#include "harness/jit.h"

#include "harness/gpu_load.h"
#include "kernels/topk_v1.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a kernel source may count on: the names of <stdint.h>, which neither run-time compiler brings. */
static const char types_text[] = "#pragma once\n"
                                 "typedef signed char int8_t;\n"
                                 "typedef unsigned char uint8_t;\n"
                                 "typedef short int16_t;\n"
                                 "typedef unsigned short uint16_t;\n"
                                 "typedef int int32_t;\n"
                                 "typedef unsigned int uint32_t;\n"
                                 "#if defined(__INT64_TYPE__)\n"
                                 "typedef __INT64_TYPE__ int64_t;\n"
                                 "typedef __UINT64_TYPE__ uint64_t;\n"
                                 "#else\n"
                                 "typedef long int64_t;\n"
                                 "typedef unsigned long uint64_t;\n"
                                 "#endif\n"
                                 "typedef uint64_t uintptr_t;\n"
                                 "typedef int64_t intptr_t;\n";

static const char nothing_text[] = "#pragma once\n";

/* The headers that a text may include by name. The vendors' own are built into their compilers; the other vendor's
 * name, and the C library's, mean the types above. */
static const char *const header_names[] = {"topkcts_types.h", "stdint.h", "cstdint", "stddef.h", "cstddef", "cuda_runtime.h"};
enum { N_COMMON_HEADERS = 6, MAX_V1_HEADERS = 8, MAX_HEADERS = N_COMMON_HEADERS + MAX_V1_HEADERS + 1, MAX_OPTIONS = 8 };

/* A compilation, put together. */
struct assembly {
    struct gpu_compilation compilation;
    const char            *names[MAX_HEADERS], *texts[MAX_HEADERS];
    const char            *options[MAX_OPTIONS];
    char                   arch_option[96], folder_option[PATH_MAX + 2];
    char                  *text;
    bool                   includes_files;
};

static enum status assemble(const struct jit_source *source, struct assembly *assembly, struct error *err)
{
    bool is_cuda = strcmp(source->backend, "cuda") == 0;
    int  n = 0, o = 0;
    memset(assembly, 0, sizeof *assembly);
    for (const struct topk_v1_text *part = topk_v1_texts + 1; part->name && n < MAX_V1_HEADERS; part++) {
        assembly->names[n] = part->name;
        assembly->texts[n++] = part->text;
    }
    for (int i = 0; i < N_COMMON_HEADERS; i++) {
        /* hiprtc has its own idea of <stdint.h> in some versions: it is asked first where it answers. */
        assembly->names[n] = header_names[i];
        assembly->texts[n++] = i <= 2 ? types_text : nothing_text;
    }
    if (is_cuda) {
        assembly->names[n] = "hip/hip_runtime.h";
        assembly->texts[n++] = nothing_text;
    }
    const char *head = source->is_v1 ? "" : "#include \"topkcts_types.h\"\n";
    size_t      size = strlen(source->text) + strlen(head) + strlen(source->name) + 32;
    assembly->text = malloc(size);
    if (!assembly->text)
        return error_no_memory(err);
    snprintf(assembly->text, size, "%s#line 1 \"%s\"\n%s", head, source->name, source->text);
    snprintf(assembly->arch_option, sizeof assembly->arch_option, "%s%s",
             is_cuda ? "--gpu-architecture=" : "--offload-arch=", source->arch);
    assembly->options[o++] = assembly->arch_option;
    assembly->options[o++] = "-std=c++17";
    if (!is_cuda)
        assembly->options[o++] = "-O3";
    if (source->folder) {
        snprintf(assembly->folder_option, sizeof assembly->folder_option, "-I%s", source->folder);
        assembly->options[o++] = assembly->folder_option;
        for (const char *at = source->text; (at = strstr(at, "#include \"")); at++) /* what it includes is not in the key */
            assembly->includes_files |= strncmp(at + 10, "kernels/port.h", 14) != 0;
    }
    assembly->compilation = (struct gpu_compilation){source->name, assembly->text, n, assembly->names,
                                                     assembly->texts, o, assembly->options};
    return STATUS_OK;
}

static void make_key(const struct jit_source *source, const struct assembly *assembly, struct jit_code *code)
{
    const struct gpu_compilation *c = &assembly->compilation;
    struct digest                 digest;
    digest_begin(&digest);
    const char *parts[] = {source->backend, code->compiler, c->text};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        digest_add(&digest, parts[i], strlen(parts[i]) + 1);
    for (int i = 0; i < c->n_headers; i++)
        digest_add(&digest, c->header_texts[i], strlen(c->header_texts[i]) + 1);
    for (int i = 0; i < c->n_options; i++)
        if (c->options[i] != assembly->folder_option) /* a place, not a content */
            digest_add(&digest, c->options[i], strlen(c->options[i]) + 1);
    digest_end(&digest, code->digest);
}

static enum status identify(const struct jit_source *source, struct assembly *assembly, struct jit_code *code,
                            const struct gpu_compiler **compiler, struct error *err)
{
    memset(code, 0, sizeof *code);
    memset(assembly, 0, sizeof *assembly);
    *compiler = gpu_load_compiler(source->backend, err);
    if (!*compiler || (*compiler)->version(code->compiler, sizeof code->compiler, err) ||
        assemble(source, assembly, err))
        return err->status;
    make_key(source, assembly, code);
    return STATUS_OK;
}

enum status jit_identify(const struct jit_source *source, struct jit_code *code, struct error *err)
{
    struct assembly            assembly;
    const struct gpu_compiler *compiler;
    identify(source, &assembly, code, &compiler, err);
    free(assembly.text);
    return err->status;
}

/* The log to stderr, which the runner keeps; its first line with an error into the message. */
static void report_log(const char *log, struct error *err)
{
    const char *at = log ? strstr(log, "error") : NULL;
    char        cause[sizeof err->text];
    if (!log)
        return;
    fprintf(stderr, "%s\n", log);
    while (at && at > log && at[-1] != '\n')
        at--;
    if (at) {
        size_t length = strcspn(at, "\n");
        memcpy(cause, err->text, sizeof cause);
        snprintf(err->text, sizeof err->text, "%.480s: %.*s", cause, (int)(length < 500 ? length : 500), at);
    }
}

enum status jit_compile(const struct jit_source *source, const char *folder, struct jit_code *code, struct error *err)
{
    struct assembly            assembly;
    const struct gpu_compiler *compiler;
    char                       own_folder[PATH_MAX], *log = NULL;
    if (identify(source, &assembly, code, &compiler, err))
        goto done;
    if (!folder && jit_cache_folder(own_folder, sizeof own_folder))
        folder = own_folder;
    if (assembly.includes_files || (folder && folder[0] == '\0'))
        folder = NULL;
    if (folder && jit_cache_read(folder, code->digest, &code->bytes, &code->n_bytes)) {
        code->from_cache = true;
        goto done;
    }
    if (compiler->compile(&assembly.compilation, &code->bytes, &code->n_bytes, &log, err))
        report_log(log, err);
    else if (folder && !jit_cache_write(folder, code->digest, code->bytes, code->n_bytes))
        fprintf(stderr, "note: the code cache %s cannot be written; the next worker compiles again\n", folder);
done:
    free(log);
    free(assembly.text);
    return err->status;
}

void jit_code_clear(struct jit_code *code)
{
    free(code->bytes);
    memset(code, 0, sizeof *code);
}
