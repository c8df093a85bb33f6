/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows as text. See literal_text.h for the language.
 */
#include "cases/literal_text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases/float_bits.h"

/* A run of values: value, value + step, ... */
struct run {
    uint32_t value; /* bits of a score, or an entry of a page table */
    int64_t  step;
    int64_t  count;
};

#define VALUE_BYTES 24

/* What the two kinds of rows differ in. */
struct row_kind {
    const char *what; /* in messages */
    bool (*read_value)(const char **text, uint32_t *value);
    uint32_t (*stepped)(uint32_t value, int64_t steps);
    int64_t (*distance)(uint32_t from, uint32_t to); /* the step between neighbours */
    void (*write_value)(uint32_t value, char text[VALUE_BYTES]);
};

static bool is_end(char c)
{
    return c == '\0' || c == '\n';
}

static const char *skip_blanks(const char *text)
{
    while (*text == ' ' || *text == '\t') {
        text++;
    }
    return text;
}

/* Whether `word` stands at *text and ends there; steps over it then. */
static bool take_word(const char **text, const char *word)
{
    const size_t length = strlen(word);
    if (strncmp(*text, word, length) != 0) {
        return false;
    }
    const char next = (*text)[length];
    if ((next >= 'a' && next <= 'w') || (next >= 'y' && next <= 'z') || (next >= '0' && next <= '9')) {
        return false;
    }
    *text += length;
    return true;
}

static bool read_hex(const char **text, uint32_t *value)
{
    uint32_t bits = 0;
    for (int i = 2; i < 10; i++) {
        const char c = (*text)[i];
        if (c >= '0' && c <= '9') {
            bits = bits << 4 | (uint32_t)(c - '0');
        } else if ((c | 32) >= 'a' && (c | 32) <= 'f') {
            bits = bits << 4 | (uint32_t)((c | 32) - 'a' + 10);
        } else {
            return false;
        }
    }
    *value = bits;
    *text += 10;
    return true;
}

static bool read_score(const char **text, uint32_t *value)
{
    static const struct {
        const char *word;
        uint32_t    bits;
    } words[] = {{"inf", FLOAT_BITS_PLUS_INFINITY},
                 {"-inf", FLOAT_BITS_MINUS_INFINITY},
                 {"nan", UINT32_C(0x7FC00000)},
                 {"-nan", UINT32_C(0xFFC00000)}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (take_word(text, words[i].word)) {
            *value = words[i].bits;
            return true;
        }
    }
    if (strncmp(*text, "0x", 2) == 0) {
        return read_hex(text, value);
    }
    /* strtof accepts more than is meant here: blanks, words, hexadecimal fractions. */
    const char *digits = *text + ((*text)[0] == '-');
    if ((digits[0] != '.' && (digits[0] < '0' || digits[0] > '9')) || digits[1] == 'X' ||
        (digits[0] == '0' && digits[1] == 'x')) {
        return false;
    }
    char *end = NULL;
    errno     = 0;

    const float number = strtof(*text, &end);
    if (end == *text || (errno == ERANGE && (number > 1 || number < -1))) {
        return false; /* beyond FLT_MAX: whoever means infinity writes inf */
    }
    memcpy(value, &number, sizeof *value);
    *text = end;
    return true;
}

static bool read_integer(const char **text, int64_t low, int64_t high, int64_t *number)
{
    char *end   = NULL;
    char  first = (*text)[0] == '-' ? (*text)[1] : (*text)[0];
    errno       = 0;
    if (first < '0' || first > '9') {
        return false;
    }
    const long long value = strtoll(*text, &end, 10);
    if (errno != 0 || value < low || value > high) {
        return false;
    }
    *number = value;
    *text   = end;
    return true;
}

static bool read_entry(const char **text, uint32_t *value)
{
    int64_t number = 0;
    if (!read_integer(text, INT32_MIN, INT32_MAX, &number)) {
        return false;
    }
    *value = (uint32_t)(int32_t)number;
    return true;
}

static uint32_t stepped_score(uint32_t value, int64_t steps)
{
    return float_bits_from_code(float_code(value) + (uint32_t)steps);
}

static uint32_t stepped_entry(uint32_t value, int64_t steps)
{
    return value + (uint32_t)steps;
}

static int64_t score_distance(uint32_t from, uint32_t to)
{
    return (int64_t)float_code(to) - (int64_t)float_code(from);
}

static int64_t entry_distance(uint32_t from, uint32_t to)
{
    return (int64_t)(int32_t)to - (int64_t)(int32_t)from;
}

/* One score: decimal where that is short and exact, its bits otherwise. */
static void write_score(uint32_t bits, char text[VALUE_BYTES])
{
    float value = 0;
    float again = 0;
    memcpy(&value, &bits, sizeof value);
    const uint32_t magnitude = bits & UINT32_C(0x7FFFFFFF);
    if (magnitude == FLOAT_BITS_PLUS_INFINITY) {
        snprintf(text, VALUE_BYTES, "%s", bits >> 31 != 0 ? "-inf" : "inf");
    } else if (magnitude == UINT32_C(0x7FC00000)) {
        snprintf(text, VALUE_BYTES, "%s", bits >> 31 != 0 ? "-nan" : "nan");
    } else {
        /* No exponents: they are as long as the bits, and say less. */
        if (magnitude < FLOAT_BITS_PLUS_INFINITY) {
            snprintf(text, VALUE_BYTES, "%.6g", (double)value);
            again = strtof(text, NULL);
        }
        uint32_t again_bits = 0;
        memcpy(&again_bits, &again, sizeof again_bits);
        if (magnitude > FLOAT_BITS_PLUS_INFINITY || again_bits != bits ||
            strchr(text, 'e') != NULL) {
            snprintf(text, VALUE_BYTES, "0x%08x", (unsigned)bits);
        }
    }
}

static void write_entry(uint32_t value, char text[VALUE_BYTES])
{
    snprintf(text, VALUE_BYTES, "%d", (int)(int32_t)value);
}

static const struct row_kind score_row = {.what        = "a score",
                                          .read_value  = read_score,
                                          .stepped     = stepped_score,
                                          .distance    = score_distance,
                                          .write_value = write_score};

static const struct row_kind page_row = {.what        = "a page",
                                         .read_value  = read_entry,
                                         .stepped     = stepped_entry,
                                         .distance    = entry_distance,
                                         .write_value = write_entry};

int32_t literal_count_rows(const char *text)
{
    int32_t rows = 1;
    for (; *text != '\0'; text++) {
        rows += *text == '\n';
    }
    return rows;
}

const char *literal_row_text(const char *text, int32_t row)
{
    for (; row > 0; row--) {
        text = strchr(text, '\n') + 1;
    }
    return text;
}

/* Quotes what stands at `text`, up to the next comma, for a message. */
static int refuse(const char *text, const char *expected, char *err, size_t err_size)
{
    const int length = (int)strcspn(text, ",\n");
    snprintf(err, err_size, "'%.*s'%s: %s is expected", length > 40 ? 40 : length, text, length > 40 ? "..." : "",
             expected);
    return 1;
}

/* VALUE [+STEP | -STEP] [x COUNT] */
static int read_run(const struct row_kind *kind, const char **text, struct run *run, char *err, size_t err_size)
{
    const char *at = *text;
    run->step      = 0;
    run->count     = 1;
    if (!kind->read_value(&at, &run->value)) {
        return refuse(*text, kind == &score_row ? "a decimal score, inf, -inf, nan, -nan or 0x and eight hex digits"
                                                : "a page number from -2147483648 to 2147483647",
                      err, err_size);
    }
    if (*at == '+' || *at == '-') {
        const bool down = *at++ == '-';
        if (!read_integer(&at, 0, UINT32_MAX, &run->step)) {
            return refuse(*text, "a step from 0 to 4294967295 behind the sign", err, err_size);
        }
        run->step = down ? -run->step : run->step;
    }
    at = skip_blanks(at);
    if (*at == 'x') {
        at = skip_blanks(at + 1);
        if (!read_integer(&at, 1, INT32_MAX, &run->count)) {
            return refuse(*text, "a count from 1 to 2147483647 behind x", err, err_size);
        }
        at = skip_blanks(at);
    }
    if (!is_end(*at) && *at != ',' && *at != '|') {
        return refuse(*text, "a comma, or the end, behind the value", err, err_size);
    }
    *text = at;
    return 0;
}

/* Runs up to '|' or the end of the line, appended at *n. */
static int read_runs(const struct row_kind *kind, const char **text, int64_t most, int64_t *n, uint32_t *values,
                     char *err, size_t err_size)
{
    const char *at = skip_blanks(*text);
    if (take_word(&at, "none")) {
        at = skip_blanks(at);
    } else if (!is_end(*at) && *at != '|') {
        for (;;) {
            struct run run;
            if (read_run(kind, &at, &run, err, err_size) != 0) {
                return 1;
            }
            if (run.count > most - *n) {
                snprintf(err, err_size, "more than %lld values in one row", (long long)most);
                return 1;
            }
            for (int64_t i = 0; values != NULL && i < run.count; i++) {
                values[*n + i] = kind->stepped(run.value, i * run.step);
            }
            *n += run.count;
            if (*at != ',') {
                break;
            }
            at = skip_blanks(at + 1);
        }
    }
    *text = at;
    return 0;
}

int literal_read_scores(const char *text, int64_t most, struct literal_row *row, uint32_t *scores, char *err,
                        size_t err_size)
{
    const size_t line     = strcspn(text, "\n");
    const char  *colon    = memchr(text, ':', line);
    int64_t      told     = 0;
    const bool   has_told = colon != NULL;
    if (has_told) {
        const char *at = skip_blanks(text);
        if (!read_integer(&at, INT32_MIN, INT32_MAX, &told) || skip_blanks(at) != colon) {
            return refuse(text, "a length from -2147483648 to 2147483647 before the colon", err, err_size);
        }
        text = colon + 1;
    }
    row->columns = 0;
    if (read_runs(&score_row, &text, most, &row->columns, scores, err, err_size) != 0) {
        return 1;
    }
    row->length = row->columns;
    if (*text == '|') {
        text++;
        if (read_runs(&score_row, &text, most, &row->columns, scores, err, err_size) != 0) {
            return 1;
        }
    }
    if (!is_end(*text)) {
        return refuse(text, "one '|' in a row, behind its last score,", err, err_size);
    }
    if (has_told && told >= 0 && told <= row->length) {
        snprintf(err, err_size, "a told length of %lld for %lld scores: one that is neither negative nor beyond the row "
                 "is left out; '|' marks where the row ends", (long long)told, (long long)row->length);
        return 1;
    }
    row->told = has_told ? (int32_t)told : (int32_t)row->length;
    return 0;
}

int literal_read_pages(const char *text, int64_t most, int64_t *n, int32_t *entries, char *err, size_t err_size)
{
    *n = 0;
    if (read_runs(&page_row, &text, most, n, (uint32_t *)entries, err, err_size) != 0) {
        return 1;
    }
    return is_end(*text) ? 0 : refuse(text, "an entry, a comma or the end", err, err_size);
}

/* Text that grows. */
struct growing {
    char  *text; /* NULL: there was no memory */
    size_t used;
    size_t size;
};

static void append(struct growing *growing, const char *piece)
{
    const size_t length = strlen(piece);
    if (growing->text == NULL) {
        return;
    }
    if (growing->used + length + 1 > growing->size) {
        const size_t size   = 2 * (growing->used + length + 1);
        char        *larger = realloc(growing->text, size);
        if (larger == NULL) {
            free(growing->text);
            growing->text = NULL;
            return;
        }
        growing->text = larger;
        growing->size = size;
    }
    memcpy(growing->text + growing->used, piece, length + 1);
    growing->used += length;
}

/* The longest run that begins here: of equal values, or of at least three at the same distance. */
static struct run next_run(const struct row_kind *kind, const uint32_t *values, int64_t n)
{
    struct run run = {.value = values[0], .count = 1};
    if (n > 1) {
        run.step = kind->distance(values[0], values[1]);
        while (run.count < n && kind->distance(values[run.count - 1], values[run.count]) == run.step &&
               run.count < INT32_MAX) {
            run.count++;
        }
        const bool is_far = run.step < -65536 || run.step > 65536; /* chance, and no easier to read */
        if (run.step != 0 && (run.count < 3 || is_far)) {
            run.count = 1;
        }
    }
    run.step = run.count > 1 ? run.step : 0;
    return run;
}

static void append_runs(struct growing *growing, const struct row_kind *kind, const uint32_t *values, int64_t n)
{
    for (int64_t i = 0; i < n;) {
        const struct run run = next_run(kind, values + i, n - i);
        char             value[VALUE_BYTES];
        char             rest[64] = "";
        kind->write_value(run.value, value);
        append(growing, i > 0 ? ", " : "");
        append(growing, value);
        if (run.step != 0) {
            snprintf(rest, sizeof rest, "%+lld", (long long)run.step);
            append(growing, rest);
        }
        if (run.count > 1) {
            snprintf(rest, sizeof rest, " x %lld", (long long)run.count);
            append(growing, rest);
        }
        i += run.count;
    }
}

char *literal_write_scores(const uint32_t *scores, int64_t length, int64_t columns, int32_t told)
{
    struct growing growing = {.text = calloc(1, 64), .size = 64};
    if (told != length) {
        char number[24];
        snprintf(number, sizeof number, "%d: ", (int)told);
        append(&growing, number);
    }
    if (length == 0) {
        append(&growing, "none");
    }
    append_runs(&growing, &score_row, scores, length);
    if (columns > length) {
        append(&growing, " | ");
        append_runs(&growing, &score_row, scores + length, columns - length);
    }
    return growing.text;
}

char *literal_write_pages(const int32_t *entries, int64_t n)
{
    struct growing growing = {.text = calloc(1, 64), .size = 64};
    if (n == 0) {
        append(&growing, "none");
    }
    append_runs(&growing, &page_row, (const uint32_t *)entries, n);
    return growing.text;
}
