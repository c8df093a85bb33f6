/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing the manifest of code objects, from what the compilers left beside them: the metadata notes of AMD's objects
 * (llvm-readelf prints them as YAML), ptxas's figures for NVIDIA's. See code_object.h and kernels/code_object.sh.
 */
#include "harness/code_object.h"
#include "harness/yaml_tree.h"
#include "kernels/topk_v1.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number under one of two keys (AMD's, ours); 0 when there is none. */
static enum status read_number(const struct yaml_node *map, const char *key, const char *other, int32_t *number,
                               struct error *err)
{
    const struct yaml_node *node = yaml_get(map, key);
    int64_t                 value = 0;
    if (!node && other)
        node = yaml_get(map, other);
    if (node && yaml_number(node, 0, INT32_MAX, &value, err))
        return err->status;
    *number = (int32_t)value;
    return STATUS_OK;
}

static enum status read_arguments(struct arena *arena, const struct yaml_node *map, struct code_object_kernel *kernel,
                                  struct error *err)
{
    const struct yaml_node *list = yaml_get(map, ".args");
    for (size_t i = 0; list && i < list->n_items && i < CODE_OBJECT_MAX_ARGUMENTS; i++) {
        struct code_object_argument *argument = &kernel->arguments[kernel->n_arguments++];
        const struct yaml_node      *kind = yaml_get(&list->items[i], ".value_kind");
        if (read_number(&list->items[i], ".offset", NULL, &argument->offset, err) ||
            read_number(&list->items[i], ".size", NULL, &argument->size, err))
            return err->status;
        argument->kind = arena_text(arena, kind && kind->text ? kind->text : "unknown");
    }
    return STATUS_OK;
}

/* The launch shapes that v1 uses, by symbol: its list is asked, so that nothing is repeated here. */
static void read_shape(struct code_object_kernel *kernel)
{
    for (const struct topk_v1_launch *planned = topk_v1_kernels; planned->kernel; planned++) {
        if (strcmp(planned->kernel, kernel->symbol) != 0)
            continue;
        kernel->block = (int32_t)planned->block;
        kernel->dynamic_lds = (int32_t)planned->dynamic_lds;
    }
}

static enum status read_kernel(struct arena *arena, const struct yaml_node *map, struct code_object_kernel *kernel,
                               struct error *err)
{
    const struct yaml_node *name = yaml_get(map, ".name");
    if (!name)
        name = yaml_get(map, "name");
    if (!name || !name->text)
        return yaml_error(map, err, "a kernel without a name");
    kernel->symbol = arena_text(arena, name->text);
    if (read_number(map, ".group_segment_fixed_size", "static_lds", &kernel->static_lds, err) ||
        read_number(map, ".private_segment_fixed_size", "scratch", &kernel->scratch, err) ||
        read_number(map, ".vgpr_count", "registers", &kernel->vgprs, err) ||
        read_number(map, ".agpr_count", NULL, &kernel->agprs, err) ||
        read_number(map, ".sgpr_count", NULL, &kernel->sgprs, err) ||
        read_number(map, ".vgpr_spill_count", "spills", &kernel->spills, err) ||
        read_number(map, ".wavefront_size", NULL, &kernel->wave_size, err) ||
        read_number(map, ".max_flat_workgroup_size", NULL, &kernel->max_threads, err) ||
        read_number(map, ".kernarg_segment_size", NULL, &kernel->kernarg_bytes, err) ||
        read_arguments(arena, map, kernel, err))
        return err->status;
    read_shape(kernel);
    return STATUS_OK;
}

static enum status read_text(const struct yaml_node *root, const char *key, const char **text, struct error *err)
{
    const struct yaml_node *node = yaml_get(root, key);
    if (!node)
        return yaml_error(root, err, "a description of a code object needs the key '%s'; run make to write it anew", key);
    return yaml_text(node, text, err);
}

static enum status scan_object(struct code_object_list *list, const char *yaml_file, struct error *err)
{
    char              path[PATH_MAX + 288], digest[DIGEST_HEX];
    struct yaml_node *root = NULL;
    struct code_object object = {.target = "", .compiler = "", .options = "", .file = arena_format(&list->arena, "%.*s", (int)(strlen(yaml_file) - 5), yaml_file)};
    snprintf(path, sizeof path, "%s/%s", list->folder, yaml_file);
    if (yaml_load(path, &list->arena, &root, err))
        return err->status;
    const struct yaml_node *kernels = yaml_get(root, "amdhsa.kernels");
    if (read_text(root, "target", &object.target, err) || read_text(root, "compiler", &object.compiler, err) ||
        read_text(root, "options", &object.options, err))
        return err->status;
    object.backend = strncmp(object.target, "gfx", 3) == 0 ? "hip" : "cuda";
    if (!kernels)
        kernels = yaml_get(root, "kernels");
    for (size_t i = 0; kernels && i < kernels->n_items && i < CODE_OBJECT_MAX_KERNELS; i++) {
        struct code_object_kernel *kernel = &object.kernels[object.n_kernels++];
        if (read_kernel(&list->arena, &kernels->items[i], kernel, err))
            return err->status;
        if (kernel->wave_size == 0)
            kernel->wave_size = 32; /* every NVIDIA GPU */
    }
    snprintf(path, sizeof path, "%s/%s", list->folder, object.file);
    if (digest_of_file(path, digest, err))
        return err->status;
    object.digest = arena_text(&list->arena, digest);
    list->items = arena_grow(&list->arena, list->items, list->n, sizeof *list->items);
    list->items[list->n++] = object;
    return STATUS_OK;
}

static int is_description(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

enum status code_object_list_scan(const char *folder, struct code_object_list *list, struct error *err)
{
    struct dirent **entries = NULL;
    char            digest[DIGEST_HEX];
    memset(list, 0, sizeof *list);
    list->folder = arena_text(&list->arena, folder);
    code_object_source_digest(digest);
    list->source_digest = arena_text(&list->arena, digest);
    int n = scandir(folder, &entries, is_description, alphasort);
    if (n < 0)
        return error_set(err, STATUS_USAGE, "%s: cannot be read: %s", folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        if (!err->status)
            scan_object(list, entries[i]->d_name, err);
        free(entries[i]);
    }
    free(entries);
    return err->status;
}

static json_t *kernel_json(const struct code_object_kernel *kernel)
{
    json_t *arguments = json_array();
    for (size_t i = 0; i < kernel->n_arguments; i++)
        json_array_append_new(arguments, json_pack("{s:i, s:i, s:s}", "offset", (int)kernel->arguments[i].offset, "size",
                                                   (int)kernel->arguments[i].size, "kind", kernel->arguments[i].kind));
    return json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o}", "symbol", kernel->symbol,
                     "block", (int)kernel->block, "static_lds", (int)kernel->static_lds, "dynamic_lds",
                     (int)kernel->dynamic_lds, "scratch", (int)kernel->scratch, "vgprs", (int)kernel->vgprs, "agprs",
                     (int)kernel->agprs, "sgprs", (int)kernel->sgprs, "spills", (int)kernel->spills, "max_threads",
                     (int)kernel->max_threads, "wave_size", (int)kernel->wave_size, "kernarg_bytes",
                     (int)kernel->kernarg_bytes, "arguments", arguments);
}

static json_t *object_json(const struct code_object *object)
{
    json_t *kernels = json_array();
    for (size_t i = 0; i < object->n_kernels; i++)
        json_array_append_new(kernels, kernel_json(&object->kernels[i]));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:o}", "file", object->file, "target", object->target,
                     "backend", object->backend, "digest", object->digest, "compiler", object->compiler, "options",
                     object->options, "wave_size", object->n_kernels ? (int)object->kernels[0].wave_size : 32, "kernels",
                     kernels);
}

enum status code_object_list_write(const struct code_object_list *list, struct error *err)
{
    char    path[PATH_MAX + 32], fresh[PATH_MAX + 48];
    json_t *objects = json_array();
    for (size_t i = 0; i < list->n; i++)
        json_array_append_new(objects, object_json(&list->items[i]));
    json_t *json = json_pack("{s:s, s:s, s:o}", "kernel", "v1", "source_digest", list->source_digest, "objects", objects);
    snprintf(path, sizeof path, "%s/manifest.json", list->folder);
    snprintf(fresh, sizeof fresh, "%s.new", path);
    if (json_dump_file(json, fresh, JSON_INDENT(1)) != 0 || rename(fresh, path) != 0)
        error_set(err, STATUS_BOOKS, "%s: cannot be written: %s", path, strerror(errno));
    json_decref(json);
    return err->status;
}
