/* SPDX-License-Identifier: Apache-2.0 */
/* Families as YAML; see family_write.h. */
#include "harness/family_write.h"

#include "harness/whole_file.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

enum { LINE_WIDTH = 118 };

struct writing {
    yaml_emitter_t emitter;
    bool           failed;
};

static void emit(struct writing *writing, int made, yaml_event_t *event)
{
    if (!made || writing->failed)
        writing->failed = true;
    else if (!yaml_emitter_emit(&writing->emitter, event)) /* which takes the event in either case */
        writing->failed = true;
}

static void put(struct writing *writing, const char *text, yaml_scalar_style_t style)
{
    yaml_event_t event;
    emit(writing, yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text, (int)strlen(text), 1, 1, style),
         &event);
}

static void put_text(struct writing *writing, const char *text)
{
    put(writing, text, YAML_ANY_SCALAR_STYLE);
}

static void put_number(struct writing *writing, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)number);
    put(writing, text, YAML_PLAIN_SCALAR_STYLE);
}

static void begin_map(struct writing *writing, bool in_line)
{
    yaml_event_t event;
    emit(writing, yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
                                                      in_line ? YAML_FLOW_MAPPING_STYLE : YAML_BLOCK_MAPPING_STYLE),
         &event);
}

static void end_map(struct writing *writing)
{
    yaml_event_t event;
    emit(writing, yaml_mapping_end_event_initialize(&event), &event);
}

static void begin_list(struct writing *writing, bool in_line)
{
    yaml_event_t event;
    emit(writing, yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
                                                       in_line ? YAML_FLOW_SEQUENCE_STYLE : YAML_BLOCK_SEQUENCE_STYLE),
         &event);
}

static void end_list(struct writing *writing)
{
    yaml_event_t event;
    emit(writing, yaml_sequence_end_event_initialize(&event), &event);
}

static void put_pair(struct writing *writing, const char *key, const char *text)
{
    if (!text)
        return;
    put_text(writing, key);
    put_text(writing, text);
}

/* Pieces of a text as a list. */
static void put_pieces(struct writing *writing, const char *text, char separator, bool in_line, yaml_scalar_style_t style)
{
    begin_list(writing, in_line);
    for (const char *at = text; at;) {
        const char *end = strchr(at, separator);
        char       *piece = strndup(at, end ? (size_t)(end - at) : strlen(at));
        if (piece)
            put(writing, piece, style);
        writing->failed |= !piece;
        free(piece);
        at = end ? end + 1 : NULL;
    }
    end_list(writing);
}

/* Rows of literal inputs stand one below the other; numbers and words need no quotes. */
static void put_params(struct writing *writing, const struct case_param *params, size_t n, bool in_line)
{
    for (size_t i = 0; i < n; i++) {
        bool is_row = strpbrk(params[i].text, " ,|\n") != NULL;
        put_text(writing, params[i].name);
        if (strchr(params[i].text, '\n'))
            put_pieces(writing, params[i].text, '\n', in_line, YAML_DOUBLE_QUOTED_SCALAR_STYLE);
        else
            put(writing, params[i].text, is_row ? YAML_DOUBLE_QUOTED_SCALAR_STYLE : YAML_ANY_SCALAR_STYLE);
    }
}

static void put_list_of_number(struct writing *writing, const char *key, int32_t number)
{
    put_text(writing, key);
    begin_list(writing, true);
    put_number(writing, number);
    end_list(writing);
}

static void put_steps(struct writing *writing, const struct family_entry *entry)
{
    put_text(writing, "sequence");
    begin_list(writing, false);
    for (size_t s = 0; s < entry->n_steps; s++) {
        const struct family_entry_step *step = &entry->steps[s];
        begin_map(writing, true);
        if (step->topk) {
            put_text(writing, "topk");
            put_number(writing, step->topk);
        }
        if (step->page_size) {
            put_text(writing, "page_size");
            put_number(writing, step->page_size);
        }
        put_params(writing, step->params, step->n_params, true);
        end_map(writing);
    }
    end_list(writing);
}

static void put_promises(struct writing *writing, const struct family_entry *entry)
{
    put_text(writing, "requires");
    begin_map(writing, true);
    for (size_t p = 0; p < entry->n_promises; p++) {
        put_text(writing, entry->promises[p].name);
        put_pieces(writing, entry->promises[p].text, ' ', true, YAML_ANY_SCALAR_STYLE);
    }
    end_map(writing);
}

static void put_family(struct writing *writing, const struct family_entry *entry)
{
    begin_map(writing, false);
    put_pair(writing, "id", entry->id);
    put_pair(writing, "summary", entry->summary);
    put_pair(writing, "fault", entry->fault);
    put_pair(writing, "source", entry->source);
    if (entry->n_origin) {
        put_text(writing, "captured_from");
        begin_map(writing, true);
        for (size_t i = 0; i < entry->n_origin; i++)
            put_pair(writing, entry->origin[i].name, entry->origin[i].text);
        end_map(writing);
    }
    put_pair(writing, "generator", entry->generator);
    if (entry->n_params) {
        put_text(writing, "params");
        begin_map(writing, false);
        put_params(writing, entry->params, entry->n_params, false);
        end_map(writing);
    }
    if (entry->n_promises)
        put_promises(writing, entry);
    if (entry->n_steps)
        put_steps(writing, entry);
    put_text(writing, "matrix");
    begin_map(writing, true);
    put_list_of_number(writing, "topk", entry->topk);
    put_list_of_number(writing, "page_size", entry->page_size);
    put_text(writing, "outputs");
    begin_list(writing, true);
    put_text(writing, entry->outputs);
    end_list(writing);
    end_map(writing);
    if (entry->launches) {
        put_text(writing, "launches");
        put_number(writing, entry->launches);
    }
    if (entry->suite) {
        put_text(writing, "suites");
        begin_map(writing, true);
        put_pair(writing, entry->suite, "all");
        end_map(writing);
    }
    end_map(writing);
}

char *family_entry_text(const struct family_entry *entry, struct error *err)
{
    struct writing writing = {.failed = false};
    yaml_event_t   event;
    char          *text = NULL;
    size_t         size = 0;
    FILE          *file = open_memstream(&text, &size);
    if (!file || !yaml_emitter_initialize(&writing.emitter)) {
        if (file)
            fclose(file);
        free(text);
        error_no_memory(err);
        return NULL;
    }
    for (const char *line = entry->comment; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        fprintf(file, "# %.*s\n", (int)strcspn(line, "\n"), line);
    yaml_emitter_set_output_file(&writing.emitter, file);
    yaml_emitter_set_width(&writing.emitter, LINE_WIDTH);
    yaml_emitter_set_unicode(&writing.emitter, 1);
    emit(&writing, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING), &event);
    emit(&writing, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1), &event);
    begin_list(&writing, false);
    put_family(&writing, entry);
    end_list(&writing);
    emit(&writing, yaml_document_end_event_initialize(&event, 1), &event);
    emit(&writing, yaml_stream_end_event_initialize(&event), &event);
    yaml_emitter_delete(&writing.emitter);
    if (fclose(file) != 0 || writing.failed) {
        free(text);
        error_set(err, STATUS_BOOKS, "the entry of family '%s' cannot be put as YAML", entry->id);
        return NULL;
    }
    return text;
}

static int is_yaml(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return entry->d_name[0] != '.' && dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

enum status family_entry_path(const char *registry, const char *id, char *path, size_t size, struct error *err)
{
    struct stat     attributes;
    struct dirent **found = NULL;
    if (snprintf(path, size, "%s/cases", registry) >= (int)size)
        return error_set(err, STATUS_BOOKS, "%s: the path is too long", registry);
    bool has_cases = stat(path, &attributes) == 0 && S_ISDIR(attributes.st_mode);
    int  n = has_cases ? 0 : scandir(registry, &found, is_yaml, NULL);
    for (int i = 0; i < n; i++)
        free(found[i]);
    free(found);
    if (!has_cases && n <= 0 && whole_file_folder(path, err))
        return err->status;
    if (snprintf(path, size, n > 0 ? "%s/%s.yaml" : "%s/cases/%s.yaml", registry, id) >= (int)size)
        return error_set(err, STATUS_BOOKS, "%s: the path is too long", registry);
    return STATUS_OK;
}
