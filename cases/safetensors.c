/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The safetensors format. See safetensors.h.
 */
#include "cases/safetensors.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int safetensors_type_bytes(const char *type)
{
    static const struct {
        const char *type;
        int         bytes;
    } types[] = {{"F64", 8}, {"I64", 8}, {"U64", 8}, {"F32", 4}, {"I32", 4}, {"U32", 4}, {"F16", 2},
                 {"BF16", 2}, {"I16", 2}, {"U16", 2}, {"I8", 1}, {"U8", 1}, {"BOOL", 1}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].type, type) == 0) {
            return types[i].bytes;
        }
    }
    return 0;
}

int safetensors_header_length(const unsigned char prefix[SAFETENSORS_PREFIX], int64_t *length, char *err,
                              size_t err_size)
{
    uint64_t n = 0;
    for (int i = SAFETENSORS_PREFIX - 1; i >= 0; i--) {
        n = n << 8 | prefix[i];
    }
    if (n < 2 || n > (uint64_t)SAFETENSORS_MAX_HEADER) {
        snprintf(err, err_size, "its first eight bytes announce a header of %llu bytes; 2 to %lld are accepted, so this "
                 "is no safetensors file", (unsigned long long)n, (long long)SAFETENSORS_MAX_HEADER);
        return 1;
    }
    *length = (int64_t)n;
    return 0;
}

static int read_entry(const char *name, const json_t *json, struct safetensors_entry *entry, char *err, size_t err_size)
{
    const json_t *type    = json_object_get(json, "dtype");
    const json_t *shape   = json_object_get(json, "shape");
    const json_t *offsets = json_object_get(json, "data_offsets");
    memset(entry, 0, sizeof *entry);
    if (!json_is_string(type) || !json_is_array(shape) || !json_is_array(offsets) || json_array_size(offsets) != 2) {
        snprintf(err, err_size, "tensor '%.60s': the header lacks its dtype, shape or two data_offsets", name);
        return 1;
    }
    if (json_array_size(shape) > SAFETENSORS_MAX_DIMS) {
        snprintf(err, err_size, "tensor '%.60s': %zu dimensions; at most %d are accepted", name, json_array_size(shape),
                 SAFETENSORS_MAX_DIMS);
        return 1;
    }
    entry->name   = name;
    entry->type   = json_string_value(type);
    entry->n_dims = (int)json_array_size(shape);
    for (int d = 0; d < entry->n_dims; d++) {
        const json_t *extent = json_array_get(shape, (size_t)d);
        entry->shape[d]      = json_is_integer(extent) ? (int64_t)json_integer_value(extent) : -1;
        if (entry->shape[d] < 0) {
            snprintf(err, err_size, "tensor '%.60s': extent %d of its shape is no number of at least 0", name, d);
            return 1;
        }
    }
    const json_t *begin = json_array_get(offsets, 0);
    const json_t *end   = json_array_get(offsets, 1);
    entry->begin        = json_is_integer(begin) ? (int64_t)json_integer_value(begin) : -1;
    entry->end          = json_is_integer(end) ? (int64_t)json_integer_value(end) : -1;
    if (entry->begin < 0 || entry->end < entry->begin) {
        snprintf(err, err_size, "tensor '%.60s': its data_offsets are no ascending pair of numbers", name);
        return 1;
    }
    return 0;
}

int safetensors_read(const char *header, size_t length, struct safetensors *out, char *err, size_t err_size)
{
    json_error_t cause;
    const char  *name  = NULL;
    json_t      *value = NULL;
    memset(out, 0, sizeof *out);
    json_t *json = json_loadb(header, length, JSON_REJECT_DUPLICATES, &cause);
    out->json    = json;
    if (!json_is_object(json)) {
        snprintf(err, err_size, "its header is no JSON object: %s",
                 json == NULL ? cause.text : "it is a list or a single value");
        return 1;
    }
    out->entries = calloc(json_object_size(json) + 1, sizeof *out->entries);
    if (out->entries == NULL) {
        snprintf(err, err_size, "no memory for %zu tensors", json_object_size(json));
        return 1;
    }
    json_object_foreach(json, name, value)
    {
        if (strcmp(name, "__metadata__") == 0) {
            continue;
        }
        if (read_entry(name, value, &out->entries[out->n_entries], err, err_size) != 0) {
            return 1;
        }
        out->n_entries++;
    }
    return 0;
}

const char *safetensors_metadata(const struct safetensors *tensors, const char *key)
{
    return json_string_value(json_object_get(json_object_get(tensors->json, "__metadata__"), key));
}

const struct safetensors_entry *safetensors_find(const struct safetensors *tensors, const char *name)
{
    for (size_t i = 0; i < tensors->n_entries; i++) {
        if (strcmp(tensors->entries[i].name, name) == 0) {
            return &tensors->entries[i];
        }
    }
    return NULL;
}

void safetensors_clear(struct safetensors *tensors)
{
    json_decref(tensors->json);
    free(tensors->entries);
    memset(tensors, 0, sizeof *tensors);
}

/* Fills in the places of the bytes; the header as JSON, or NULL. */
static json_t *make_header(struct safetensors_entry *entries, size_t n, const struct safetensors_note *notes,
                           size_t n_notes)
{
    json_t *json     = json_object();
    json_t *metadata = json_object();
    int64_t at       = 0;
    bool    failed   = json == NULL || metadata == NULL;
    for (size_t i = 0; i < n_notes && !failed; i++) {
        failed = json_object_set_new(metadata, notes[i].key, json_string(notes[i].value)) != 0;
    }
    for (size_t i = 0; i < n && !failed; i++) {
        int64_t bytes  = safetensors_type_bytes(entries[i].type);
        json_t *shape  = json_array();
        for (int d = 0; d < entries[i].n_dims; d++) {
            bytes *= entries[i].shape[d];
            failed = failed || json_array_append_new(shape, json_integer(entries[i].shape[d])) != 0;
        }
        entries[i].begin = at;
        entries[i].end   = at + bytes;
        at += bytes;
        failed = failed || json_object_set_new(json, entries[i].name,
                                               json_pack("{s:s, s:o, s:[I, I]}", "dtype", entries[i].type, "shape", shape,
                                                         "data_offsets", (json_int_t)entries[i].begin,
                                                         (json_int_t)entries[i].end)) != 0;
    }
    failed = failed || json_object_set(json, "__metadata__", metadata) != 0;
    json_decref(metadata);
    if (failed) {
        json_decref(json);
        return NULL;
    }
    return json;
}

unsigned char *safetensors_write(struct safetensors_entry *entries, const void *const *contents, size_t n,
                                 const struct safetensors_note *notes, size_t n_notes, size_t *size, char *err,
                                 size_t err_size)
{
    unsigned char *file   = NULL;
    char          *text   = NULL;
    json_t        *header = make_header(entries, n, notes, n_notes);
    if (header != NULL) {
        text = json_dumps(header, JSON_COMPACT | JSON_SORT_KEYS);
    }
    if (text != NULL) {
        /* Blanks behind the header, so that the tensors stand at multiples of eight. */
        const size_t used   = strlen(text);
        const size_t length = (used + 7) / 8 * 8;
        const size_t data   = n > 0 ? (size_t)entries[n - 1].end : 0;
        *size               = SAFETENSORS_PREFIX + length + data;
        file                = malloc(*size);
        if (file != NULL) {
            for (int i = 0; i < SAFETENSORS_PREFIX; i++) {
                file[i] = (unsigned char)(length >> (8 * i));
            }
            for (size_t i = 0; i < length; i++) {
                file[SAFETENSORS_PREFIX + i] = i < used ? (unsigned char)text[i] : ' ';
            }
            for (size_t i = 0; i < n; i++) {
                if (entries[i].end > entries[i].begin) {
                    memcpy(file + SAFETENSORS_PREFIX + length + entries[i].begin, contents[i],
                           (size_t)(entries[i].end - entries[i].begin));
                }
            }
        }
    }
    if (file == NULL) {
        snprintf(err, err_size, "no memory for the captured contents");
    }
    free(text);
    json_decref(header);
    return file;
}
