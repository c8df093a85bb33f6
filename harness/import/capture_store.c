/* SPDX-License-Identifier: Apache-2.0 */
/* A capture as a case of a registry; see capture.h. The entry is written last: before it, contents are only a file that
 * nothing refers to. */
#include "harness/import/capture.h"

#include "cases/captured.h"
#include "cases/safetensors.h"
#include "harness/family_store.h"
#include "harness/whole_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NOTES = 8 };

/* The entry under construction. */
struct storing {
    const struct capture *capture;
    struct arena         *arena;
    struct family_entry   entry;
    struct case_param     params[2], notes[MAX_NOTES], promises[16];
    struct error         *err;
};

static void note(struct storing *storing, const char *name, const char *text)
{
    if (text)
        storing->notes[storing->entry.n_origin++] = (struct case_param){name, text};
}

static void promise(struct storing *storing, const char *claim, const char *values)
{
    for (size_t i = 0; i < storing->entry.n_promises; i++)
        if (strcmp(storing->promises[i].name, claim) == 0)
            return;
    if (storing->entry.n_promises < sizeof storing->promises / sizeof storing->promises[0])
        storing->promises[storing->entry.n_promises++] = (struct case_param){claim, values};
}

/* What a kernel must promise to be given these rows: what case.json says, and what the rows hold. */
static void find_promises(struct storing *storing)
{
    const struct capture *capture = storing->capture;
    json_t               *claims = json_object_get(capture->described, "claims"), *value;
    const char           *claim;
    json_object_foreach(claims, claim, value)
    {
        if (strcmp(claim, "level") == 0 || strcmp(claim, "max_topk") == 0 || !json_is_string(value))
            continue;
        /* The first spelling is the one that expectations are shown by. */
        const char *first = json_string_value(value);
        promise(storing, claim, strcmp(claim, "nan") == 0 ? arena_format(storing->arena, "%s any bits largest never", first)
                                                           : first);
    }
    if (capture->n_nan_rows)
        promise(storing, "nan", "bits any largest never");
    if (capture->n_negative)
        promise(storing, "negative_length", "empty");
    if (capture->n_overlong)
        promise(storing, "overlong", "clamped");
    for (size_t i = 0; i < storing->entry.n_promises; i++) { /* a spelling stands there once */
        char *text = arena_text(storing->arena, storing->promises[i].text), *rest = strchr(text, ' ');
        if (!rest)
            continue;
        size_t length = (size_t)(rest - text);
        for (char *at = rest + 1; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
            if (strncmp(at, text, length) == 0 && (at[length] == ' ' || at[length] == '\0')) {
                memmove(at - 1, at + length, strlen(at + length) + 1);
                break;
            }
        storing->promises[i].text = text;
    }
}

static void describe(struct storing *storing, const struct settings *settings, const struct family_target *target)
{
    const struct capture *capture = storing->capture;
    const char           *where = settings->model ? settings->model : NULL;
    const char           *summary = arena_format(storing->arena, "%s%s", where ? "rows captured from " : "captured rows",
                                                 where ? where : "");
    if (settings->layer)
        summary = arena_format(storing->arena, "%s, layer %s", summary, settings->layer);
    if (settings->step)
        summary = arena_format(storing->arena, "%s, step %s", summary, settings->step);
    note(storing, "model", settings->model);
    note(storing, "layer", settings->layer);
    note(storing, "step", settings->step);
    note(storing, "files", capture->files);
    note(storing, "rows", settings->rows);
    note(storing, "scores", capture->score_type);
    note(storing, "values", settings->rank_only ? "ranks only" : NULL);
    storing->entry.comment = target->is_own ? "SPDX-License-Identifier: Apache-2.0\nWritten by `topkcts import`."
                                            : "Written by `topkcts import`.";
    storing->entry.id = settings->id;
    storing->entry.summary = summary;
    storing->entry.fault = settings->fault ? settings->fault : "production-rows";
    storing->entry.source = settings->source;
    storing->entry.generator = "captured";
    storing->entry.params = storing->params;
    storing->entry.origin = storing->notes;
    storing->entry.promises = storing->promises;
    storing->entry.topk = capture->inputs.topk;
    storing->entry.page_size = capture->inputs.page_size;
    storing->entry.outputs = outputs_text(capture->outputs);
    storing->entry.suite = settings->suite;
}

/* The contents as a safetensors file in memory. */
static unsigned char *make_contents(const struct capture *capture, size_t *size, struct error *err)
{
    const struct case_inputs *inputs = &capture->inputs;
    struct safetensors_entry  entries[3] = {
        {.name = "seq_lens", .type = "I32", .n_dims = 1, .shape = {inputs->batch}},
        {.name = "scores", .type = "F32", .n_dims = 2, .shape = {inputs->batch, inputs->score_stride}},
        {.name = "page_table", .type = "I32", .n_dims = 2, .shape = {inputs->batch, inputs->page_table_stride}}};
    const void *const       contents[3] = {inputs->seq_lens, inputs->scores, inputs->page_table};
    char                    width[24];
    struct safetensors_note width_note = {"max_seq_len", width};
    snprintf(width, sizeof width, "%d", inputs->max_seq_len);
    unsigned char *file =
        safetensors_write(entries, contents, inputs->page_table ? 3 : 2, &width_note, 1, size, err->text, sizeof err->text);
    if (!file)
        err->status = STATUS_BOOKS;
    return file;
}

/* Whether the case gives back the capture; its hash. */
static enum status check_case(struct storing *storing, const struct family_target *target, char hash[DIGEST_HEX])
{
    const struct case_inputs *captured = &storing->capture->inputs;
    struct case_spec          spec = {.family = storing->entry.id,
                                      .generator = "captured",
                                      .seed = 1,
                                      .topk = captured->topk,
                                      .page_size = captured->page_size,
                                      .params = storing->params,
                                      .n_params = storing->entry.n_params,
                                      .captured = target->captured};
    struct case_inputs        made = {0};
    int32_t                  *lengths = NULL;
    char                      cause[512] = "";
    if (case_given_lengths(&spec, &lengths, &spec.n_lengths, cause, sizeof cause))
        return error_set(storing->err, STATUS_BOOKS, "%s", cause);
    spec.lengths = lengths;
    spec.batch = (int32_t)spec.n_lengths;
    if (case_generate(&spec, &made, cause, sizeof cause))
        error_set(storing->err, STATUS_USAGE, "what was captured is no case: %s", cause);
    else {
        digest_of_inputs(&made, hash);
        bool same = made.batch == captured->batch && made.score_stride == captured->score_stride &&
                    made.max_seq_len == captured->max_seq_len && made.base_shift == captured->base_shift &&
                    memcmp(made.scores, captured->scores, case_scores_bytes(&made)) == 0 &&
                    memcmp(made.seq_lens, captured->seq_lens, case_seq_lens_bytes(&made)) == 0 &&
                    (!captured->page_table ||
                     (made.page_table_stride == captured->page_table_stride &&
                      memcmp(made.page_table, captured->page_table, case_page_table_bytes(&made)) == 0));
        if (!same)
            error_set(storing->err, STATUS_BOOKS, "the stored contents give back other inputs than were captured: a defect "
                      "of this program");
    }
    case_inputs_clear(&made);
    free(lengths);
    return storing->err->status;
}

static enum status write_contents(struct storing *storing, const struct family_target *target,
                                  struct capture_stored *stored)
{
    char           digest[DIGEST_HEX], path[PATH_MAX];
    struct digest  hashing;
    unsigned char *packed = NULL, *file = make_contents(storing->capture, &stored->contents_bytes, storing->err);
    if (!file)
        return storing->err->status;
    digest_begin(&hashing);
    digest_add(&hashing, file, stored->contents_bytes);
    digest_end(&hashing, digest);
    packed = captured_pack(file, stored->contents_bytes, &stored->packed_bytes, storing->err->text, sizeof storing->err->text);
    if (!packed || captured_path(target->captured, digest, path, sizeof path, storing->err->text, sizeof storing->err->text))
        storing->err->status = STATUS_BOOKS;
    else if (!whole_file_folder(target->captured, storing->err))
        whole_file_write(path, packed, stored->packed_bytes, true, storing->err);
    free(packed);
    free(file);
    if (storing->err->status)
        return storing->err->status;
    stored->contents_path = arena_text(storing->arena, path);
    const char *shift = arena_format(storing->arena, "%d", storing->capture->inputs.base_shift);
    if (storing->capture->inputs.base_shift)
        storing->params[storing->entry.n_params++] = (struct case_param){"base_shift", shift};
    storing->params[storing->entry.n_params++] = (struct case_param){"contents", arena_text(storing->arena, digest)};
    return STATUS_OK;
}

enum status capture_store(const struct settings *settings, const struct capture *capture, struct arena *arena,
                          struct capture_stored *stored, struct error *err)
{
    struct storing       storing = {.capture = capture, .arena = arena, .err = err};
    struct family_target target = family_target_of(settings, arena);
    struct stored_family family;
    char                 hash[DIGEST_HEX];
    memset(stored, 0, sizeof *stored);
    if (!settings->id)
        return error_set(err, STATUS_USAGE, "a case needs a name that is never reused: --id NAME");
    describe(&storing, settings, &target);
    find_promises(&storing);
    if (family_store_check(settings, &storing.entry, err) || write_contents(&storing, &target, stored) ||
        check_case(&storing, &target, hash) || family_store(settings, &storing.entry, hash, arena, &family, err))
        return err->status;
    stored->case_name = family.case_name;
    stored->yaml_path = family.path;
    stored->registry = target.registry;
    stored->is_own = target.is_own;
    memcpy(stored->hash, family.hash, sizeof stored->hash);
    return STATUS_OK;
}
