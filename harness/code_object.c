/* SPDX-License-Identifier: Apache-2.0 */
/* Looking up code objects; see code_object.h. The only code that reads the manifest. */
#include "harness/code_object.h"

#include "kernels/topk_v1.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void code_object_source_digest(char hex[DIGEST_HEX])
{
    struct digest digest;
    digest_begin(&digest);
    for (const struct topk_v1_text *source = topk_v1_texts; source->name; source++)
        digest_add(&digest, source->text, strlen(source->text));
    digest_end(&digest, hex);
}

static const char *text_of(struct arena *arena, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return arena_text(arena, text ? text : "");
}

static int32_t number_of(const json_t *object, const char *key)
{
    return (int32_t)json_integer_value(json_object_get(object, key));
}

static void read_kernel(struct arena *arena, const json_t *json, struct code_object_kernel *kernel)
{
    const json_t *arguments = json_object_get(json, "arguments");
    *kernel = (struct code_object_kernel){
        .symbol = text_of(arena, json, "symbol"),
        .block = number_of(json, "block"),
        .static_lds = number_of(json, "static_lds"),
        .dynamic_lds = number_of(json, "dynamic_lds"),
        .scratch = number_of(json, "scratch"),
        .vgprs = number_of(json, "vgprs"),
        .agprs = number_of(json, "agprs"),
        .sgprs = number_of(json, "sgprs"),
        .spills = number_of(json, "spills"),
        .max_threads = number_of(json, "max_threads"),
        .wave_size = number_of(json, "wave_size"),
        .kernarg_bytes = number_of(json, "kernarg_bytes"),
    };
    for (size_t i = 0; i < json_array_size(arguments) && i < CODE_OBJECT_MAX_ARGUMENTS; i++) {
        const json_t *argument = json_array_get(arguments, i);
        kernel->arguments[kernel->n_arguments++] = (struct code_object_argument){
            number_of(argument, "offset"), number_of(argument, "size"), text_of(arena, argument, "kind")};
    }
}

static void read_object(struct arena *arena, const json_t *json, struct code_object *object)
{
    const json_t *kernels = json_object_get(json, "kernels");
    *object = (struct code_object){
        .file = text_of(arena, json, "file"),
        .target = text_of(arena, json, "target"),
        .backend = text_of(arena, json, "backend"),
        .digest = text_of(arena, json, "digest"),
        .compiler = text_of(arena, json, "compiler"),
        .options = text_of(arena, json, "options"),
    };
    for (size_t i = 0; i < json_array_size(kernels) && i < CODE_OBJECT_MAX_KERNELS; i++)
        read_kernel(arena, json_array_get(kernels, i), &object->kernels[object->n_kernels++]);
}

enum status code_object_list_load(const char *folder, struct code_object_list *list, struct error *err)
{
    char         path[PATH_MAX + 32];
    json_error_t cause;
    memset(list, 0, sizeof *list);
    list->folder = arena_text(&list->arena, folder);
    snprintf(path, sizeof path, "%s/manifest.json", folder);
    if (access(path, F_OK) != 0)
        return STATUS_OK;
    json_t *json = json_load_file(path, 0, &cause);
    if (!json)
        return error_set(err, STATUS_BOOKS, "%s:%d: %s; run make to write it anew", path, cause.line, cause.text);
    const json_t *objects = json_object_get(json, "objects");
    list->source_digest = text_of(&list->arena, json, "source_digest");
    list->items = arena_alloc(&list->arena, (json_array_size(objects) + 1) * sizeof *list->items);
    for (size_t i = 0; i < json_array_size(objects); i++)
        read_object(&list->arena, json_array_get(objects, i), &list->items[list->n++]);
    json_decref(json);
    return STATUS_OK;
}

void code_object_list_clear(struct code_object_list *list)
{
    arena_clear(&list->arena);
    memset(list, 0, sizeof *list);
}

/* Whether an object for `target` runs on a device that is `arch`: processors equal, and each feature that the target
 * names is there in the same setting. */
static bool serves(const char *target, const char *arch)
{
    size_t processor = strcspn(target, ":");
    if (strncmp(target, arch, processor) != 0 || (arch[processor] && arch[processor] != ':'))
        return false;
    for (const char *feature = target + processor; *feature;) {
        size_t length = 1 + strcspn(feature + 1, ":");
        bool   found = false;
        for (const char *have = arch + processor; *have; have += 1 + strcspn(have + 1, ":"))
            found |= 1 + strcspn(have + 1, ":") == length && strncmp(have, feature, length) == 0;
        if (!found)
            return false;
        feature += length;
    }
    return true;
}

const struct code_object *code_object_find(const struct code_object_list *list, const char *backend, const char *arch)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i].backend, backend) == 0 && serves(list->items[i].target, arch))
            return &list->items[i];
    return NULL;
}

const struct code_object *code_object_find_portable(const struct code_object_list *list, const char *backend,
                                                    const char *arch)
{
    int have = 0, need = 0;
    if (sscanf(arch, "sm_%d", &have) != 1)
        return NULL;
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i].backend, backend) == 0 && sscanf(list->items[i].target, "compute_%d", &need) == 1 &&
            need <= have)
            return &list->items[i];
    return NULL;
}

enum status code_object_read(const struct code_object_list *list, const struct code_object *object, void **bytes,
                             struct error *err)
{
    char path[PATH_MAX + 128], digest[DIGEST_HEX];
    long size = -1;
    *bytes = NULL;
    snprintf(path, sizeof path, "%s/%s", list->folder, object->file);
    if (digest_of_file(path, digest, err)) {
        err->status = STATUS_BOOKS;
        return err->status;
    }
    if (strcmp(digest, object->digest) != 0)
        return error_set(err, STATUS_BOOKS, "%s: its digest is %s, the manifest says %s; run make to build it anew", path,
                         digest, object->digest);
    FILE *file = fopen(path, "rb");
    if (file && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size > 0 && fseek(file, 0, SEEK_SET) == 0)
        *bytes = calloc(1, (size_t)size + 1);
    if (!*bytes || fread(*bytes, 1, (size_t)size, file) != (size_t)size) {
        free(*bytes);
        *bytes = NULL;
        error_set(err, STATUS_BOOKS, "%s: cannot be read: %s", path,
                  file && size >= 0 ? "it became shorter, or memory is out" : strerror(errno));
    }
    if (file)
        fclose(file);
    return err->status;
}
