/* SPDX-License-Identifier: Apache-2.0 */
/* Lines between worker and runner; see message.h. */
#include "harness/message.h"

#include "harness/case_json.h"
#include "harness/json_text.h"
#include "harness/provider_process.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {
    [MESSAGE_OPEN] = "open",         [MESSAGE_CASE] = "case",     [MESSAGE_PROVIDER] = "provider",
    [MESSAGE_UNUSABLE] = "unusable", [MESSAGE_OPENED] = "opened", [MESSAGE_FAILED] = "failed",
    [MESSAGE_RESULT] = "result",     [MESSAGE_CLOSED] = "closed", [MESSAGE_ABSENT] = "absent",
    [MESSAGE_TRIALS] = "trials",     [MESSAGE_TRIED] = "tried",
    [MESSAGE_TIME] = "time",         [MESSAGE_TIMED] = "timed",
};

static void copy_text(char *to, size_t size, const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    snprintf(to, size, "%s", text ? text : "");
}

static int32_t number_of(const json_t *object, const char *key)
{
    return (int32_t)json_integer_value(json_object_get(object, key));
}

static json_t *provider_json(const struct provider_description *provider)
{
    const unsigned *members = (const unsigned *)&provider->claims;
    json_t         *claims = json_array(), *limits = json_array();
    _Static_assert(sizeof(struct topk_claims) % sizeof(unsigned) == 0, "claims travel as their members");
    for (size_t i = 0; i < sizeof provider->claims / sizeof *members; i++)
        json_array_append_new(claims, json_integer(members[i]));
    for (const struct topk_limit *limit = provider->limits; limit && limit->name; limit++)
        json_array_append_new(limits, json_pack("[o, I]", json_text(limit->name), (json_int_t)limit->value));
    return json_pack("{s:o, s:o, s:s, s:s, s:i, s:o, s:o, s:o}", "name", json_text(provider->name), "version",
                     json_text(provider->version), "origin", provider->origin, "digest", provider->digest, "memory",
                     (int)provider->memory, "claims", claims, "limits", limits, "versions", json_text(provider->versions));
}

static void read_provider(const json_t *json, struct arena *arena, struct provider_description *provider)
{
    unsigned *members = (unsigned *)&provider->claims;
    json_t   *claims = json_object_get(json, "claims"), *limits = json_object_get(json, "limits");
    copy_text(provider->name, sizeof provider->name, json, "name");
    copy_text(provider->version, sizeof provider->version, json, "version");
    copy_text(provider->origin, sizeof provider->origin, json, "origin");
    copy_text(provider->digest, sizeof provider->digest, json, "digest");
    copy_text(provider->versions, sizeof provider->versions, json, "versions");
    provider->memory = (enum topk_memory)number_of(json, "memory");
    for (size_t i = 0; i < sizeof provider->claims / sizeof *members; i++)
        members[i] = (unsigned)json_integer_value(json_array_get(claims, i));
    provider->limits = arena_alloc(arena, (json_array_size(limits) + 1) * sizeof *provider->limits);
    for (size_t i = 0; i < json_array_size(limits); i++) {
        const json_t *limit = json_array_get(limits, i);
        provider->limits[i].name = arena_text(arena, json_string_value(json_array_get(limit, 0)));
        provider->limits[i].value = json_integer_value(json_array_get(limit, 1));
    }
}

static json_t *indices_json(const int32_t *indices, int64_t n)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < n && i < ROW_LISTED_INDICES; i++)
        json_array_append_new(list, json_integer(indices[i]));
    return list;
}

static void read_indices(const json_t *list, int32_t *indices)
{
    for (size_t i = 0; i < json_array_size(list) && i < ROW_LISTED_INDICES; i++)
        indices[i] = (int32_t)json_integer_value(json_array_get(list, i));
}

static json_t *difference_json(const struct row_difference *d)
{
    return json_pack("{s:i, s:i, s:i, s:s, s:I, s:I, s:I, s:o, s:o, s:o}", "row", d->row, "length", d->length, "topk",
                     d->topk, "cut", d->cut_value, "cut_equal", (json_int_t)d->cut_equal, "n_missing",
                     (json_int_t)d->n_missing, "n_extra", (json_int_t)d->n_extra, "missing",
                     indices_json(d->missing, d->n_missing), "extra", indices_json(d->extra, d->n_extra), "text",
                     json_text(d->text));
}

static void read_difference(const json_t *json, struct row_difference *d)
{
    d->row = number_of(json, "row");
    d->length = number_of(json, "length");
    d->topk = number_of(json, "topk");
    copy_text(d->cut_value, sizeof d->cut_value, json, "cut");
    d->cut_equal = json_integer_value(json_object_get(json, "cut_equal"));
    d->n_missing = json_integer_value(json_object_get(json, "n_missing"));
    d->n_extra = json_integer_value(json_object_get(json, "n_extra"));
    read_indices(json_object_get(json, "missing"), d->missing);
    read_indices(json_object_get(json, "extra"), d->extra);
    copy_text(d->text, sizeof d->text, json, "text");
}

/* Times travel as they are measured. */
static json_t *times_json(const struct kernel_time *time)
{
    json_t *warm = json_array(), *cold = json_array();
    for (int32_t i = 0; i < time->n_warm; i++)
        json_array_append_new(warm, json_real(time->warm_us[i]));
    for (int32_t i = 0; i < time->n_cold; i++)
        json_array_append_new(cold, json_real(time->cold_us[i]));
    return json_pack("{s:o, s:o, s:i, s:i}", "warm", warm, "cold", cold, "clock_before", (int)time->clock_before_mhz,
                     "clock_after", (int)time->clock_after_mhz);
}

static json_t *judgement_json(const struct judgement *j)
{
    json_t *differences = json_array();
    for (size_t i = 0; i < j->n_differences; i++)
        json_array_append_new(differences, difference_json(&j->differences[i]));
    return json_pack("{s:s, s:i, s:i, s:i, s:o, s:s, s:s, s:s, s:o, s:i, s:i, s:i, s:o, s:o}", "verdict", verdict_text(j->verdict),
                     "promised", (int)j->promised, "level", (int)j->level, "set_exact", j->set_exact, "reason",
                     json_text(j->reason), "input_hash", j->input_hash, "output_digest", j->output_digest,
                     "set_digest", j->set_digest, "path", json_text(j->path), "repeats", j->repeats, "schedules",
                     j->n_schedules, "orders", j->n_orders, "differences", differences, "time", times_json(&j->time));
}

static int32_t read_samples(const json_t *list, double *samples)
{
    int32_t n = 0;
    for (; n < KERNEL_TIME_MAX_SAMPLES && n < (int32_t)json_array_size(list); n++)
        samples[n] = json_real_value(json_array_get(list, (size_t)n));
    return n;
}

static void read_times(const json_t *json, struct kernel_time *time)
{
    time->n_warm = read_samples(json_object_get(json, "warm"), time->warm_us);
    time->n_cold = read_samples(json_object_get(json, "cold"), time->cold_us);
    time->clock_before_mhz = number_of(json, "clock_before");
    time->clock_after_mhz = number_of(json, "clock_after");
}

static void read_judgement(const json_t *json, struct judgement *j)
{
    const char   *verdict = json_string_value(json_object_get(json, "verdict"));
    const json_t *differences = json_object_get(json, "differences");
    j->verdict = verdict_from_text(verdict ? verdict : "");
    j->promised = (enum topk_level)number_of(json, "promised");
    j->level = (enum topk_level)number_of(json, "level");
    j->set_exact = number_of(json, "set_exact");
    copy_text(j->reason, sizeof j->reason, json, "reason");
    copy_text(j->input_hash, sizeof j->input_hash, json, "input_hash");
    copy_text(j->output_digest, sizeof j->output_digest, json, "output_digest");
    copy_text(j->set_digest, sizeof j->set_digest, json, "set_digest");
    copy_text(j->path, sizeof j->path, json, "path");
    j->repeats = number_of(json, "repeats");
    read_times(json_object_get(json, "time"), &j->time);
    j->n_schedules = number_of(json, "schedules");
    j->n_orders = number_of(json, "orders");
    for (; j->n_differences < json_array_size(differences) && j->n_differences < JUDGE_MAX_DIFFERENCES;
         j->n_differences++)
        read_difference(json_array_get(differences, j->n_differences), &j->differences[j->n_differences]);
}

static json_t *order_json(const struct launch_times_order *order)
{
    return json_pack("{s:b, s:b, s:b, s:b, s:i, s:i}", "pages", order->with_pages, "raw", order->with_raw, "cold",
                     order->cold, "check", order->check, "samples", (int)order->n_samples, "calls", (int)order->calls);
}

static void read_order(const json_t *json, struct launch_times_order *order)
{
    *order = (struct launch_times_order){.with_pages = json_is_true(json_object_get(json, "pages")),
                                         .with_raw = json_is_true(json_object_get(json, "raw")),
                                         .cold = json_is_true(json_object_get(json, "cold")),
                                         .check = json_is_true(json_object_get(json, "check")),
                                         .n_samples = number_of(json, "samples"),
                                         .calls = number_of(json, "calls")};
}

static json_t *leg_json(const struct launch_times *times)
{
    json_t *us = json_array();
    for (int32_t i = 0; i < times->n; i++)
        json_array_append_new(us, json_real(times->us[i]));
    return json_pack("{s:s, s:o, s:o, s:i, s:i, s:b}", "verdict", verdict_text(times->verdict), "reason",
                     json_text(times->reason), "us", us, "calls", (int)times->calls, "clock", (int)times->clock_mhz,
                     "by_device", times->by_device);
}

static void read_leg(const json_t *json, struct launch_times *times)
{
    const char *verdict = json_string_value(json_object_get(json, "verdict"));
    times->verdict = verdict_from_text(verdict ? verdict : "");
    copy_text(times->reason, sizeof times->reason, json, "reason");
    times->n = read_samples(json_object_get(json, "us"), times->us);
    times->calls = number_of(json, "calls");
    times->clock_mhz = number_of(json, "clock");
    times->by_device = json_is_true(json_object_get(json, "by_device"));
}

char *message_write(const struct message *message)
{
    if (message->kind == MESSAGE_LAUNCH || message->kind == MESSAGE_CHECKING)
        return strdup(message->kind == MESSAGE_LAUNCH ? ".\n" : ":\n");
    bool    to_worker = message->kind == MESSAGE_OPEN || message->kind == MESSAGE_CASE ||
                     message->kind == MESSAGE_TRIALS || message->kind == MESSAGE_TIME;
    json_t *json = json_pack("{s:s}", to_worker ? "do" : "say", kind_names[message->kind]);
    if (message->text[0])
        json_object_set_new(json, "text", json_text(message->text));
    if (message->concrete)
        json_object_set_new(json, "case", case_to_json(message->concrete));
    if (message->kind == MESSAGE_CASE)
        json_object_set_new(json, "repeats", json_integer(message->repeats));
    if (message->for_trials)
        json_object_set_new(json, "for_trials", json_true());
    if (message->kind == MESSAGE_PROVIDER)
        json_object_set_new(json, "provider", provider_json(&message->provider));
    if (message->kind == MESSAGE_RESULT)
        json_object_set_new(json, "judgement", judgement_json(&message->judgement));
    if (message->kind == MESSAGE_TIME)
        json_object_set_new(json, "order", order_json(&message->order));
    if (message->kind == MESSAGE_TIMED)
        json_object_set_new(json, "times", leg_json(&message->times));
    char *text = json_dumps(json, JSON_COMPACT), *line = NULL;
    if (text) {
        size_t length = strlen(text);
        line = realloc(text, length + 2);
        if (line)
            memcpy(line + length, "\n", 2);
        else
            free(text);
    }
    json_decref(json);
    return line;
}

enum status message_read(const char *line, struct arena *arena, struct message *message, struct error *err)
{
    json_error_t json_error;
    memset(message, 0, sizeof *message);
    if (strcmp(line, ".") == 0 || strcmp(line, ":") == 0) {
        message->kind = line[0] == '.' ? MESSAGE_LAUNCH : MESSAGE_CHECKING;
        return STATUS_OK;
    }
    json_t     *json = json_loads(line, 0, &json_error);
    const char *kind = json_string_value(json_object_get(json, "say"));
    if (!kind)
        kind = json_string_value(json_object_get(json, "do"));
    size_t k = 0, n = sizeof kind_names / sizeof kind_names[0];
    while (kind && k < n && strcmp(kind_names[k], kind) != 0)
        k++;
    bool has_case = kind && (k == MESSAGE_CASE || k == MESSAGE_TIME);
    if (has_case)
        message->concrete = case_from_json(json_object_get(json, "case"), arena);
    if (!kind || k == n || (has_case && !message->concrete)) {
        json_decref(json);
        return error_set(err, STATUS_BOOKS, "worker and runner do not understand each other: '%.80s'", line);
    }
    message->kind = (enum message_kind)k;
    copy_text(message->text, sizeof message->text, json, "text");
    message->repeats = number_of(json, "repeats");
    message->for_trials = json_is_true(json_object_get(json, "for_trials"));
    if (message->kind == MESSAGE_PROVIDER)
        read_provider(json_object_get(json, "provider"), arena, &message->provider);
    if (message->kind == MESSAGE_RESULT)
        read_judgement(json_object_get(json, "judgement"), &message->judgement);
    if (message->kind == MESSAGE_TIME)
        read_order(json_object_get(json, "order"), &message->order);
    if (message->kind == MESSAGE_TIMED)
        read_leg(json_object_get(json, "times"), &message->times);
    json_decref(json);
    return STATUS_OK;
}

void message_describe(const struct loaded_provider *loaded, struct provider_description *description)
{
    *description = (struct provider_description){.memory = loaded->provider->memory,
                                                 .claims = loaded->provider->claims};
    snprintf(description->name, sizeof description->name, "%s", loaded->provider->name);
    snprintf(description->version, sizeof description->version, "%s", loaded->provider->version);
    snprintf(description->origin, sizeof description->origin, "%s", loaded->origin);
    memcpy(description->digest, loaded->digest, sizeof description->digest);
    /* Longer than there is room for would be cut in the middle, and no JSON. */
    if (loaded->is_process && strlen(process_versions()) < sizeof description->versions)
        snprintf(description->versions, sizeof description->versions, "%s", process_versions());
    /* Only read on the way out. */
    description->limits = (struct topk_limit *)(uintptr_t)loaded->provider->limits;
}
