/* SPDX-License-Identifier: Apache-2.0 */
/* .npz archives: zip files of .npy files, stored or deflated; see tensor_file.h. */
#include "harness/import/tensor_file.h"

#include "harness/npy.h"

#include <stdlib.h>
#include <string.h>
#include <zip.h>

static enum status open_archive(const char *path, zip_t **archive, struct error *err)
{
    int         code = 0;
    zip_error_t cause;
    *archive = zip_open(path, ZIP_RDONLY, &code);
    if (*archive)
        return STATUS_OK;
    zip_error_init_with_code(&cause, code);
    error_set(err, STATUS_USAGE, "%s: no .npz file: %s", path, zip_error_strerror(&cause));
    zip_error_fini(&cause);
    return err->status;
}

/* Reads `n` bytes of an entry; *got is less at its end. */
static enum status read_entry(const char *path, zip_file_t *entry, void *to, size_t n, size_t *got, struct error *err)
{
    *got = 0;
    while (*got < n) {
        zip_int64_t part = zip_fread(entry, (char *)to + *got, n - *got);
        if (part < 0)
            return error_set(err, STATUS_USAGE, "%s: damaged: %s", path, zip_error_strerror(zip_file_get_error(entry)));
        if (part == 0)
            break;
        *got += (size_t)part;
    }
    return STATUS_OK;
}

static enum status open_entry(const char *path, zip_t *archive, int64_t index, zip_file_t **entry, struct error *err)
{
    *entry = zip_fopen_index(archive, (zip_uint64_t)index, 0);
    if (*entry)
        return STATUS_OK;
    const char *name = zip_get_name(archive, (zip_uint64_t)index, 0);
    return error_set(err, STATUS_USAGE, "%s: entry '%s' cannot be read: %s", path, name ? name : "?", zip_strerror(archive));
}

/* One entry, if it is an array; archives may hold other files, too. */
static enum status list_entry(const char *path, zip_t *archive, int64_t index, unsigned char *bytes,
                              struct arena *arena, struct tensor_list *list, struct error *err)
{
    const char       *name = zip_get_name(archive, (zip_uint64_t)index, 0);
    size_t            length = name ? strlen(name) : 0, got;
    struct npy_header header;
    zip_file_t       *entry;
    if (length < 5 || strcmp(name + length - 4, ".npy") != 0)
        return STATUS_OK;
    struct tensor tensor = {.file = arena_text(arena, path),
                            .name = arena_format(arena, "%.*s", (int)(length - 4), name),
                            .container = TENSOR_IN_NPZ,
                            .entry = index};
    const char   *what = arena_format(arena, "%s: %s", path, name);
    if (open_entry(path, archive, index, &entry, err))
        return err->status;
    if (!read_entry(path, entry, bytes, NPY_MAX_HEADER + 12, &got, err) && !npy_read_header(what, bytes, got, &header, err) &&
        !tensor_from_npy(&tensor, &header, err)) {
        list->items = arena_grow(arena, list->items, list->n, sizeof tensor);
        list->items[list->n++] = tensor;
    }
    zip_fclose(entry);
    return err->status;
}

enum status npz_file_list(const char *path, struct arena *arena, struct tensor_list *list, struct error *err)
{
    unsigned char *bytes = malloc(NPY_MAX_HEADER + 12);
    zip_t         *archive;
    if (!bytes)
        return error_no_memory(err);
    if (!open_archive(path, &archive, err)) {
        zip_int64_t n = zip_get_num_entries(archive, 0);
        if (n > TENSOR_MAX_LISTED)
            error_set(err, STATUS_USAGE, "%s: %lld entries; at most %d are accepted", path, (long long)n,
                      TENSOR_MAX_LISTED);
        for (zip_int64_t i = 0; i < n && !err->status; i++)
            list_entry(path, archive, i, bytes, arena, list, err);
        zip_discard(archive);
    }
    free(bytes);
    return err->status;
}

enum status npz_file_read(const struct tensor *tensor, void *bytes, size_t n, struct error *err)
{
    unsigned char skipped[NPY_MAX_HEADER + 12];
    zip_t        *archive;
    zip_file_t   *entry;
    size_t        got;
    if (open_archive(tensor->file, &archive, err))
        return err->status;
    if (!open_entry(tensor->file, archive, tensor->entry, &entry, err)) {
        if (!read_entry(tensor->file, entry, skipped, (size_t)tensor->at, &got, err) &&
            !read_entry(tensor->file, entry, bytes, n, &got, err)) {
            if (got < n)
                error_set(err, STATUS_USAGE, "%s: cut short: tensor '%s' has %zu of its %zu bytes", tensor->file,
                          tensor->name, got, n);
            else /* the checksum is looked at behind the last byte */
                read_entry(tensor->file, entry, skipped, 1, &got, err);
        }
        zip_fclose(entry);
    }
    zip_discard(archive);
    return err->status;
}
