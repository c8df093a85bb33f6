/* SPDX-License-Identifier: Apache-2.0 */
/* One attempt's result; see row_result.h. */
#include "harness/row_result.h"

#include "harness/claims.h"

#include <jansson.h>
#include <string.h>

void row_result_from_judgement(struct row_result *result, const struct judgement *judgement)
{
    result->verdict = judgement->verdict;
    result->judgement = judgement;
    snprintf(result->reason, sizeof result->reason, "%s", judgement->reason);
}

void row_result_take_log(struct row_result *result, const struct worker_process *worker)
{
    memcpy(result->log, worker->log, worker->log_used);
    result->log[worker->log_used] = '\0';
    for (char *c = result->log; *c; c++) /* what a provider prints may be anything; the store keeps text */
        if ((unsigned char)*c >= 0x80 || ((unsigned char)*c < 0x20 && *c != '\n' && *c != '\t'))
            *c = '?';
}

static bool has_level(const struct row_result *result)
{
    return result->judgement && verdict_is_judged(result->judgement->verdict);
}

/* The first listed indices of a difference as a JSON array. */
static void format_indices(const int32_t *indices, int64_t n, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "[");
    for (int64_t i = 0; i < n && i < ROW_LISTED_INDICES; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%d", i ? "," : "", indices[i]);
    snprintf(text + used, size - used, "]");
}

enum status row_result_store(struct store *store, int64_t *row_id, const struct row_result *result, struct error *err)
{
    const struct judgement  *judgement = result->judgement;
    struct store_row_failure failures[JUDGE_MAX_DIFFERENCES];
    char                     missing[JUDGE_MAX_DIFFERENCES][128], extra[JUDGE_MAX_DIFFERENCES][128];
    double                   clocks[2] = {0};
    struct store_samples     samples[3];
    struct store_result      stored = {
             .verdict = result->verdict,
             .set_exact = -1,
             .reason = result->reason[0] ? result->reason : NULL,
             .expected = result->expected,
             .attempt = result->attempt,
             .wall_ms = result->wall_ms,
             .kernel_us_p50 = -1,
             .log = result->log[0] ? result->log : NULL,
             .failures = failures,
    };
    if (judgement) {
        stored.has_level = has_level(result);
        stored.level = judgement->level;
        stored.set_exact = judgement->set_exact;
        stored.input_hash = judgement->input_hash[0] ? judgement->input_hash : NULL;
        stored.output_digest = judgement->output_digest[0] ? judgement->output_digest : NULL;
        stored.set_digest = judgement->set_digest[0] ? judgement->set_digest : NULL;
        stored.path = judgement->path[0] ? judgement->path : NULL;
        stored.repeats = judgement->repeats;
        stored.kernel_us_p50 = kernel_time_median(judgement->time.warm_us, judgement->time.n_warm);
        stored.n_failures = judgement->n_differences;
        /* Names say in which state; the clocks it ran at stand beside them. */
        const struct kernel_time *time = &judgement->time;
        clocks[0] = time->clock_before_mhz;
        clocks[1] = time->clock_after_mhz;
        samples[0] = (struct store_samples){"kernel-warm", time->warm_us, (size_t)time->n_warm};
        samples[1] = (struct store_samples){"kernel-cold", time->cold_us, (size_t)time->n_cold};
        samples[2] = (struct store_samples){"clock-mhz", clocks, clocks[0] > 0 ? 2 : 0};
        stored.samples = samples;
        stored.n_samples = sizeof samples / sizeof samples[0];
    }
    for (size_t i = 0; i < stored.n_failures; i++) {
        const struct row_difference *d = &judgement->differences[i];
        format_indices(d->missing, d->n_missing, missing[i], sizeof missing[i]);
        format_indices(d->extra, d->n_extra, extra[i], sizeof extra[i]);
        failures[i] = (struct store_row_failure){.row = d->row,
                                                 .length = d->length,
                                                 .topk = d->topk,
                                                 .cut_value = d->cut_value,
                                                 .cut_equal = d->cut_equal,
                                                 .missing = missing[i],
                                                 .extra = extra[i],
                                                 .n_missing = d->n_missing,
                                                 .n_extra = d->n_extra,
                                                 .explanation = d->text};
    }
    return store_record(store, row_id, &stored, err);
}

void row_result_outcome(struct arena *arena, const struct row_result *result, struct outcome *outcome)
{
    outcome->verdict = result->verdict;
    outcome->attempts = result->attempt;
    outcome->wall_ms = result->wall_ms;
    outcome->judged_level = has_level(result);
    if (outcome->judged_level)
        outcome->level = result->judgement->level;
    if (result->judgement) {
        outcome->n_schedules = result->judgement->n_schedules;
        outcome->n_orders = result->judgement->n_orders;
    }
    outcome->reason = result->reason[0] ? arena_text(arena, result->reason) : NULL;
    outcome->log = result->log[0] ? arena_text(arena, result->log) : NULL;
    outcome->n_differences = result->judgement ? result->judgement->n_differences : 0;
    if (outcome->n_differences) {
        struct row_difference *copy = arena_alloc(arena, outcome->n_differences * sizeof *copy);
        memcpy(copy, result->judgement->differences, outcome->n_differences * sizeof *copy);
        outcome->differences = copy;
    }
}

void row_result_json_line(FILE *file, const struct target *target, const struct concrete_case *concrete,
                          const struct row_result *result)
{
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:f}", "case", concrete->name, "family",
                             concrete->family->id, "fault", concrete->family->fault, "provider",
                             target->description.name, "device", target->device, "device_id",
                             target->record.device_id, "verdict", verdict_text(result->verdict), "attempt",
                             (int)result->attempt, "wall_ms", result->wall_ms);
    if (has_level(result))
        json_object_set_new(json, "level", json_string(level_text(result->judgement->level)));
    if (result->reason[0])
        json_object_set_new(json, "reason", json_string(result->reason));
    if (result->judgement && result->judgement->output_digest[0])
        json_object_set_new(json, "output_digest", json_string(result->judgement->output_digest));
    json_dumpf(json, file, JSON_COMPACT);
    fputc('\n', file);
    fflush(file);
    json_decref(json);
}
