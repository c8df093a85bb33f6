/* SPDX-License-Identifier: Apache-2.0 */
/* A failure as a C program against harness/provider.h: template/reproducer.c, which does what the judge does to a case,
 * with the arrays of this one in the place of its example. */
#include "harness/shrink/shrink_result.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The template, as it stands in its file. */
__asm__(".pushsection .rodata\n"
        ".hidden reproducer_template\n"
        ".global reproducer_template\n"
        "reproducer_template:\n"
        ".incbin \"harness/shrink/template/reproducer.c\"\n"
        ".byte 0\n"
        ".popsection\n");

extern const char reproducer_template[];

/* Runs of equal values, or of values that grow by one. */
static void write_runs(FILE *file, const char *name, int32_t number, const uint32_t *values, int64_t n)
{
    int64_t on_line = 0;
    fprintf(file, "static const struct run %s_%d[] = {", name, number);
    for (int64_t i = 0; i < n;) {
        int64_t count = 1;
        int32_t step = i + 1 < n && values[i + 1] == values[i] + 1 ? 1 : 0;
        while (i + count < n && values[i + count] == values[i] + (uint32_t)(count * step))
            count++;
        fprintf(file, "%s{0x%08x, %d, %lld}, ", on_line++ % 6 ? "" : "\n    ", (unsigned)values[i], step, (long long)count);
        i += count;
    }
    fprintf(file, "\n    {0, 0, 0}};\n");
}

static void write_lengths(FILE *file, int32_t number, const int32_t *lengths, int32_t n)
{
    fprintf(file, "static const int32_t seq_lens_%d[] = {", number);
    for (int32_t r = 0; r < n; r++)
        fprintf(file, "%s%d", r % 16 ? ", " : r ? ",\n    " : "", lengths[r]);
    fprintf(file, "};\n");
}

/* A text in a C comment or string: what could end one is taken out. */
static const char *harmless(const char *text, char *to, size_t size)
{
    size_t n = 0;
    for (; *text && n + 1 < size; text++)
        to[n++] = *text == '\\' || *text == '"' || *text == '*' || !isprint((unsigned char)*text) ? '.' : *text;
    to[n] = '\0';
    return to;
}

static enum status write_data(FILE *file, const struct shrinking *shrinking, const char *case_name, struct error *err)
{
    const struct small_trial *trial = &shrinking->now;
    char                      name[512];
    for (int32_t p = 0; p < trial->n_problems; p++) {
        struct case_inputs inputs;
        if (small_problem_inputs(&trial->problems[p], shrinking->id, &inputs, err))
            return err->status;
        write_runs(file, "scores", p, inputs.scores, (int64_t)inputs.batch * inputs.score_stride);
        write_runs(file, "page_table", p, (const uint32_t *)inputs.page_table,
                   (int64_t)inputs.batch * inputs.page_table_stride);
        write_lengths(file, p, inputs.seq_lens, inputs.batch);
        case_inputs_clear(&inputs);
    }
    fprintf(file, "/* topk, page size, batch, width, base shift, strides of scores and page table */\n"
                  "static const struct input inputs[] = {\n");
    for (int32_t p = 0; p < trial->n_problems; p++) {
        struct case_inputs inputs;
        if (small_problem_inputs(&trial->problems[p], shrinking->id, &inputs, err))
            return err->status;
        fprintf(file, "    {%d, %d, %d, %d, %d, %lld, %lld, scores_%d, page_table_%d, seq_lens_%d},\n", inputs.topk,
                inputs.page_size, inputs.batch, inputs.max_seq_len, inputs.base_shift, (long long)inputs.score_stride,
                (long long)inputs.page_table_stride, p, p, p);
        case_inputs_clear(&inputs);
    }
    fprintf(file, "};\nstatic const bool           asks_pages = %s, asks_raw = %s;\n"
                  "static const int            repeats = %d, seconds = 10;\nstatic const char *const    name = \"%s\";\n",
            trial->outputs == OUTPUTS_RAW ? "false" : "true", trial->outputs == OUTPUTS_PAGE ? "false" : "true",
            shrinking->repeats > 3 ? shrinking->repeats : 3, harmless(case_name, name, sizeof name));
    return STATUS_OK;
}

/* How to build and run it: as a plugin's test, or with the planted fault linked in. */
static void write_comment(FILE *file, const struct shrinking *shrinking, const struct shrink_story *story,
                          const char *case_name, const char *hash)
{
    char name[512], reason[JUDGE_REASON_BYTES], provider[512], from[512];
    fprintf(file, "/* SPDX-License-Identifier: Apache-2.0 */\n/*\n * %s\n * Inputs %s, made small by topkcts shrink from %s.\n"
                  " * %s on %s: %s.\n *\n", harmless(case_name, name, sizeof name), hash,
            harmless(story->from, from, sizeof from), harmless(story->provider_name, provider, sizeof provider),
            story->device, harmless(shrinking->failure.reason[0] ? shrinking->failure.reason : "fails", reason, sizeof reason));
    if (strncmp(story->provider, "faulty/", 7) == 0) {
        char symbol[128];
        snprintf(symbol, sizeof symbol, "%s", story->provider + 7);
        for (char *c = symbol; *c; c++)
            *c = *c == '-' ? '_' : *c;
        fprintf(file, " * The provider is linked into topkcts; linked into this program instead, in the project's folder:\n"
                      " *     gcc -std=gnu17 -I. -Iharness -DTOPK_BUILTIN=builtin_faulty_%s -o reproducer THIS.c \\\n"
                      " *         kernels/faulty/%s.c kernels/faulty/host_topk.c -ldl && ./reproducer\n"
                      " * Your own kernel, as a plugin (-I: the folder of provider.h):\n", symbol, symbol);
    } else if (strcmp(story->device, "host") != 0) {
        fprintf(file, " * The provider runs on %s, which this program does not drive: topkcts run does, with the registry's entry. On\n"
                      " * the host, as a plugin (-I: the folder of provider.h):\n", story->device);
    }
    fprintf(file, " *     gcc -std=gnu17 -I harness -o reproducer THIS.c -ldl && ./reproducer ./plugin.so\n"
                  " * Exit codes: 0 right, 1 the fault, 2 the plugin cannot be loaded.\n */\n");
}

char *shrink_reproducer(const struct shrinking *shrinking, const struct shrink_story *story, const char *case_name,
                        const char *hash, struct error *err)
{
    static const char begin[] = "/* DATA */\n", end[] = "/* END OF DATA */\n";
    const char       *from = strstr(reproducer_template, begin), *to = strstr(reproducer_template, end);
    char             *text = NULL;
    size_t            size = 0;
    FILE             *file = open_memstream(&text, &size);
    if (!file) {
        error_no_memory(err);
        return NULL;
    }
    write_comment(file, shrinking, story, case_name, hash);
    fprintf(file, "%.*s", (int)(from - reproducer_template), reproducer_template);
    write_data(file, shrinking, case_name, err);
    fputs(to + sizeof end - 1, file);
    if (fclose(file) != 0)
        error_no_memory(err);
    if (!err->status)
        return text;
    free(text);
    return NULL;
}
