/* SPDX-License-Identifier: Apache-2.0 */
/* `topkcts show CASE`: why a case is there, what its inputs are, what the answer is; --dump writes all of it. */
#include "harness/claims.h"
#include "harness/command.h"
#include "harness/project.h"
#include "harness/digest.h"
#include "harness/npy.h"
#include "harness/problem.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static json_t *params_json(const struct concrete_case *concrete)
{
    json_t *params = json_object();
    for (size_t p = 0; p < concrete->spec.n_params; p++)
        json_object_set_new(params, concrete->spec.params[p].name, json_string(concrete->spec.params[p].text));
    return params;
}

/* Claims as an object of member names and spellings. */
static json_t *claims_json(const struct topk_claims *claims)
{
    char    text[256], *rest = NULL;
    json_t *json = json_object();
    claims_format(claims, text, sizeof text);
    for (char *item = strtok_r(text, " ", &rest); item; item = strtok_r(NULL, " ", &rest)) {
        char *equals = strchr(item, '=');
        *equals = '\0';
        json_object_set_new(json, item, json_string(equals + 1));
    }
    return json;
}

static json_t *origin_json(const struct family *family)
{
    json_t *json = json_object();
    for (size_t i = 0; i < family->n_origin; i++)
        json_object_set_new(json, family->origin[i].name, json_string(family->origin[i].text));
    return json;
}

static json_t *case_json(const struct concrete_case *concrete, const struct problem *problem, const char *hash)
{
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:s, s:o, s:I, s:s, s:o, s:I, s:I, s:i}", "case",
                     concrete->name, "family", concrete->family->id, "summary", concrete->family->summary, "fault",
                     concrete->family->fault, "generator", concrete->family->generator, "topk",
                     (int)concrete->spec.topk, "page_size", (int)concrete->spec.page_size, "batch",
                     (int)concrete->spec.batch, "max_seq_len", (int)problem->inputs.max_seq_len, "outputs",
                     outputs_text(concrete->outputs), "claims", claims_json(&problem->claims), "seed",
                     (json_int_t)concrete->spec.seed, "input_hash", hash, "params", params_json(concrete),
                     "score_stride", (json_int_t)problem->inputs.score_stride, "page_table_stride",
                     (json_int_t)problem->inputs.page_table_stride, "base_shift", (int)problem->inputs.base_shift);
    if (concrete->family->n_origin)
        json_object_set_new(json, "captured_from", origin_json(concrete->family));
    return json;
}

static enum status write_array(const char *folder, const char *name, enum npy_type type, int64_t rows, int64_t columns,
                               const void *data, struct error *err)
{
    char          path[4096];
    const int64_t shape[] = {rows, columns};
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    return npy_write(path, type, shape, columns < 0 ? 1 : 2, data, err);
}

static enum status dump(const char *folder, const struct concrete_case *concrete, const struct problem *problem,
                        const char *hash, struct error *err)
{
    const struct case_inputs *inputs = &problem->inputs;
    char                      path[4096];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return error_set(err, STATUS_BOOKS, "%s: the folder cannot be made: %s", folder, strerror(errno));
    if (write_array(folder, "scores", NPY_FLOAT32, inputs->batch, inputs->score_stride, inputs->scores, err) ||
        write_array(folder, "seq_lens", NPY_INT32, inputs->batch, -1, inputs->seq_lens, err) ||
        write_array(folder, "page_table", NPY_INT32, inputs->batch, inputs->page_table_stride, inputs->page_table, err) ||
        write_array(folder, "expected_page_indices", NPY_INT32, inputs->batch, inputs->topk, problem->pages, err) ||
        write_array(folder, "expected_raw_indices", NPY_INT32, inputs->batch, inputs->topk, problem->raw, err))
        return err->status;
    snprintf(path, sizeof path, "%s/case.json", folder);
    json_t *json = case_json(concrete, problem, hash);
    if (json_dump_file(json, path, JSON_INDENT(2)) != 0)
        error_set(err, STATUS_BOOKS, "%s: cannot be written: %s", path, strerror(errno));
    json_decref(json);
    return err->status;
}

static const struct fault_kind *fault_of(const struct registry *registry, const struct family *family)
{
    for (size_t f = 0; f < registry->n_faults; f++)
        if (strcmp(registry->faults[f].id, family->fault) == 0)
            return &registry->faults[f];
    return NULL;
}

static void print_for_people(const struct registry *registry, const struct concrete_case *concrete,
                             const struct problem *problem, const char *hash)
{
    const struct family     *family = concrete->family;
    const struct fault_kind *fault = fault_of(registry, family);
    char                     claims[256];
    claims_format(&problem->claims, claims, sizeof claims);
    printf("%s\n\n%s\n  fault      %s: %s\n  means      %s\n", concrete->name, family->summary, family->fault,
           fault ? fault->summary : "", fault ? fault->means : "");
    if (family->source)
        printf("  source     %s\n", family->source);
    if (family->n_origin)
        printf("  captured  ");
    for (size_t i = 0; i < family->n_origin; i++)
        printf("%s %s %s", i ? "," : "", family->origin[i].name, family->origin[i].text);
    printf("%s  from       %s:%d, generator %s, seed %llu\n  inputs     %s\n  asks       %s\n", family->n_origin ? "\n" : "", family->file, family->line,
           family->generator, (unsigned long long)concrete->spec.seed, hash, claims);
    printf("  shape      batch %d, width %d, score stride %lld, page table stride %lld, base shift %d\n",
           problem->inputs.batch, problem->inputs.max_seq_len, (long long)problem->inputs.score_stride,
           (long long)problem->inputs.page_table_stride, problem->inputs.base_shift);
    for (int32_t row = 0; row < problem->inputs.batch && row < 8; row++) {
        const int32_t *raw = problem->raw + (int64_t)row * problem->inputs.topk;
        printf("  row %-6d length %d, selects %d:", row, problem->inputs.seq_lens[row], problem->counts[row]);
        for (int32_t j = 0; j < problem->counts[row] && j < 8; j++)
            printf(" %d", raw[j]);
        printf("%s\n", problem->counts[row] > 8 ? " ..." : "");
    }
    printf("\nrun it:     topkcts run '%s' --provider P\nlook at it: topkcts show '%s' --dump DIR\n", concrete->name,
           concrete->name);
}

enum status command_show(const struct settings *settings, struct error *err)
{
    struct registry      registry = {0};
    struct arena         arena = {0};
    struct concrete_case concrete = {0};
    struct case_inputs   inputs = {0};
    struct problem       problem = {0};
    char                 hash[DIGEST_HEX];
    if (settings->words.n != 1)
        return error_set(err, STATUS_USAGE, "show takes one case; 'topkcts list' prints their names");
    if (project_load_registry_aloud(settings, false, &registry, err) ||
        registry_case(&registry, settings->words.items[0], &arena, &concrete, err))
        goto done;
    struct topk_claims claims = registry_case_claims(&concrete);
    if (case_generate(&concrete.spec, &inputs, err->text, sizeof err->text)) {
        err->status = STATUS_USAGE;
        goto done;
    }
    digest_of_inputs(&inputs, hash);
    if (problem_make(&problem, &inputs, &claims, err))
        goto done;
    if (settings->dump && dump(settings->dump, &concrete, &problem, hash, err))
        goto done;
    if (settings->json) {
        json_t *json = case_json(&concrete, &problem, hash);
        json_dumpf(json, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(json);
    } else if (settings->dump)
        printf("%s: scores, seq_lens, page_table, expected_page_indices, expected_raw_indices (.npy), case.json\n",
               settings->dump);
    else
        print_for_people(&registry, &concrete, &problem, hash);
done:
    problem_clear(&problem);
    case_inputs_clear(&inputs);
    arena_clear(&arena);
    registry_clear(&registry);
    return err->status;
}
