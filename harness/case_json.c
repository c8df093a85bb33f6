/* SPDX-License-Identifier: Apache-2.0 */
/* A case as JSON and back; see case_json.h. */
#include "harness/case_json.h"

#include <stdlib.h>
#include <string.h>

/* ---- to JSON ------------------------------------------------------------------------------------------------------ */

static json_t *lengths_json(const int32_t *lengths, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_integer(lengths[i]));
    return list;
}

static json_t *params_json(const struct case_param *params, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_pack("[s, s]", params[i].name, params[i].text));
    return list;
}

static json_t *promises_json(const struct family *family)
{
    json_t *list = json_array();
    for (size_t p = 0; p < family->n_promises; p++) {
        json_t *values = json_array();
        for (const char *const *value = family->promises[p].values; *value; value++)
            json_array_append_new(values, json_string(*value));
        json_array_append_new(list, json_pack("[s, o]", family->promises[p].claim, values));
    }
    return list;
}

static json_t *sequence_json(const struct family *family)
{
    json_t *list = json_array();
    for (size_t s = 0; s < family->n_sequence; s++) {
        const struct sequence_step *step = &family->sequence[s];
        json_array_append_new(list, json_pack("{s:i, s:i, s:i, s:o, s:o}", "topk", (int)step->topk, "page_size",
                                              (int)step->page_size, "batch", (int)step->batch, "lengths",
                                              lengths_json(step->lengths, step->n_lengths), "params",
                                              params_json(step->params, step->n_params)));
    }
    return list;
}

static json_t *sweeps_json(const struct family *family)
{
    json_t *list = json_array();
    for (size_t s = 0; s < family->n_sweeps; s++) {
        const struct sweep *sweep = &family->sweeps[s];
        json_array_append_new(list, json_pack("[i, i, i, i]", (int)sweep->axis, (int)sweep->from, (int)sweep->to,
                                              (int)sweep->step));
    }
    return list;
}

/* A path is bytes, and JSON wants UTF-8: each byte becomes the character of that number. NULL for want of memory. */
static json_t *path_json(const char *path)
{
    size_t         used = 0;
    unsigned char *characters = path ? malloc(2 * strlen(path) + 1) : NULL;
    if (!characters)
        return path ? NULL : json_null();
    for (const unsigned char *byte = (const unsigned char *)path; *byte; byte++) {
        if (*byte >= 0x80)
            characters[used++] = (unsigned char)(0xc0 | *byte >> 6);
        characters[used++] = *byte < 0x80 ? *byte : (unsigned char)(0x80 | (*byte & 0x3f));
    }
    json_t *json = json_stringn((const char *)characters, used);
    free(characters);
    return json;
}

json_t *case_to_json(const struct concrete_case *concrete)
{
    const struct case_spec *spec = &concrete->spec;
    const struct family    *family = concrete->family;
    return json_pack("{s:s, s:s, s:s, s:I, s:i, s:i, s:i, s:o, s:o, s:o, s:i, s:s?, s:i, s:b, s:o, s:o, s:o}", "name",
                     concrete->name, "family", spec->family, "generator", spec->generator, "seed",
                     (json_int_t)spec->seed, "topk", (int)spec->topk, "page_size", (int)spec->page_size, "batch",
                     (int)spec->batch, "lengths", lengths_json(spec->lengths, spec->n_lengths), "params",
                     params_json(spec->params, spec->n_params), "captured", path_json(spec->captured), "outputs",
                     (int)concrete->outputs, "input_hash", concrete->input_hash, "launches", (int)family->launches,
                     "both_origins", family->both_origins, "promises", promises_json(family), "sweeps",
                     sweeps_json(family), "sequence", sequence_json(family));
}

/* ---- from JSON ---------------------------------------------------------------------------------------------------- */

static int32_t number_of(const json_t *object, const char *key)
{
    return (int32_t)json_integer_value(json_object_get(object, key));
}

/* NULL for what is not there, or no text. */
static const char *text_of(struct arena *arena, const json_t *json)
{
    return arena_text(arena, json_string_value(json));
}

/* The bytes that path_json made characters of. */
static const char *path_of(struct arena *arena, const json_t *json)
{
    char  *path = arena_text(arena, json_string_value(json));
    size_t used = 0;
    for (const unsigned char *from = (const unsigned char *)path; from && *from; from++) {
        bool is_pair = *from >= 0xc2 && from[1];
        path[used++] = (char)(is_pair ? (from[0] & 3) << 6 | (from[1] & 0x3f) : *from);
        from += is_pair;
    }
    if (path)
        path[used] = '\0';
    return path;
}

static const int32_t *read_lengths(struct arena *arena, const json_t *list, size_t *n)
{
    *n = json_array_size(list);
    int32_t *lengths = arena_alloc(arena, (*n + 1) * sizeof *lengths);
    for (size_t i = 0; i < *n; i++)
        lengths[i] = (int32_t)json_integer_value(json_array_get(list, i));
    return lengths;
}

/* NULL when an entry is no pair of texts. */
static const struct case_param *read_params(struct arena *arena, const json_t *list, size_t *n)
{
    *n = json_array_size(list);
    struct case_param *params = arena_alloc(arena, (*n + 1) * sizeof *params);
    for (size_t i = 0; i < *n; i++) {
        params[i].name = text_of(arena, json_array_get(json_array_get(list, i), 0));
        params[i].text = text_of(arena, json_array_get(json_array_get(list, i), 1));
        if (!params[i].name || !params[i].text)
            return NULL;
    }
    return params;
}

static bool read_promises(struct arena *arena, const json_t *list, struct family *family)
{
    family->n_promises = json_array_size(list);
    family->promises = arena_alloc(arena, (family->n_promises + 1) * sizeof *family->promises);
    for (size_t p = 0; p < family->n_promises; p++) {
        const json_t *texts = json_array_get(json_array_get(list, p), 1);
        size_t        n = json_array_size(texts);
        const char  **values = arena_alloc(arena, (n + 1) * sizeof *values);
        for (size_t v = 0; v < n; v++)
            if (!(values[v] = text_of(arena, json_array_get(texts, v))))
                return false;
        family->promises[p].claim = text_of(arena, json_array_get(json_array_get(list, p), 0));
        family->promises[p].values = values;
        if (!family->promises[p].claim || n == 0)
            return false;
    }
    return true;
}

static bool read_sequence(struct arena *arena, const json_t *list, struct family *family)
{
    family->n_sequence = json_array_size(list);
    family->sequence = arena_alloc(arena, (family->n_sequence + 1) * sizeof *family->sequence);
    for (size_t s = 0; s < family->n_sequence; s++) {
        const json_t         *json = json_array_get(list, s);
        struct sequence_step *step = &family->sequence[s];
        step->topk = number_of(json, "topk");
        step->page_size = number_of(json, "page_size");
        step->batch = number_of(json, "batch");
        step->lengths = read_lengths(arena, json_object_get(json, "lengths"), &step->n_lengths);
        step->params = read_params(arena, json_object_get(json, "params"), &step->n_params);
        if (!step->params)
            return false;
    }
    return true;
}

static bool read_sweeps(struct arena *arena, const json_t *list, struct family *family)
{
    family->n_sweeps = json_array_size(list);
    family->sweeps = arena_alloc(arena, (family->n_sweeps + 1) * sizeof *family->sweeps);
    for (size_t s = 0; s < family->n_sweeps; s++) {
        int32_t numbers[4];
        for (size_t i = 0; i < 4; i++)
            numbers[i] = (int32_t)json_integer_value(json_array_get(json_array_get(list, s), i));
        if (numbers[0] < 0 || numbers[0] >= N_FIXED_AXES || numbers[3] < 1)
            return false;
        family->sweeps[s] = (struct sweep){(enum fixed_axis)numbers[0], numbers[1], numbers[2], numbers[3]};
    }
    return true;
}

const struct concrete_case *case_from_json(const json_t *json, struct arena *arena)
{
    struct concrete_case *concrete = arena_alloc(arena, sizeof *concrete);
    struct family        *family = arena_alloc(arena, sizeof *family);
    struct case_spec     *spec = &concrete->spec;
    int32_t               outputs = number_of(json, "outputs");
    concrete->name = text_of(arena, json_object_get(json, "name"));
    concrete->input_hash = text_of(arena, json_object_get(json, "input_hash"));
    concrete->family = family;
    *spec = (struct case_spec){
        .family = text_of(arena, json_object_get(json, "family")),
        .generator = text_of(arena, json_object_get(json, "generator")),
        .captured = path_of(arena, json_object_get(json, "captured")),
        .seed = (uint64_t)json_integer_value(json_object_get(json, "seed")),
        .topk = number_of(json, "topk"),
        .page_size = number_of(json, "page_size"),
        .batch = number_of(json, "batch"),
    };
    spec->lengths = read_lengths(arena, json_object_get(json, "lengths"), &spec->n_lengths);
    spec->params = read_params(arena, json_object_get(json, "params"), &spec->n_params);
    for (size_t i = 0; i < spec->n_lengths; i++)
        if (spec->lengths[i] > concrete->longest)
            concrete->longest = spec->lengths[i];
    family->id = spec->family;
    family->generator = spec->generator;
    family->seed = spec->seed;
    family->launches = number_of(json, "launches");
    family->both_origins = json_is_true(json_object_get(json, "both_origins"));
    if (!concrete->name || !spec->family || !spec->generator || !spec->params || outputs < 0 || outputs >= N_OUTPUTS ||
        !read_promises(arena, json_object_get(json, "promises"), family) ||
        !read_sweeps(arena, json_object_get(json, "sweeps"), family) ||
        !read_sequence(arena, json_object_get(json, "sequence"), family))
        return NULL;
    concrete->outputs = (enum outputs)outputs;
    return concrete;
}
