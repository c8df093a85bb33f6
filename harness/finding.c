/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as files; see finding.h. */
#include "harness/finding.h"

#include "cases/literal_text.h"
#include "harness/claims.h"
#include "harness/digest.h"
#include "harness/json_text.h"
#include "harness/name_list.h"
#include "harness/regular_file.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FINDING_VERSION = 1, MAX_BATCH = 1 << 20 };

/* Scores of one problem that a file may ask for. */
#define MAX_SCORES (INT64_C(1) << 28)

static const char *const plan_texts[] = {[TRIAL_ONCE] = "once", [TRIAL_FULL] = "full"};

/* ---- writing -------------------------------------------------------------------------------------------------- */

static json_t *rows_json(const struct case_inputs *inputs)
{
    json_t *rows = json_array();
    for (int32_t row = 0; row < inputs->batch; row++) {
        int32_t told = inputs->seq_lens[row];
        int64_t length = told < 0 ? 0 : told > inputs->max_seq_len ? inputs->max_seq_len : told;
        char   *text = literal_write_scores(inputs->scores + row * inputs->score_stride, length, inputs->score_stride, told);
        json_array_append_new(rows, json_string(text ? text : ""));
        if (!text) {
            json_decref(rows);
            return NULL;
        }
        free(text);
    }
    return rows;
}

static json_t *pages_json(const struct case_inputs *inputs)
{
    json_t *pages = json_array();
    for (int32_t row = 0; row < inputs->batch; row++) {
        char *text = literal_write_pages(inputs->page_table + row * inputs->page_table_stride, inputs->page_table_stride);
        json_array_append_new(pages, json_string(text ? text : ""));
        if (!text) {
            json_decref(pages);
            return NULL;
        }
        free(text);
    }
    return pages;
}

static json_t *problem_json(const struct case_inputs *inputs)
{
    char hash[DIGEST_HEX];
    digest_of_inputs(inputs, hash);
    return json_pack("{s:i, s:i, s:i, s:i, s:I, s:I, s:i, s:s, s:o, s:o}", "topk", inputs->topk, "page_size",
                     inputs->page_size, "batch", inputs->batch, "max_seq_len", inputs->max_seq_len, "score_stride",
                     (json_int_t)inputs->score_stride, "page_table_stride", (json_int_t)inputs->page_table_stride,
                     "base_shift", inputs->base_shift, "input_hash", hash, "rows", rows_json(inputs), "pages",
                     pages_json(inputs));
}

static json_t *trial_json(const struct trial *trial)
{
    json_t *relations = json_array(), *problems = json_array();
    for (int relation = 0; relation < N_TRIAL_RELATIONS; relation++)
        if (trial->relations >> relation & 1)
            json_array_append_new(relations, json_string(trial_relation_text((enum trial_relation)relation)));
    for (int32_t p = 0; p < trial->n_problems; p++)
        json_array_append_new(problems, problem_json(&trial->problems[p]));
    char seed[24];
    snprintf(seed, sizeof seed, "%" PRIu64, trial->seed); /* 64 bits are more than a JSON number holds everywhere */
    return json_pack("{s:s, s:s, s:i, s:o, s:s, s:o}", "outputs", outputs_text(trial->outputs), "plan",
                     plan_texts[trial->plan], "repeats", trial->repeats, "relations", relations, "seed", seed,
                     "problems", problems);
}

enum status finding_write(const char *path, const struct finding *finding, struct error *err)
{
    char    temporary[4200];
    json_t *json = json_pack("{s:i, s:o, s:s, s:s, s:s, s:s, s:o, s:o, s:s, s:s, s:I, s:I, s:o, s:o}", "finding",
                             FINDING_VERSION, "provider", json_text(finding->provider), "device", finding->device,
                             "verdict", verdict_text(finding->verdict), "level", level_text(finding->level), "promised",
                             level_text(finding->promised), "reason", json_text(finding->reason), "kind",
                             json_text(finding->kind), "again", finding->again, "shape", finding->shape, "seed",
                             (json_int_t)finding->seed, "problem", (json_int_t)finding->problem, "replay",
                             json_text(finding->replay), "trial", trial_json(&finding->trial));
    if (!json)
        return error_no_memory(err);
    snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid());
    FILE *file = fopen(temporary, "w");
    bool  written = file && json_dumpf(json, file, JSON_INDENT(1)) == 0 && fputc('\n', file) != EOF && fflush(file) == 0 &&
                   fsync(fileno(file)) == 0;
    int cause = errno;
    if (file && fclose(file) != 0 && written) {
        written = false;
        cause = errno;
    }
    if (written && rename(temporary, path) != 0) {
        written = false;
        cause = errno;
    }
    json_decref(json);
    if (written)
        return STATUS_OK;
    if (file)
        unlink(temporary);
    return error_set(err, STATUS_BOOKS, "%s: the finding cannot be written: %s", path, strerror(cause));
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

/* Where in the file one is, for messages. */
struct reading {
    const char   *path;
    char          place[64];
    struct error *err;
};

static enum status wrong(struct reading *reading, const char *key, const char *what)
{
    return error_set(reading->err, STATUS_USAGE, "%s: %s%s%s: %s", reading->path, reading->place,
                     reading->place[0] ? " " : "", key, what);
}

static int64_t read_number(struct reading *reading, const json_t *object, const char *key, int64_t low, int64_t high)
{
    const json_t *number = json_object_get(object, key);
    char          what[96];
    if (json_is_integer(number) && json_integer_value(number) >= low && json_integer_value(number) <= high)
        return json_integer_value(number);
    snprintf(what, sizeof what, "a whole number from %" PRId64 " to %" PRId64 " is needed", low, high);
    wrong(reading, key, what);
    return low;
}

static void read_text(const json_t *object, const char *key, char *text, size_t size)
{
    const char *value = json_string_value(json_object_get(object, key));
    snprintf(text, size, "%s", value ? value : "");
}

/* The place of a text in a list. */
static int read_choice(struct reading *reading, const json_t *object, const char *key, const char *(*name)(int), int n)
{
    const char *text = json_string_value(json_object_get(object, key));
    struct name_list names = {0};
    for (int i = 0; i < n; i++) {
        if (text && strcmp(text, name(i)) == 0)
            return i;
        name_list_add(&names, "%s%s", i ? "" : "accepted are ", name(i));
    }
    wrong(reading, key, names.text);
    return 0;
}

static const char *verdict_name(int i)
{
    return verdict_text((enum verdict)i);
}

static const char *level_name(int i)
{
    return level_text((enum topk_level)i);
}

static const char *outputs_name(int i)
{
    return outputs_text((enum outputs)i);
}

static const char *plan_name(int i)
{
    return plan_texts[i];
}

static const char *relation_name(int i)
{
    return trial_relation_text((enum trial_relation)i);
}

static void read_row(struct reading *reading, const json_t *rows, const json_t *pages, int32_t row,
                     struct case_inputs *inputs)
{
    const char        *scores_text = json_string_value(json_array_get(rows, (size_t)row));
    const char        *pages_text = json_string_value(json_array_get(pages, (size_t)row));
    struct literal_row read = {0};
    int64_t            n = 0;
    char               cause[256] = "a text is needed for each row", key[32];
    snprintf(key, sizeof key, "rows[%" PRId32 "]", row);
    if (!scores_text || literal_read_scores(scores_text, inputs->score_stride, &read,
                                            inputs->scores + row * inputs->score_stride, cause, sizeof cause) ||
        read.columns != inputs->score_stride || read.length > inputs->max_seq_len) {
        if (scores_text && read.columns && read.columns != inputs->score_stride)
            snprintf(cause, sizeof cause, "%" PRId64 " scores where score_stride asks for %" PRId64, read.columns,
                     inputs->score_stride);
        wrong(reading, key, cause);
        return;
    }
    inputs->seq_lens[row] = read.told;
    snprintf(key, sizeof key, "pages[%" PRId32 "]", row);
    if (!pages_text || literal_read_pages(pages_text, inputs->page_table_stride, &n,
                                          inputs->page_table + row * inputs->page_table_stride, cause, sizeof cause) ||
        n != inputs->page_table_stride)
        wrong(reading, key, n && n != inputs->page_table_stride ? "as many entries as page_table_stride are needed" : cause);
}

static enum status read_problem(struct reading *reading, const json_t *json, struct case_inputs *inputs)
{
    const json_t *rows = json_object_get(json, "rows"), *pages = json_object_get(json, "pages");
    *inputs = (struct case_inputs){
        .topk = (int32_t)read_number(reading, json, "topk", 1, 1 << 20),
        .page_size = (int32_t)read_number(reading, json, "page_size", 1, 1 << 30),
        .batch = (int32_t)read_number(reading, json, "batch", 1, MAX_BATCH),
        .max_seq_len = (int32_t)read_number(reading, json, "max_seq_len", 1, INT32_MAX),
        .base_shift = (int32_t)read_number(reading, json, "base_shift", 0, 63),
    };
    inputs->score_stride = read_number(reading, json, "score_stride", inputs->max_seq_len, MAX_SCORES);
    int64_t pages_needed = ((int64_t)inputs->max_seq_len + inputs->page_size - 1) / inputs->page_size;
    inputs->page_table_stride = read_number(reading, json, "page_table_stride", pages_needed, MAX_SCORES);
    if (reading->err->status)
        return reading->err->status;
    if (inputs->page_size & (inputs->page_size - 1))
        return wrong(reading, "page_size", "a power of two is needed");
    if (inputs->batch * inputs->score_stride > MAX_SCORES || inputs->batch * inputs->page_table_stride > MAX_SCORES)
        return wrong(reading, "score_stride", "more than 2^28 scores or pages in all");
    if (json_array_size(rows) != (size_t)inputs->batch || json_array_size(pages) != (size_t)inputs->batch)
        return wrong(reading, "rows", "as many texts of rows and of pages as the batch has rows are needed");
    inputs->scores = malloc(case_scores_bytes(inputs));
    inputs->seq_lens = malloc(case_seq_lens_bytes(inputs));
    inputs->page_table = malloc(case_page_table_bytes(inputs));
    if (!inputs->scores || !inputs->seq_lens || !inputs->page_table)
        return error_no_memory(reading->err);
    for (int32_t row = 0; row < inputs->batch && !reading->err->status; row++)
        read_row(reading, rows, pages, row, inputs);
    const char *hash = json_string_value(json_object_get(json, "input_hash"));
    char        now[DIGEST_HEX];
    digest_of_inputs(inputs, now);
    if (!reading->err->status && hash && strcmp(hash, now) != 0)
        return wrong(reading, "input_hash", "is not that of the rows and pages");
    return reading->err->status;
}

static void read_trial(struct reading *reading, const json_t *json, struct finding *finding)
{
    const json_t *problems = json_object_get(json, "problems"), *relations = json_object_get(json, "relations");
    const char   *seed = json_string_value(json_object_get(json, "seed"));
    struct trial *trial = &finding->trial;
    size_t        n = json_array_size(problems);
    snprintf(reading->place, sizeof reading->place, "trial");
    *trial = (struct trial){
        .problems = finding->inputs,
        .outputs = (enum outputs)read_choice(reading, json, "outputs", outputs_name, N_OUTPUTS),
        .plan = (enum trial_plan)read_choice(reading, json, "plan", plan_name, 2),
        .repeats = (int32_t)read_number(reading, json, "repeats", 0, 1000000),
        .seed = seed ? strtoull(seed, NULL, 10) : 0,
    };
    for (size_t r = 0; r < json_array_size(relations); r++) {
        json_t *one = json_pack("{s:O}", "relations", json_array_get(relations, r));
        trial->relations |= 1u << read_choice(reading, one, "relations", relation_name, N_TRIAL_RELATIONS);
        json_decref(one);
    }
    if (n < 1 || n > TRIAL_MAX_PROBLEMS)
        wrong(reading, "problems", "1 to 32 are needed");
    for (size_t p = 0; p < n && !reading->err->status; p++) {
        snprintf(reading->place, sizeof reading->place, "trial problem %zu", p + 1);
        trial->n_problems = (int32_t)p + 1;
        read_problem(reading, json_array_get(problems, p), &finding->inputs[p]);
    }
}

enum status finding_read(const char *path, struct finding *finding, struct error *err)
{
    struct reading reading = {.path = path, .err = err};
    json_error_t   cause;
    memset(finding, 0, sizeof *finding);
    FILE *file;
    if (regular_file_open(path, &file, err))
        return err->status;
    json_t *json = json_loadf(file, 0, &cause);
    fclose(file);
    if (!json)
        return error_set(err, STATUS_USAGE, "%s: line %d: %s", path, cause.line, cause.text);
    if (json_integer_value(json_object_get(json, "finding")) != FINDING_VERSION) {
        wrong(&reading, "finding", "1 is needed; this is no finding of topkcts fuzz, or of another version");
        goto done;
    }
    read_text(json, "provider", finding->provider, sizeof finding->provider);
    read_text(json, "device", finding->device, sizeof finding->device);
    read_text(json, "reason", finding->reason, sizeof finding->reason);
    read_text(json, "kind", finding->kind, sizeof finding->kind);
    read_text(json, "again", finding->again, sizeof finding->again);
    read_text(json, "shape", finding->shape, sizeof finding->shape);
    read_text(json, "replay", finding->replay, sizeof finding->replay);
    finding->verdict = (enum verdict)read_choice(&reading, json, "verdict", verdict_name, VERDICT_COUNT);
    finding->level = (enum topk_level)read_choice(&reading, json, "level", level_name, TOPK_LEVEL_CANONICAL + 1);
    finding->promised = (enum topk_level)read_choice(&reading, json, "promised", level_name, TOPK_LEVEL_CANONICAL + 1);
    finding->seed = (uint64_t)json_integer_value(json_object_get(json, "seed"));
    finding->problem = json_integer_value(json_object_get(json, "problem"));
    if (!err->status)
        read_trial(&reading, json_object_get(json, "trial"), finding);
done:
    json_decref(json);
    if (err->status)
        finding_clear(finding);
    return err->status;
}

void finding_clear(struct finding *finding)
{
    for (int32_t p = 0; p < finding->trial.n_problems; p++)
        case_inputs_clear(&finding->inputs[p]);
    memset(finding, 0, sizeof *finding);
}
