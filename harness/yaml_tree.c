/* SPDX-License-Identifier: Apache-2.0 */
/* YAML files as trees; see yaml_tree.h. */
#include "harness/yaml_tree.h"

#include "harness/name_list.h"
#include "harness/regular_file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <yaml.h>

/* Deeper than any registry needs; also ends documents whose aliases refer to themselves. */
#define MAX_DEPTH 16
/* More than any registry file holds, aliases written out: ten lists of ten aliases each would otherwise fill the memory. */
#define MAX_NODES 200000
#define MAX_KEYS 1000 /* of one map; every key is compared with those before it */
#define MAX_BYTES ((off_t)4 << 20)

struct loading {
    yaml_document_t *document;
    struct arena    *arena;
    const char      *file;
    struct error    *err;
    size_t          *n_nodes; /* converted so far */
};

enum status yaml_error(const struct yaml_node *node, struct error *err, const char *format, ...)
{
    char    message[768];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return error_set(err, STATUS_USAGE, "%s:%d: %s%s%s", node->file, node->line, node->key ? node->key : "",
                     node->key ? ": " : "", message);
}

enum status yaml_error_at(const struct yaml_node *node, struct error *err)
{
    if (node->key)
        return error_prefix(err, "%s:%d: %s", node->file, node->line, node->key);
    return error_prefix(err, "%s:%d", node->file, node->line);
}

static enum status convert(const struct loading *loading, int id, int depth, struct yaml_node *out);

static enum status convert_list(const struct loading *loading, const yaml_node_t *from, int depth,
                                struct yaml_node *out)
{
    out->kind = YAML_LIST;
    out->n_items = (size_t)(from->data.sequence.items.top - from->data.sequence.items.start);
    out->items = arena_alloc(loading->arena, (out->n_items + 1) * sizeof *out->items);
    for (size_t i = 0; i < out->n_items; i++)
        if (convert(loading, from->data.sequence.items.start[i], depth + 1, &out->items[i]))
            return loading->err->status;
    return STATUS_OK;
}

static enum status convert_map(const struct loading *loading, const yaml_node_t *from, int depth,
                               struct yaml_node *out)
{
    out->kind = YAML_MAP;
    out->n_items = (size_t)(from->data.mapping.pairs.top - from->data.mapping.pairs.start);
    if (out->n_items > MAX_KEYS)
        return error_set(loading->err, STATUS_USAGE, "%s:%d: a map of more than %d keys", out->file, out->line, MAX_KEYS);
    out->items = arena_alloc(loading->arena, (out->n_items + 1) * sizeof *out->items);
    for (size_t i = 0; i < out->n_items; i++) {
        const yaml_node_pair_t *pair = &from->data.mapping.pairs.start[i];
        const yaml_node_t      *key = yaml_document_get_node(loading->document, pair->key);
        int                     line = (int)key->start_mark.line + 1;
        if (key->type != YAML_SCALAR_NODE || memchr(key->data.scalar.value, '\0', key->data.scalar.length))
            return error_set(loading->err, STATUS_USAGE, "%s:%d: a key must be a plain word", loading->file, line);
        const char *text = arena_text(loading->arena, (const char *)key->data.scalar.value);
        for (size_t j = 0; j < i; j++)
            if (strcmp(out->items[j].key, text) == 0)
                return error_set(loading->err, STATUS_USAGE, "%s:%d: key '%s' stands here twice, first in line %d",
                                 loading->file, line, text, out->items[j].line);
        if (convert(loading, pair->value, depth + 1, &out->items[i]))
            return loading->err->status;
        out->items[i].key = text;
        out->items[i].line = line;
    }
    return STATUS_OK;
}

static enum status convert(const struct loading *loading, int id, int depth, struct yaml_node *out)
{
    const yaml_node_t *from = yaml_document_get_node(loading->document, id);
    out->file = loading->file;
    out->line = (int)from->start_mark.line + 1;
    if (depth > MAX_DEPTH)
        return error_set(loading->err, STATUS_USAGE, "%s:%d: nested more than %d deep", out->file, out->line,
                         MAX_DEPTH);
    if (++*loading->n_nodes > MAX_NODES)
        return error_set(loading->err, STATUS_USAGE, "%s:%d: more than %d values, aliases (*name) written out", out->file,
                         out->line, MAX_NODES);
    switch (from->type) {
    case YAML_SCALAR_NODE:
        if (memchr(from->data.scalar.value, '\0', from->data.scalar.length))
            return error_set(loading->err, STATUS_USAGE, "%s:%d: a text with a NUL in it", out->file, out->line);
        out->kind = YAML_SCALAR;
        out->text = arena_text(loading->arena, (const char *)from->data.scalar.value);
        out->plain = from->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        return STATUS_OK;
    case YAML_SEQUENCE_NODE:
        return convert_list(loading, from, depth, out);
    case YAML_MAPPING_NODE:
        return convert_map(loading, from, depth, out);
    default:
        return error_set(loading->err, STATUS_USAGE, "%s:%d: an empty node", out->file, out->line);
    }
}

static enum status cannot_parse(const char *path, const yaml_parser_t *parser, struct error *err)
{
    size_t line = parser->problem_mark.line + 1;
    if (parser->error == YAML_READER_ERROR) /* knows the byte, not the line */
        return error_set(err, STATUS_USAGE, "%s: not YAML: %s (byte %zu of the file); UTF-8 is accepted", path,
                         parser->problem ? parser->problem : "it cannot be read", parser->problem_offset);
    return error_set(err, STATUS_USAGE, "%s:%zu: not YAML: %s", path, line,
                     parser->problem ? parser->problem : "it cannot be read");
}

/* Opens a registry file and refuses one of a size that none has. */
static enum status open_bounded(const char *path, FILE **file, struct error *err)
{
    struct stat attributes;
    if (regular_file_open(path, file, err))
        return err->status;
    if (fstat(fileno(*file), &attributes) == 0 && attributes.st_size > MAX_BYTES) {
        fclose(*file);
        *file = NULL;
        return error_set(err, STATUS_USAGE, "%s: %lld bytes; a registry file has at most %lld", path,
                         (long long)attributes.st_size, (long long)MAX_BYTES);
    }
    return STATUS_OK;
}

static enum status look_at_event(const char *path, const yaml_event_t *event, int *depth, int *n_documents,
                                 struct error *err)
{
    size_t line = event->start_mark.line + 1;
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (++*n_documents > 1)
            return error_set(err, STATUS_USAGE, "%s:%zu: a second document begins ('---'); a registry file is one document",
                             path, line);
        return STATUS_OK;
    case YAML_SEQUENCE_START_EVENT:
    case YAML_MAPPING_START_EVENT:
        if (++*depth > MAX_DEPTH)
            return error_set(err, STATUS_USAGE, "%s:%zu: nested more than %d deep", path, line, MAX_DEPTH);
        return STATUS_OK;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        --*depth;
        return STATUS_OK;
    default:
        return STATUS_OK;
    }
}

/* Reads through the file once without keeping anything. Libyaml's time grows with the square of the depth, and its
 * loader takes the first document and leaves the rest without a word; so both are looked for here. */
static enum status check_shape(const char *path, FILE *file, struct error *err)
{
    yaml_parser_t parser;
    int           depth = 0, n_documents = 0;
    bool          at_end = false;
    if (!yaml_parser_initialize(&parser))
        return error_no_memory(err);
    yaml_parser_set_input_file(&parser, file);
    while (!at_end && !err->status) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            cannot_parse(path, &parser, err);
            break;
        }
        at_end = event.type == YAML_STREAM_END_EVENT;
        look_at_event(path, &event, &depth, &n_documents, err);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    rewind(file);
    return err->status;
}

enum status yaml_load(const char *path, struct arena *arena, struct yaml_node **root, struct error *err)
{
    yaml_parser_t   parser;
    yaml_document_t document;
    bool            have_document = false;
    size_t          n_nodes = 0;
    FILE           *file;
    if (open_bounded(path, &file, err))
        return err->status;
    if (check_shape(path, file, err) || !yaml_parser_initialize(&parser)) {
        fclose(file);
        return error_no_memory(err); /* unless the shape is to blame, which was recorded first */
    }
    yaml_parser_set_input_file(&parser, file);
    if (!yaml_parser_load(&parser, &document)) {
        cannot_parse(path, &parser, err);
        goto done;
    }
    have_document = true;
    const yaml_node_t *top = yaml_document_get_root_node(&document);
    if (!top) {
        error_set(err, STATUS_USAGE, "%s:1: the file is empty; an empty list is written []", path);
        goto done;
    }
    struct loading loading = {&document, arena, arena_text(arena, path), err, &n_nodes};
    *root = arena_alloc(arena, sizeof **root);
    convert(&loading, 1, 0, *root);
done:
    if (have_document)
        yaml_document_delete(&document);
    yaml_parser_delete(&parser);
    fclose(file);
    return err->status;
}

enum status yaml_load_list(const char *path, struct arena *arena, struct yaml_node **list, struct error *err)
{
    return yaml_load(path, arena, list, err) ? err->status : yaml_check_kind(*list, YAML_LIST, "the file", err);
}

const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key)
{
    for (size_t i = 0; i < map->n_items; i++)
        if (map->items[i].key && strcmp(map->items[i].key, key) == 0)
            return &map->items[i];
    return NULL;
}

enum status yaml_check_kind(const struct yaml_node *node, enum yaml_kind kind, const char *what, struct error *err)
{
    static const char *const names[] = {"a single value", "a list", "a map of keys to values"};
    if (node->kind != kind)
        return yaml_error(node, err, "%s must be %s, this is %s", what, names[kind], names[node->kind]);
    return STATUS_OK;
}

enum status yaml_check_keys(const struct yaml_node *map, const char *what, const char *const *accepted,
                            size_t n_required, struct error *err)
{
    if (yaml_check_kind(map, YAML_MAP, what, err))
        return err->status;
    struct name_list names = {0};
    for (size_t i = 0; accepted[i]; i++)
        name_list_add(&names, "%s", accepted[i]);
    for (size_t i = 0; i < map->n_items; i++) {
        size_t k = 0;
        while (accepted[k] && strcmp(accepted[k], map->items[i].key) != 0)
            k++;
        if (!accepted[k])
            return error_set(err, STATUS_USAGE, "%s:%d: unknown key '%s' in a %s; accepted are %s", map->file,
                             map->items[i].line, map->items[i].key, what, names.text);
    }
    for (size_t k = 0; k < n_required && accepted[k]; k++)
        if (!yaml_get(map, accepted[k]))
            return error_set(err, STATUS_USAGE, "%s:%d: this %s lacks the required key '%s'", map->file, map->line,
                             what, accepted[k]);
    return STATUS_OK;
}

enum status yaml_text(const struct yaml_node *node, const char **text, struct error *err)
{
    if (yaml_check_kind(node, YAML_SCALAR, "this", err))
        return err->status;
    if (!node->text[0])
        return yaml_error(node, err, "is empty");
    *text = node->text;
    return STATUS_OK;
}

enum status yaml_texts(const struct yaml_node *node, const char *what, struct arena *arena, const char *const **texts,
                       size_t *n, struct error *err)
{
    if (yaml_check_kind(node, YAML_LIST, what, err))
        return err->status;
    const char **read = arena_alloc(arena, (node->n_items + 1) * sizeof *read);
    for (size_t i = 0; i < node->n_items; i++)
        if (yaml_text(&node->items[i], &read[i], err))
            return err->status;
    *texts = read;
    *n = node->n_items;
    return STATUS_OK;
}

enum status yaml_choice(const struct yaml_node *node, const char *const *accepted, int *which, struct error *err)
{
    struct name_list names = {0};
    const char      *text = "";
    if (yaml_text(node, &text, err))
        return err->status;
    for (int i = 0; accepted[i]; i++) {
        if (strcmp(accepted[i], text) == 0) {
            *which = i;
            return STATUS_OK;
        }
        name_list_add(&names, "%s", accepted[i]);
    }
    return yaml_error(node, err, "'%s' is not among the accepted values: %s", text, names.text);
}

enum status yaml_number(const struct yaml_node *node, int64_t low, int64_t high, int64_t *number, struct error *err)
{
    if (yaml_check_kind(node, YAML_SCALAR, "this", err))
        return err->status;
    char *end;
    errno = 0;
    long long value = strtoll(node->text, &end, 10);
    if (!node->text[0] || *end || errno || !node->plain)
        return yaml_error(node, err, "'%s' is not a whole number", node->text);
    if (value < low || value > high)
        return yaml_error(node, err, "%lld is out of range: %lld to %lld is accepted", value, (long long)low,
                          (long long)high);
    *number = value;
    return STATUS_OK;
}

enum status yaml_flag(const struct yaml_node *node, bool *flag, struct error *err)
{
    if (yaml_check_kind(node, YAML_SCALAR, "this", err))
        return err->status;
    *flag = strcmp(node->text, "true") == 0;
    if (!*flag && strcmp(node->text, "false") != 0)
        return yaml_error(node, err, "'%s' is neither true nor false", node->text);
    return STATUS_OK;
}

enum status yaml_decimal(const struct yaml_node *node, double low, double high, double *number, struct error *err)
{
    if (yaml_check_kind(node, YAML_SCALAR, "this", err))
        return err->status;
    size_t whole = strspn(node->text, "0123456789"), point = node->text[whole] == '.';
    size_t behind = point ? strspn(node->text + whole + 1, "0123456789") : 0;
    if (whole == 0 || whole > 9 || behind > 9 || (point && behind == 0) || node->text[whole + point + behind] || !node->plain)
        return yaml_error(node, err, "'%s' is not a decimal number such as 2.5", node->text);
    /* Digit by digit: strtod minds the locale. */
    double value = 0, scale = 1;
    for (size_t i = 0; i < whole + point + behind; i++)
        if (node->text[i] != '.') {
            value = value * 10 + (node->text[i] - '0');
            scale *= i > whole ? 10 : 1;
        }
    value /= scale;
    if (value < low || value > high)
        return yaml_error(node, err, "%s is out of range: %g to %g is accepted", node->text, low, high);
    *number = value;
    return STATUS_OK;
}

enum status yaml_date(const struct yaml_node *node, const char **date, struct error *err)
{
    static const char form[] = "dddd-dd-dd";
    struct tm         day = {0};
    bool              well_formed;
    if (yaml_text(node, date, err))
        return err->status;
    well_formed = strlen(*date) == sizeof form - 1;
    for (size_t i = 0; well_formed && i < sizeof form - 1; i++)
        well_formed = form[i] == 'd' ? (*date)[i] >= '0' && (*date)[i] <= '9' : (*date)[i] == form[i];
    if (well_formed) {
        int year = atoi(*date), month = atoi(*date + 5), of_month = atoi(*date + 8);
        day = (struct tm){.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = of_month};
        timegm(&day); /* 31 February becomes a day in March */
        well_formed = day.tm_year == year - 1900 && day.tm_mon == month - 1 && day.tm_mday == of_month;
    }
    return well_formed ? STATUS_OK : yaml_error(node, err, "'%s' is no date; write it like 2027-01-31", *date);
}

void yaml_today(char date[16])
{
    time_t    now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(date, 16, "%Y-%m-%d", &utc);
}
