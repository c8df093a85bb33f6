/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generator `captured`: inputs that were captured from a model, stored beside the registry and addressed by their digest
 * (see captured.h; `topkcts import` makes them). Width, strides and page table are as they were, unless a layout
 * parameter asks for others. The only code that talks to libzstd.
 */
#include "cases/captured.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "cases/generator.h"
#include "cases/safetensors.h"

/* Beyond this a higher level costs seconds and saves little. */
#define COMPRESSION_LEVEL 9

enum captured_param { PARAM_CONTENTS };

static const struct case_param_spec params[] = {
    {.name     = "contents",
     .is_text  = true,
     .fallback = "",
     .meaning  = "digest of the captured contents, which topkcts import stores"},
    {.name = NULL},
};

/* What stands in the contents, and where. */
struct captured_view {
    struct safetensors              header;
    int64_t                         data; /* bytes before the first tensor */
    const struct safetensors_entry *scores;
    const struct safetensors_entry *seq_lens;
    const struct safetensors_entry *page_table; /* NULL: none */
    int32_t                         max_seq_len;
};

int captured_path(const char *folder, const char *digest, char *path, size_t path_size, char *err, size_t err_size)
{
    if (strlen(digest) != CAPTURED_DIGEST || strspn(digest, "0123456789abcdef") != CAPTURED_DIGEST) {
        snprintf(err, err_size, "parameter contents: '%.60s' is no digest of 32 hex digits; topkcts import writes it",
                 digest);
        return 1;
    }
    if (folder == NULL) {
        snprintf(err, err_size, "parameter contents: there is no folder of captured contents here");
        return 1;
    }
    if (snprintf(path, path_size, "%s/%s" CAPTURED_SUFFIX, folder, digest) >= (int)path_size) {
        snprintf(err, err_size, "%s: the path is too long", folder);
        return 1;
    }
    return 0;
}

/* Decompresses up to *size bytes into `out`; *size becomes what there was. `whole`: the frame must end there. */
static int decompress(FILE *file, ZSTD_DStream *stream, unsigned char *out, size_t *size, bool whole, char *err,
                      size_t err_size)
{
    static const size_t BLOCK = 1 << 16;
    unsigned char      *block = malloc(BLOCK);
    ZSTD_outBuffer      to    = {.dst = out, .size = *size};
    size_t              left  = 1; /* of the frame: 0 at its end */
    int                 rc    = 1;
    if (block == NULL) {
        snprintf(err, err_size, "no memory to decompress it");
        return 1;
    }
    while (left != 0 && (to.pos < to.size || whole)) {
        ZSTD_inBuffer from = {.src = block, .size = fread(block, 1, BLOCK, file)};
        if (from.size == 0) {
            snprintf(err, err_size, ferror(file) != 0 ? "it cannot be read: %s" : "it ends too early; restore the file",
                     strerror(errno));
            goto done;
        }
        while (left != 0 && from.pos < from.size && (to.pos < to.size || whole)) {
            const size_t taken   = from.pos;
            const size_t written = to.pos;
            left                 = ZSTD_decompressStream(stream, &to, &from);
            if (ZSTD_isError(left) != 0) {
                snprintf(err, err_size, "it is damaged: %s; restore the file", ZSTD_getErrorName(left));
                goto done;
            }
            if (from.pos == taken && to.pos == written) {
                snprintf(err, err_size, "it holds more than the %zu bytes that are accepted", to.size);
                goto done;
            }
        }
    }
    *size = to.pos;
    rc    = 0;
done:
    free(block);
    return rc;
}

unsigned char *captured_read(const char *path, size_t most, size_t *size, char *err, size_t err_size)
{
    const size_t   bound  = (size_t)GIVEN_MAX_BYTES + SAFETENSORS_MAX_HEADER;
    FILE          *file   = fopen(path, "rb");
    ZSTD_DStream  *stream = ZSTD_createDStream();
    unsigned char *out    = NULL;
    char           cause[256];
    const bool     whole = most > bound;
    if (file == NULL || stream == NULL) {
        snprintf(err, err_size, "captured contents %s: cannot be read: %s", path, strerror(errno));
        goto done;
    }
    /* What the frame says of its size bounds the memory that is asked for; what does not fit it is found on the way. */
    unsigned char            head[18] = {0};
    const size_t             n_head   = fread(head, 1, sizeof head, file);
    const unsigned long long announced = ZSTD_getFrameContentSize(head, n_head);
    rewind(file);
    if (announced == ZSTD_CONTENTSIZE_ERROR || announced == ZSTD_CONTENTSIZE_UNKNOWN || announced > bound) {
        snprintf(err, err_size, "captured contents %s: no zstd frame of at most %zu bytes; restore the file", path, bound);
        goto done;
    }
    *size = (size_t)announced < most ? (size_t)announced : most;
    out   = malloc(*size + 1);
    if (out == NULL) {
        snprintf(err, err_size, "captured contents %s: no memory for %zu bytes", path, *size);
        goto done;
    }
    if (decompress(file, stream, out, size, whole, cause, sizeof cause) != 0) {
        snprintf(err, err_size, "captured contents %s: %s", path, cause);
        free(out);
        out = NULL;
    }
done:
    ZSTD_freeDStream(stream);
    if (file != NULL) {
        fclose(file);
    }
    return out;
}

unsigned char *captured_pack(const unsigned char *file, size_t size, size_t *packed_size, char *err, size_t err_size)
{
    ZSTD_CCtx     *context = ZSTD_createCCtx();
    const size_t   bound   = ZSTD_compressBound(size);
    unsigned char *packed  = malloc(bound);
    if (context != NULL && packed != NULL) {
        ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
        ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
        *packed_size = ZSTD_compress2(context, packed, bound, file, size);
    }
    if (context == NULL || packed == NULL || ZSTD_isError(*packed_size) != 0) {
        snprintf(err, err_size, "the captured contents cannot be compressed: %s",
                 context == NULL || packed == NULL ? "no memory" : ZSTD_getErrorName(*packed_size));
        free(packed);
        packed = NULL;
    }
    ZSTD_freeCCtx(context);
    return packed;
}

/* Whether an entry is of this type and shape, and its bytes are there; columns < 0: any. */
static bool is_array(const struct safetensors_entry *entry, const char *type, int n_dims, int64_t rows, int64_t data_bytes)
{
    int64_t bytes = 4;
    if (entry == NULL || strcmp(entry->type, type) != 0 || entry->n_dims != n_dims || entry->shape[0] != rows ||
        entry->end > data_bytes) {
        return false;
    }
    for (int d = 0; d < n_dims; d++) {
        if (__builtin_mul_overflow(bytes, entry->shape[d], &bytes)) {
            return false;
        }
    }
    return bytes == entry->end - entry->begin;
}

/* Reads the header and finds the three arrays. */
static int view_contents(struct captured_view *view, const unsigned char *file, size_t size, char *err, size_t err_size)
{
    int64_t length = 0;
    memset(view, 0, sizeof *view);
    if (size < SAFETENSORS_PREFIX || safetensors_header_length(file, &length, err, err_size) != 0 ||
        (size_t)length > size - SAFETENSORS_PREFIX ||
        safetensors_read((const char *)file + SAFETENSORS_PREFIX, (size_t)length, &view->header, err, err_size) != 0) {
        return 1;
    }
    const char *width   = safetensors_metadata(&view->header, "max_seq_len");
    view->data          = SAFETENSORS_PREFIX + length;
    view->scores        = safetensors_find(&view->header, "scores");
    view->seq_lens      = safetensors_find(&view->header, "seq_lens");
    view->page_table    = safetensors_find(&view->header, "page_table");
    const int64_t rows  = view->seq_lens != NULL && view->seq_lens->n_dims == 1 ? view->seq_lens->shape[0] : 0;
    char         *end   = NULL;
    const long    value = width != NULL ? strtol(width, &end, 10) : -1;
    view->max_seq_len   = (int32_t)value;
    if (rows < 1 || rows > INT32_MAX || value < 0 || value > INT32_MAX || (end != NULL && *end != '\0') ||
        !is_array(view->seq_lens, "I32", 1, rows, INT64_MAX) || !is_array(view->scores, "F32", 2, rows, INT64_MAX) ||
        (view->page_table != NULL && !is_array(view->page_table, "I32", 2, rows, INT64_MAX)) ||
        view->scores->shape[1] < value || view->scores->end > GIVEN_MAX_BYTES) {
        snprintf(err, err_size, "seq_lens, scores, page_table or max_seq_len are missing or do not fit each other");
        return 1;
    }
    return 0;
}

static int read_shape(const struct captured_view *view, const unsigned char *file, struct given_inputs *out, char *err,
                      size_t err_size)
{
    const unsigned char *lengths = file + view->data + view->seq_lens->begin;
    if (given_init(out, (int32_t)view->seq_lens->shape[0], err, err_size) != 0) {
        return 1;
    }
    out->max_seq_len       = view->max_seq_len;
    out->score_stride      = view->scores->shape[1];
    out->page_table_stride = view->page_table != NULL ? view->page_table->shape[1] : 0;
    for (int32_t i = 0; i < out->n_rows; i++) {
        struct given_row *row = &out->rows[i];
        memcpy(&row->told, lengths + (size_t)i * sizeof row->told, sizeof row->told);
        row->length     = row->told < 0 ? 0 : row->told > view->max_seq_len ? view->max_seq_len : row->told;
        row->columns    = view->scores->shape[1];
        row->first      = (int64_t)i * row->columns;
        row->pages      = view->page_table != NULL ? view->page_table->shape[1] : 0;
        row->first_page = (int64_t)i * row->pages;
    }
    return 0;
}

static int copy_contents(const struct captured_view *view, const unsigned char *file, struct given_inputs *out, char *err,
                         size_t err_size)
{
    const size_t score_bytes = (size_t)(view->scores->end - view->scores->begin);
    const size_t table_bytes =
        view->page_table != NULL ? (size_t)(view->page_table->end - view->page_table->begin) : 0;
    out->scores     = malloc(score_bytes + 1);
    out->page_table = malloc(table_bytes + 1);
    if (out->scores == NULL || out->page_table == NULL) {
        snprintf(err, err_size, "no memory for the captured contents");
        return 1;
    }
    memcpy(out->scores, file + view->data + view->scores->begin, score_bytes);
    if (table_bytes > 0) {
        memcpy(out->page_table, file + view->data + view->page_table->begin, table_bytes);
    }
    return 0;
}

/* For the shape alone the file's first bytes do, unless there are very many rows. */
static int give(const struct case_spec *spec, bool with_contents, struct given_inputs *out, char *err, size_t err_size)
{
    static const size_t  SHAPE_BYTES = 1 << 16;
    char                 path[PATH_MAX];
    char                 cause[256] = "it is cut short";
    size_t               size       = 0;
    int                  rc         = 1;
    bool                 fits       = false;
    struct captured_view view       = {0};
    if (captured_path(spec->captured, given_param(spec, &params[PARAM_CONTENTS]), path, sizeof path, err, err_size) != 0) {
        return 1;
    }
    for (int attempt = with_contents ? 1 : 0; attempt < 2 && !fits; attempt++) {
        safetensors_clear(&view.header);
        unsigned char *file = captured_read(path, attempt == 0 ? SHAPE_BYTES : SIZE_MAX, &size, err, err_size);
        if (file == NULL) {
            return 1;
        }
        if (view_contents(&view, file, size, cause, sizeof cause) == 0) {
            const int64_t needed = view.data + (with_contents ? view.scores->end : view.seq_lens->end);
            const int64_t table  = with_contents && view.page_table != NULL ? view.data + view.page_table->end : 0;
            fits                 = needed <= (int64_t)size && table <= (int64_t)size;
            rc                   = fits ? 0 : 1;
        }
        if (fits) {
            rc = read_shape(&view, file, out, cause, sizeof cause);
            rc = rc == 0 && with_contents ? copy_contents(&view, file, out, cause, sizeof cause) : rc;
        }
        free(file);
    }
    safetensors_clear(&view.header);
    if (rc != 0) {
        snprintf(err, err_size, "captured contents %s: %s", path, cause);
    }
    return rc;
}

const struct case_generator generator_captured = {
    .name      = "captured",
    .summary   = "scores, lengths and page tables as they were captured from a model",
    .uses_topk = false,
    .params    = params,
    .give      = give,
};
