/* SPDX-License-Identifier: Apache-2.0 */
/* `topkcts import FILES..`: captured tensors become a case of the registry. */
#include "harness/command.h"
#include "harness/import/capture.h"

#include <stdio.h>

static void print_json(const struct capture *capture, const struct capture_stored *stored)
{
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:I, s:s, s:I, s:I}", "case", stored->case_name, "input_hash",
                             stored->hash, "family_file", stored->yaml_path, "contents_file", stored->contents_path, "batch",
                             (int)capture->inputs.batch, "max_seq_len", (int)capture->inputs.max_seq_len, "score_stride",
                             (json_int_t)capture->inputs.score_stride, "scores", capture->score_type, "contents_bytes",
                             (json_int_t)stored->contents_bytes, "stored_bytes", (json_int_t)stored->packed_bytes);
    json_dumpf(json, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(json);
}

static void print_for_people(const struct settings *settings, const struct capture *capture,
                             const struct capture_stored *stored)
{
    const struct case_inputs *inputs = &capture->inputs;
    const char               *option = stored->is_own ? "" : " --registry ", *folder = stored->is_own ? "" : stored->registry;
    printf("%s\n  inputs     %s\n  shape      batch %d, width %d, score stride %lld, scores were %s%s, %s\n", stored->case_name,
           stored->hash, inputs->batch, inputs->max_seq_len, (long long)inputs->score_stride, capture->score_type,
           settings->rank_only ? " (now their ranks)" : "",
           inputs->page_table ? "with their page table" : "page table made here (none was captured)");
    if (capture->n_nan_rows || capture->n_negative || capture->n_overlong)
        printf("  extension  %d rows with NaN, %d negative and %d overlong lengths: only for kernels that promise something "
               "about them\n", capture->n_nan_rows, capture->n_negative, capture->n_overlong);
    printf("  entry      %s\n  contents   %s (%zu bytes for %zu)\n\nnext:  topkcts check --update%s%s\n"
           "       topkcts run '%s' --provider P%s%s\n", stored->yaml_path, stored->contents_path, stored->packed_bytes,
           stored->contents_bytes, option, folder, settings->id, option, folder);
}

enum status command_import(const struct settings *settings, struct error *err)
{
    struct arena          arena = {0};
    struct capture        capture = {0};
    struct capture_stored stored;
    if (!capture_read(settings, &arena, &capture, err) && !capture_store(settings, &capture, &arena, &stored, err)) {
        if (settings->json)
            print_json(&capture, &stored);
        else
            print_for_people(settings, &capture, &stored);
    }
    capture_clear(&capture);
    arena_clear(&arena);
    return err->status;
}
