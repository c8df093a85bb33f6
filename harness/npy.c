/* SPDX-License-Identifier: Apache-2.0 */
/* .npy files; see npy.h. The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html */
#include "harness/npy.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the arrays are written as they are in memory");

/* Magic, version and the length of the text that follows. */
#define PREAMBLE_BYTES 10

/* The data starts at a multiple of this. */
#define ALIGNMENT 64

#define HEADER_BYTES (2 * ALIGNMENT)

/* Fills the header; returns its length, a multiple of ALIGNMENT. The longest text, two 19-digit extents, takes 93
 * bytes. */
static size_t make_header(unsigned char header[HEADER_BYTES], enum npy_type type, const int64_t *shape, int n_dims)
{
    static const unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0}; /* and version 1.0 */
    char                       text[HEADER_BYTES];
    char                       extents[48];
    if (n_dims == 1)
        snprintf(extents, sizeof extents, "(%lld,)", (long long)shape[0]);
    else
        snprintf(extents, sizeof extents, "(%lld, %lld)", (long long)shape[0], (long long)shape[1]);
    int length = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                          type == NPY_FLOAT32 ? "<f4" : "<i4", extents);
    size_t used = PREAMBLE_BYTES + (size_t)length + 1; /* a newline ends the text */
    size_t total = (used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    memset(header, ' ', total);
    memcpy(header, magic, sizeof magic);
    header[8] = (unsigned char)((total - PREAMBLE_BYTES) & 255);
    header[9] = (unsigned char)((total - PREAMBLE_BYTES) >> 8);
    memcpy(header + PREAMBLE_BYTES, text, (size_t)length);
    header[total - 1] = '\n';
    return total;
}

/* Removes what was written so far, but never a device or a pipe. */
static void remove_part(const char *path)
{
    struct stat attributes;
    if (lstat(path, &attributes) == 0 && S_ISREG(attributes.st_mode))
        unlink(path);
}

enum status npy_write(const char *path, enum npy_type type, const int64_t *shape, int n_dims, const void *data,
                      struct error *err)
{
    unsigned char header[HEADER_BYTES];
    size_t        n = 1;
    if (n_dims < 1 || n_dims > 2)
        return error_set(err, STATUS_USAGE, "%s: %d dimensions, expected 1 or 2", path, n_dims);
    for (int i = 0; i < n_dims; i++) {
        if (shape[i] < 0 || __builtin_mul_overflow(n, (size_t)shape[i], &n) || n > SIZE_MAX / 4)
            return error_set(err, STATUS_USAGE, "%s: extent %d is %lld, which is negative or makes the array too large",
                             path, i, (long long)shape[i]);
    }

    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return error_set(err, STATUS_BOOKS, "%s: cannot be written: %s", path, strerror(errno));
    size_t n_header = make_header(header, type, shape, n_dims);
    bool   written = fwrite(header, 1, n_header, file) == n_header && fwrite(data, 4, n, file) == n;
    int    cause = errno;
    if (fclose(file) != 0 && written) {
        written = false;
        cause = errno;
    }
    if (!written) {
        remove_part(path);
        return error_set(err, STATUS_BOOKS, "%s: cannot be written: %s", path, strerror(cause));
    }
    return STATUS_OK;
}

/* The header's text is a Python dictionary literal of three known keys; this reads it, in whatever order and spacing. */
struct header_text {
    const char *at;
    const char *name; /* of the file */
    struct error *err;
};

static enum status no_header(const struct header_text *text, const char *what)
{
    return error_set(text->err, STATUS_USAGE, "%s: its .npy header cannot be read: %s", text->name, what);
}

/* Steps over blanks and then over `c`, if that is what stands there. */
static bool take(struct header_text *text, char c)
{
    while (isspace((unsigned char)*text->at))
        text->at++;
    if (*text->at != c)
        return false;
    text->at++;
    return true;
}

/* A quoted text without escapes, of at most size - 1 bytes. */
static bool take_text(struct header_text *text, char *to, size_t size)
{
    char quote = take(text, '\'') ? '\'' : take(text, '"') ? '"' : '\0';
    if (!quote)
        return false;
    const char *end = strchr(text->at, quote);
    if (!end || (size_t)(end - text->at) >= size)
        return false;
    snprintf(to, size, "%.*s", (int)(end - text->at), text->at);
    text->at = end + 1;
    return true;
}

static bool take_word(struct header_text *text, const char *word)
{
    while (isspace((unsigned char)*text->at))
        text->at++;
    if (strncmp(text->at, word, strlen(word)) != 0)
        return false;
    text->at += strlen(word);
    return true;
}

/* (), (3,), (3, 4) */
static enum status read_shape(struct header_text *text, struct npy_header *header)
{
    header->n_dims = 0;
    if (!take(text, '('))
        return no_header(text, "'shape' is no tuple");
    while (!take(text, ')')) {
        char *end;
        if (header->n_dims == NPY_MAX_DIMS)
            return no_header(text, "more than 8 dimensions");
        errno = 0;
        long long extent = isdigit((unsigned char)*text->at) ? strtoll(text->at, &end, 10) : -1;
        if (extent < 0 || errno)
            return no_header(text, "an extent of 'shape' is no number of at least 0");
        header->shape[header->n_dims++] = extent;
        text->at = end + (*end == 'L'); /* as Python 2 wrote them */
        if (!take(text, ',') && *text->at != ')')
            return no_header(text, "'shape' is no tuple");
    }
    return STATUS_OK;
}

/* "<f4", "|u1", ">i8", "=f4" */
static enum status read_type(struct header_text *text, struct npy_header *header)
{
    char type[sizeof header->type + 1];
    if (take(text, '['))
        return no_header(text, "its elements are structures; a plain array of numbers is needed");
    if (!take_text(text, type, sizeof type) || !strchr("<>|=", type[0]) || !type[0] || !isalpha((unsigned char)type[1]))
        return no_header(text, "'descr' is no type such as '<f4'");
    if (type[1] == 'O')
        return no_header(text, "its elements are Python objects; a plain array of numbers is needed");
    header->is_big_endian = type[0] == '>';
    snprintf(header->type, sizeof header->type, "%s", type + 1);
    return STATUS_OK;
}

static enum status read_dictionary(struct header_text *text, struct npy_header *header)
{
    bool has_type = false, has_order = false, has_shape = false;
    if (!take(text, '{'))
        return no_header(text, "no '{' at its beginning");
    while (!take(text, '}')) {
        char key[32];
        if (!take_text(text, key, sizeof key) || !take(text, ':'))
            return no_header(text, "a quoted key and a colon are expected");
        bool is_type = strcmp(key, "descr") == 0, is_order = strcmp(key, "fortran_order") == 0;
        if ((is_type && has_type) || (is_order && has_order) || (!is_type && !is_order && has_shape))
            return no_header(text, "a key stands there twice");
        if (is_type && read_type(text, header))
            return text->err->status;
        if (is_order) {
            header->is_fortran = take_word(text, "True");
            if (!header->is_fortran && !take_word(text, "False"))
                return no_header(text, "'fortran_order' is neither True nor False");
        }
        if (!is_type && !is_order && (strcmp(key, "shape") != 0 ? no_header(text, "a key other than descr, fortran_order, shape")
                                                               : read_shape(text, header)))
            return text->err->status;
        has_type |= is_type;
        has_order |= is_order;
        has_shape |= !is_type && !is_order;
        if (!take(text, ',') && *text->at != '}')
            return no_header(text, "a comma or '}' is expected");
    }
    return has_type && has_order && has_shape ? STATUS_OK : no_header(text, "it lacks descr, fortran_order or shape");
}

enum status npy_read_header(const char *name, const unsigned char *bytes, size_t n, struct npy_header *header,
                            struct error *err)
{
    char               copy[NPY_MAX_HEADER + 1];
    struct header_text text = {.at = copy, .name = name, .err = err};
    memset(header, 0, sizeof *header);
    if (n < PREAMBLE_BYTES + 2 || memcmp(bytes, "\x93NUMPY", 6) != 0)
        return error_set(err, STATUS_USAGE, "%s: no .npy file: it does not begin with NumPy's mark", name);
    if (bytes[6] < 1 || bytes[6] > 3)
        return error_set(err, STATUS_USAGE, "%s: .npy version %d; 1, 2 and 3 are read", name, bytes[6]);
    size_t preamble = bytes[6] == 1 ? PREAMBLE_BYTES : PREAMBLE_BYTES + 2;
    size_t length = bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1)
        length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (length > NPY_MAX_HEADER)
        return error_set(err, STATUS_USAGE, "%s: its .npy header has %zu bytes; at most %d are read", name, length,
                         NPY_MAX_HEADER);
    if (preamble + length > n)
        return error_set(err, STATUS_USAGE, "%s: cut short: it ends within its .npy header", name);
    memcpy(copy, bytes + preamble, length);
    copy[length] = '\0';
    header->data = preamble + length;
    return read_dictionary(&text, header);
}
