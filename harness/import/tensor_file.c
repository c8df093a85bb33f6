/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors in files; see tensor_file.h. */
#include "harness/import/tensor_file.h"

#include "cases/safetensors.h"
#include "harness/npy.h"
#include "harness/regular_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are used as little-endian files hold them");

/* How many elements a tensor has. -1 when they do not fit TENSOR_MAX_BYTES. */
static int64_t element_count(const struct tensor *tensor)
{
    int64_t n = 1;
    for (int d = 0; d < tensor->n_dims; d++)
        if (tensor->shape[d] == 0)
            return 0;
    for (int d = 0; d < tensor->n_dims; d++)
        if (__builtin_mul_overflow(n, tensor->shape[d], &n) || n > TENSOR_MAX_BYTES / tensor->element_bytes)
            return -1;
    return n;
}

void tensor_describe(const struct tensor *tensor, char text[TENSOR_TEXT_BYTES])
{
    size_t used = (size_t)snprintf(text, TENSOR_TEXT_BYTES, "%s [", tensor->type);
    for (int d = 0; d < tensor->n_dims && used < TENSOR_TEXT_BYTES; d++)
        used += (size_t)snprintf(text + used, TENSOR_TEXT_BYTES - used, "%s%lld", d ? ", " : "",
                                 (long long)tensor->shape[d]);
    if (used < TENSOR_TEXT_BYTES - 1)
        snprintf(text + used, TENSOR_TEXT_BYTES - used, "]");
}

enum status tensor_from_npy(struct tensor *tensor, const struct npy_header *header, struct error *err)
{
    static const struct {
        char             letter;
        enum tensor_kind kind;
    } kinds[] = {{'f', TENSOR_FLOAT}, {'i', TENSOR_INTEGER}, {'u', TENSOR_UNSIGNED}};
    char *end;
    long  bytes = strtol(header->type + 1, &end, 10);
    if (*end || bytes < 1 || bytes > 1 << 20)
        return error_set(err, STATUS_USAGE, "%s: elements of type '%s' have no size", tensor->file, header->type);
    tensor->kind = TENSOR_OTHER;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].letter == header->type[0])
            tensor->kind = kinds[i].kind;
    snprintf(tensor->type, sizeof tensor->type, "%s", header->type);
    tensor->element_bytes = (int)bytes;
    tensor->is_big_endian = header->is_big_endian;
    tensor->is_fortran = header->is_fortran;
    tensor->n_dims = header->n_dims;
    memcpy(tensor->shape, header->shape, sizeof header->shape);
    tensor->at = (int64_t)header->data;
    return STATUS_OK;
}

/* "scores" of "captures/scores.npy" */
static const char *stem(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return arena_format(arena, "%.*s", (int)(dot && dot != name ? dot - name : (long)strlen(name)), name);
}

static enum status list_npy(const char *path, FILE *file, struct arena *arena, struct tensor_list *list,
                            struct error *err)
{
    unsigned char    *bytes = malloc(NPY_MAX_HEADER + 12);
    struct npy_header header;
    struct tensor     tensor = {.file = arena_text(arena, path), .name = stem(arena, path), .container = TENSOR_IN_NPY};
    if (!bytes)
        return error_no_memory(err);
    size_t n = fread(bytes, 1, NPY_MAX_HEADER + 12, file);
    if (!npy_read_header(path, bytes, n, &header, err) && !tensor_from_npy(&tensor, &header, err)) {
        list->items = arena_grow(arena, list->items, list->n, sizeof tensor);
        list->items[list->n++] = tensor;
    }
    free(bytes);
    return err->status;
}

static enum tensor_kind kind_of_safetensors(const char *type)
{
    return strcmp(type, "BF16") == 0 ? TENSOR_BFLOAT
           : type[0] == 'F'          ? TENSOR_FLOAT
           : type[0] == 'I'          ? TENSOR_INTEGER
           : type[0] == 'U'          ? TENSOR_UNSIGNED
                                     : TENSOR_OTHER;
}

/* One entry of the header; the bytes it points at must be as many as its shape needs. */
static enum status add_safetensors(const struct safetensors_entry *entry, const char *file, int64_t data,
                                   struct arena *arena, struct tensor_list *list, struct error *err)
{
    struct tensor tensor = {.file = file,
                            .name = arena_text(arena, entry->name),
                            .kind = kind_of_safetensors(entry->type),
                            .element_bytes = safetensors_type_bytes(entry->type),
                            .n_dims = entry->n_dims,
                            .container = TENSOR_IN_SAFETENSORS,
                            .at = data + entry->begin};
    snprintf(tensor.type, sizeof tensor.type, "%s", entry->type);
    memcpy(tensor.shape, entry->shape, sizeof entry->shape);
    if (!tensor.element_bytes) { /* eight-bit floats and what comes next: listed, and refused when asked for */
        tensor.kind = TENSOR_OTHER;
        tensor.element_bytes = 1;
    } else {
        int64_t n = element_count(&tensor);
        if (n >= 0 && n * tensor.element_bytes != entry->end - entry->begin)
            return error_set(err, STATUS_USAGE, "%s: tensor '%s' has %lld bytes where its shape needs %lld", file,
                             tensor.name, (long long)(entry->end - entry->begin), (long long)(n * tensor.element_bytes));
    }
    list->items = arena_grow(arena, list->items, list->n, sizeof tensor);
    list->items[list->n++] = tensor;
    return STATUS_OK;
}

static enum status list_safetensors(const char *path, FILE *file, struct arena *arena, struct tensor_list *list,
                                    struct error *err)
{
    unsigned char      prefix[SAFETENSORS_PREFIX];
    int64_t            length;
    struct safetensors tensors = {0};
    char               cause[512] = "", *header = NULL;
    const char        *kept = arena_text(arena, path);
    if (fread(prefix, 1, sizeof prefix, file) != sizeof prefix) {
        error_set(err, STATUS_USAGE, "%s: cut short: a safetensors file begins with eight bytes", path);
        goto done;
    }
    if (safetensors_header_length(prefix, &length, cause, sizeof cause)) {
        error_set(err, STATUS_USAGE, "%s: %s", path, cause);
        goto done;
    }
    header = malloc((size_t)length);
    if (!header) {
        error_no_memory(err);
        goto done;
    }
    if (fread(header, 1, (size_t)length, file) != (size_t)length) {
        error_set(err, STATUS_USAGE, "%s: cut short: it ends within its header of %lld bytes", path, (long long)length);
        goto done;
    }
    if (safetensors_read(header, (size_t)length, &tensors, cause, sizeof cause)) {
        error_set(err, STATUS_USAGE, "%s: %s", path, cause);
        goto done;
    }
    for (size_t i = 0; i < tensors.n_entries && !err->status; i++)
        if (list->n == TENSOR_MAX_LISTED)
            error_set(err, STATUS_USAGE, "%s: more than %d tensors", path, TENSOR_MAX_LISTED);
        else
            add_safetensors(&tensors.entries[i], kept, SAFETENSORS_PREFIX + length, arena, list, err);
done:
    safetensors_clear(&tensors);
    free(header);
    return err->status;
}

enum status tensor_file_list(const char *path, struct arena *arena, struct tensor_list *list, struct error *err)
{
    unsigned char magic[6] = {0};
    FILE         *file;
    if (regular_file_open(path, &file, err))
        return err->status;
    size_t n = fread(magic, 1, sizeof magic, file);
    rewind(file);
    const char *dot = strrchr(path, '.');
    if (n == 6 && memcmp(magic, "\x93NUMPY", 6) == 0)
        list_npy(path, file, arena, list, err);
    else if (n >= 4 && memcmp(magic, "PK", 2) == 0)
        npz_file_list(path, arena, list, err);
    else if (dot && strcmp(dot, ".safetensors") == 0)
        list_safetensors(path, file, arena, list, err);
    else if (dot && (strcmp(dot, ".npy") == 0 || strcmp(dot, ".npz") == 0))
        error_set(err, STATUS_USAGE, "%s: no %s file: %s", path, dot,
                  n ? "it does not begin as one does" : "it is empty");
    else
        error_set(err, STATUS_USAGE, "%s: neither a .npy, a .npz nor a .safetensors file", path);
    fclose(file);
    return err->status;
}

static enum status read_bytes(const struct tensor *tensor, void *bytes, size_t n, struct error *err)
{
    FILE *file;
    if (tensor->container == TENSOR_IN_NPZ)
        return npz_file_read(tensor, bytes, n, err);
    if (regular_file_open(tensor->file, &file, err))
        return err->status;
    if (fseeko(file, tensor->at, SEEK_SET) != 0 || fread(bytes, 1, n, file) != n)
        error_set(err, STATUS_USAGE, "%s: cut short: tensor '%s' needs %zu bytes from byte %lld on", tensor->file,
                  tensor->name, n, (long long)tensor->at);
    fclose(file);
    return err->status;
}

static void swap_bytes(unsigned char *bytes, int64_t n, int element_bytes)
{
    for (int64_t i = 0; i < n; i++, bytes += element_bytes)
        for (int low = 0, high = element_bytes - 1; low < high; low++, high--) {
            unsigned char kept = bytes[low];
            bytes[low] = bytes[high];
            bytes[high] = kept;
        }
}

/* From the first index running fastest to the last. */
static void reorder(const struct tensor *tensor, const unsigned char *from, unsigned char *to, int64_t n)
{
    int64_t index[TENSOR_MAX_DIMS] = {0};
    size_t  bytes = (size_t)tensor->element_bytes;
    for (int64_t i = 0; i < n; i++) {
        int64_t place = 0;
        for (int d = 0; d < tensor->n_dims; d++)
            place = place * tensor->shape[d] + index[d];
        memcpy(to + (size_t)place * bytes, from + (size_t)i * bytes, bytes);
        for (int d = 0; d < tensor->n_dims && ++index[d] == tensor->shape[d]; d++)
            index[d] = 0;
    }
}

enum status tensor_read(const struct tensor *tensor, void **elements, struct error *err)
{
    int64_t n = element_count(tensor);
    char    text[TENSOR_TEXT_BYTES];
    *elements = NULL;
    tensor_describe(tensor, text);
    if (n < 0)
        return error_set(err, STATUS_USAGE, "%s: tensor '%s' is %s: more than the %lld MiB that are read; cut it down first",
                         tensor->file, tensor->name, text, (long long)(TENSOR_MAX_BYTES >> 20));
    size_t         bytes = (size_t)n * (size_t)tensor->element_bytes;
    unsigned char *read = calloc(bytes + 1, 1), *ordered = NULL;
    if (!read)
        return error_no_memory(err);
    if (read_bytes(tensor, read, bytes, err))
        goto failed;
    if (tensor->is_big_endian)
        swap_bytes(read, n, tensor->element_bytes);
    if (tensor->is_fortran && tensor->n_dims > 1) {
        ordered = malloc(bytes + 1);
        if (!ordered) {
            error_no_memory(err);
            goto failed;
        }
        reorder(tensor, read, ordered, n);
        free(read);
        read = ordered;
    }
    *elements = read;
    return STATUS_OK;
failed:
    free(read);
    return err->status;
}
