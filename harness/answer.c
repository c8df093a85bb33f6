/* SPDX-License-Identifier: Apache-2.0 */
/* Answers in four forms; see answer.h. */
#include "harness/answer.h"

#include <stdlib.h>
#include <string.h>

enum status answer_add_row(void *payload, int n_columns, const char *const *names, const struct store_value *values,
                           struct error *err)
{
    struct answer *answer = payload;
    size_t         n = (size_t)n_columns;
    if (!values) {
        answer->n_columns = n;
        answer->names = arena_alloc(&answer->arena, n * sizeof *answer->names);
        for (size_t c = 0; c < n; c++)
            answer->names[c] = arena_text(&answer->arena, names[c]);
        return STATUS_OK;
    }
    if (answer->n_rows == answer->n_rows_held) {
        size_t              n_held = answer->n_rows_held ? answer->n_rows_held * 2 : 64;
        struct store_value *larger = realloc(answer->values, n_held * n * sizeof *larger);
        if (!larger)
            return error_no_memory(err);
        answer->values = larger;
        answer->n_rows_held = n_held;
    }
    for (size_t c = 0; c < n; c++) {
        struct store_value *value = &answer->values[answer->n_rows * n + c];
        *value = values[c];
        value->text = arena_text(&answer->arena, values[c].text);
    }
    answer->n_rows++;
    return STATUS_OK;
}

static const struct store_value *value_at(const struct answer *answer, size_t row, size_t column)
{
    return &answer->values[row * answer->n_columns + column];
}

/* Characters, not bytes: continuation bytes of UTF-8 take no column. */
static size_t width_of(const char *text)
{
    size_t n = 0;
    for (; text && *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static void print_padded(FILE *file, const char *text, size_t width, bool to_the_right, bool is_last)
{
    size_t blanks = width - width_of(text);
    if (to_the_right)
        fprintf(file, "%*s", (int)blanks, "");
    fputs(text ? text : "", file);
    if (!to_the_right && !is_last)
        fprintf(file, "%*s", (int)blanks, "");
    fputs(is_last ? "\n" : "  ", file);
}

void answer_print_table(const struct answer *answer, FILE *file)
{
    size_t  n = answer->n_columns;
    size_t *widths = calloc(n + 1, sizeof *widths);
    if (!widths)
        return;
    for (size_t c = 0; c < n; c++) {
        widths[c] = width_of(answer->names[c]);
        for (size_t r = 0; r < answer->n_rows; r++) {
            size_t width = width_of(value_at(answer, r, c)->text);
            widths[c] = width > widths[c] ? width : widths[c];
        }
    }
    for (size_t c = 0; c < n; c++) {
        bool is_number = answer->n_rows > 0 && value_at(answer, 0, c)->kind != STORE_VALUE_TEXT &&
                         value_at(answer, 0, c)->kind != STORE_VALUE_NULL;
        print_padded(file, answer->names[c], widths[c], is_number, c + 1 == n);
    }
    for (size_t r = 0; r < answer->n_rows; r++)
        for (size_t c = 0; c < n; c++) {
            const struct store_value *value = value_at(answer, r, c);
            print_padded(file, value->text, widths[c],
                         value->kind == STORE_VALUE_INTEGER || value->kind == STORE_VALUE_REAL, c + 1 == n);
        }
    free(widths);
}

static void print_csv_field(FILE *file, const char *text)
{
    if (!text || !strpbrk(text, ",\"\r\n")) {
        fputs(text ? text : "", file);
        return;
    }
    fputc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

void answer_print_csv(const struct answer *answer, FILE *file)
{
    for (size_t c = 0; c < answer->n_columns; c++) {
        fputs(c ? "," : "", file);
        print_csv_field(file, answer->names[c]);
    }
    fputs("\r\n", file);
    for (size_t r = 0; r < answer->n_rows; r++) {
        for (size_t c = 0; c < answer->n_columns; c++) {
            fputs(c ? "," : "", file);
            print_csv_field(file, value_at(answer, r, c)->text);
        }
        fputs("\r\n", file);
    }
}

static void print_markdown_cell(FILE *file, const char *text)
{
    for (; text && *text; text++) {
        if (*text == '|' || *text == '\\' || *text == '`' || *text == '*' || *text == '_' || *text == '<')
            fputc('\\', file);
        fputc(*text == '\n' || *text == '\r' ? ' ' : *text, file);
    }
    fputs(" |", file);
}

void answer_print_markdown(const struct answer *answer, FILE *file)
{
    fputs("|", file);
    for (size_t c = 0; c < answer->n_columns; c++) {
        fputc(' ', file);
        print_markdown_cell(file, answer->names[c]);
    }
    fputs("\n|", file);
    for (size_t c = 0; c < answer->n_columns; c++)
        fputs(" --- |", file);
    fputs("\n", file);
    for (size_t r = 0; r < answer->n_rows; r++) {
        fputs("|", file);
        for (size_t c = 0; c < answer->n_columns; c++) {
            fputc(' ', file);
            print_markdown_cell(file, value_at(answer, r, c)->text);
        }
        fputs("\n", file);
    }
}

static json_t *json_value(const struct store_value *value)
{
    json_t *json = NULL;
    switch (value->kind) {
    case STORE_VALUE_INTEGER:
        return json_integer((json_int_t)value->integer);
    case STORE_VALUE_REAL:
        return json_real(value->real);
    case STORE_VALUE_TEXT:
        json = json_string(value->text);
        return json ? json : json_string("(not UTF-8)");
    default:
        return json_null();
    }
}

json_t *answer_json(const struct answer *answer)
{
    json_t *rows = json_array();
    for (size_t r = 0; rows && r < answer->n_rows; r++) {
        json_t *row = json_object();
        for (size_t c = 0; c < answer->n_columns; c++)
            json_object_set_new(row, answer->names[c], json_value(value_at(answer, r, c)));
        json_array_append_new(rows, row);
    }
    return rows;
}

void answer_clear(struct answer *answer)
{
    free(answer->values);
    arena_clear(&answer->arena);
    memset(answer, 0, sizeof *answer);
}
