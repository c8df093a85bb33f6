/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Concrete cases: the point of a family's matrix as a name and as a spec, and back from the name to the point; what a
 * case asks of a provider.
 */
#include "harness/claims.h"
#include "harness/name_list.h"
#include "harness/registry.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t HUGE_INPUT_BYTES = (int64_t)4 << 30;

static int32_t number_of(const struct axis_value *value)
{
    return (int32_t)strtol(value->text, NULL, 10);
}

/* A batch smaller than a ragged list is raised to it: each listed length is one row at least. */
static int32_t batch_of(const struct axis_value *batch, const struct axis_value *length)
{
    int32_t asked = number_of(batch);
    return asked < (int32_t)length->n_lengths ? (int32_t)length->n_lengths : asked;
}

static int by_param_name(const void *a, const void *b)
{
    return strcmp(((const struct case_param *)a)->name, ((const struct case_param *)b)->name);
}

static enum outputs outputs_from_text(const char *text)
{
    int outputs = 0;
    while (strcmp(outputs_text((enum outputs)outputs), text) != 0)
        outputs++;
    return (enum outputs)outputs;
}

struct concrete_case concrete_case_at(struct arena *arena, const struct family *family, const struct matrix *matrix,
                                      const uint16_t *values)
{
    struct concrete_case     made = {.family = family};
    size_t                   n_axis_params = matrix->n_axes - N_FIXED_AXES;
    struct case_param       *params = arena_alloc(arena, (family->n_params + n_axis_params + 1) * sizeof *params);
    const struct axis_value *at[MAX_AXES];
    assert(matrix->n_axes >= N_FIXED_AXES); /* family.c gives every matrix the fixed axes */
    for (size_t a = 0; a < matrix->n_axes; a++)
        at[a] = &matrix->axes[a].values[values[a]];
    if (family->n_params)
        memcpy(params, family->params, family->n_params * sizeof *params);
    char *name = arena_format(arena, "%s/topk=%s,length=%s,page_size=%s,batch=%d,outputs=%s", family->id,
                              at[AXIS_TOPK]->text, at[AXIS_LENGTH]->text, at[AXIS_PAGE_SIZE]->text,
                              batch_of(at[AXIS_BATCH], at[AXIS_LENGTH]), at[AXIS_OUTPUTS]->text);
    for (size_t p = 0; p < n_axis_params; p++) {
        params[family->n_params + p].name = matrix->axes[N_FIXED_AXES + p].name;
        params[family->n_params + p].text = at[N_FIXED_AXES + p]->text;
        name = arena_format(arena, "%s,%s=%s", name, params[family->n_params + p].name,
                            params[family->n_params + p].text);
    }
    qsort(params, family->n_params + n_axis_params, sizeof *params, by_param_name);
    made.name = name;
    made.outputs = outputs_from_text(at[AXIS_OUTPUTS]->text);
    made.spec = (struct case_spec){
        .family = family->id,
        .generator = family->generator,
        .seed = family->seed,
        .topk = number_of(at[AXIS_TOPK]),
        .page_size = number_of(at[AXIS_PAGE_SIZE]),
        .batch = batch_of(at[AXIS_BATCH], at[AXIS_LENGTH]),
        .lengths = at[AXIS_LENGTH]->lengths,
        .n_lengths = at[AXIS_LENGTH]->n_lengths,
        .params = params,
        .n_params = family->n_params + n_axis_params,
        .captured = family->root ? family->root->captured : NULL,
    };
    for (size_t i = 0; i < made.spec.n_lengths; i++)
        if (made.spec.lengths[i] > made.longest)
            made.longest = made.spec.lengths[i];
    made.huge = case_input_bytes(&made.spec) > HUGE_INPUT_BYTES;
    return made;
}

/* Takes the next "name=value" from *text; false at the end or when it is none. */
static bool next_setting(char **text, const char **name, const char **value)
{
    char *item = *text;
    if (!item || !*item)
        return false;
    char *comma = strchr(item, ',');
    if (comma)
        *comma = '\0';
    *text = comma ? comma + 1 : NULL;
    char *equals = strchr(item, '=');
    if (!equals)
        return false;
    *equals = '\0';
    *name = item;
    *value = equals + 1;
    return true;
}

/* The value of an axis that a name spells; the batch in a name is the raised one. */
static bool find_value(const struct matrix *matrix, size_t axis, const char *text, uint16_t *values)
{
    const struct axis *a = &matrix->axes[axis];
    for (size_t v = 0; v < a->n_values; v++)
        if (strcmp(a->values[v].text, text) == 0) {
            values[axis] = (uint16_t)v;
            return true;
        }
    if (axis != AXIS_BATCH)
        return false;
    for (size_t v = 0; v < a->n_values; v++)
        if (batch_of(&a->values[v], &matrix->axes[AXIS_LENGTH].values[values[AXIS_LENGTH]]) ==
            (int32_t)strtol(text, NULL, 10)) {
            values[axis] = (uint16_t)v;
            return true;
        }
    return false;
}

static bool point_in_matrix(const struct matrix *matrix, char *settings, uint16_t *values)
{
    const char *name, *value;
    for (size_t a = 0; a < matrix->n_axes; a++)
        if (!next_setting(&settings, &name, &value) || strcmp(name, matrix->axes[a].name) != 0 ||
            !find_value(matrix, a, value, values))
            return false;
    return settings == NULL;
}

bool concrete_case_point(const struct family *family, const char *name, size_t *matrix, uint16_t *values)
{
    char   settings[1024];
    size_t id_length = strlen(family->id);
    if (strncmp(name, family->id, id_length) != 0 || name[id_length] != '/' ||
        strlen(name) - id_length > sizeof settings)
        return false;
    for (size_t m = 0; m < family->n_matrices; m++) {
        snprintf(settings, sizeof settings, "%s", name + id_length + 1);
        if (point_in_matrix(&family->matrices[m], settings, values)) {
            *matrix = m;
            return true;
        }
    }
    return false;
}

/* Reads lengths joined by '+', as a limit case spells them, into a length axis of one value. */
static bool parse_lengths(struct arena *arena, const char *text, struct axis *axis)
{
    struct axis_value *value = arena_alloc(arena, sizeof *value);
    int32_t           *lengths = NULL;
    const char        *at = text;
    do {
        char *end;
        long  number = strtol(at, &end, 10);
        if (end == at || number < 0 || number > INT32_MAX || (*end != '+' && *end != '\0'))
            return false;
        lengths = arena_grow(arena, lengths, value->n_lengths, sizeof *lengths);
        lengths[value->n_lengths++] = (int32_t)number;
        at = *end ? end + 1 : NULL;
    } while (at);
    value->text = arena_text(arena, text);
    value->lengths = lengths;
    axis->values = value;
    axis->n_values = 1;
    return true;
}

/* A limit family's matrix has no lengths of its own; the name gives them. */
static bool limit_case(const struct family *family, const char *name, struct arena *arena, struct concrete_case *out)
{
    const char *from = strstr(name, ",length="), *to = from ? strchr(from + 1, ',') : NULL;
    if (!to)
        return false;
    from += strlen(",length=");
    const char *lengths = arena_format(arena, "%.*s", (int)(to - from), from);
    struct family with_lengths = *family;
    with_lengths.matrices = arena_alloc(arena, family->n_matrices * sizeof *family->matrices);
    for (size_t m = 0; m < family->n_matrices; m++) {
        with_lengths.matrices[m] = family->matrices[m];
        if (!parse_lengths(arena, lengths, &with_lengths.matrices[m].axes[AXIS_LENGTH]))
            return false;
    }
    size_t   matrix;
    uint16_t values[MAX_AXES];
    if (!concrete_case_point(&with_lengths, name, &matrix, values))
        return false;
    *out = concrete_case_at(arena, family, &with_lengths.matrices[matrix], values);
    return true;
}

static bool is_among(const struct concrete_case *cases, size_t n_cases, const char *name)
{
    size_t i = 0;
    while (i < n_cases && strcmp(cases[i].name, name) != 0)
        i++;
    return i < n_cases;
}

void registry_limit_cases(const struct family *family, const struct topk_limit *limits, struct arena *arena,
                          struct concrete_case **cases, size_t *n_cases)
{
    static const int64_t LARGEST_LIMIT = 1 << 20;
    for (const struct topk_limit *limit = limits; limit && limit->name; limit++) {
        bool wanted = false;
        for (const char *const *name = family->limits; name && *name; name++)
            wanted |= strcmp(*name, limit->name) == 0;
        if (!wanted || limit->value < 2 || limit->value > LARGEST_LIMIT)
            continue;
        int                cap = (int)limit->value;
        struct axis_value  lengths[5] = {{0}};
        const char        *texts[5] = {
            arena_format(arena, "%d", cap - 1), arena_format(arena, "%d", cap), arena_format(arena, "%d", cap + 1),
            arena_format(arena, "%d", 2 * cap), arena_format(arena, "%d+%d+%d", cap - 1, cap + 1, 2 * cap)};
        for (size_t i = 0; i < 5; i++) {
            struct axis one = {0};
            parse_lengths(arena, texts[i], &one);
            lengths[i] = one.values[0];
        }
        for (size_t m = 0; m < family->n_matrices; m++) {
            struct matrix matrix = family->matrices[m];
            uint16_t     *rows;
            matrix.axes[AXIS_LENGTH].values = lengths;
            matrix.axes[AXIS_LENGTH].n_values = 5;
            size_t n = matrix_combinations(arena, &matrix, NULL, 0, NULL, 0, &rows);
            for (size_t r = 0; r < n; r++) {
                struct concrete_case made = concrete_case_at(arena, family, &matrix, rows + r * matrix.n_axes);
                for (size_t s = 0; s < family->n_selections; s++)
                    made.suites |= UINT64_C(1) << family->selections[s].suite;
                if (is_among(*cases, *n_cases, made.name))
                    continue; /* limits may repeat, and 2 * 1000 is 2000 */
                *cases = arena_grow(arena, *cases, *n_cases, sizeof **cases);
                (*cases)[(*n_cases)++] = made;
            }
        }
    }
}

static enum status no_such_case(const struct registry *registry, const char *name, struct error *err)
{
    struct name_list families = {0};
    char             near[700] = "";
    size_t           used = 0, family_length = strcspn(name, "/"), shown = 0;
    for (size_t i = 0; i < registry->n_cases && shown < 4; i++)
        if (strncmp(registry->cases[i].name, name, family_length) == 0 &&
            registry->cases[i].name[family_length] == '/' && used < sizeof near) {
            used += (size_t)snprintf(near + used, sizeof near - used, "\n  %s", registry->cases[i].name);
            shown++;
        }
    if (shown)
        return error_set(err, STATUS_USAGE, "no case '%s'; this family has, for example:%s", name, near);
    for (size_t f = 0; f < registry->n_families; f++)
        name_list_add(&families, "%s", registry->families[f].id);
    return error_set(err, STATUS_USAGE, "no case '%s'; families are: %s", name, families.text);
}

enum status registry_case(const struct registry *registry, const char *name, struct arena *arena,
                          struct concrete_case *out, struct error *err)
{
    for (size_t i = 0; i < registry->n_cases; i++)
        if (strcmp(registry->cases[i].name, name) == 0) {
            *out = registry->cases[i];
            return STATUS_OK;
        }
    for (size_t f = 0; f < registry->n_families; f++) {
        const struct family *family = &registry->families[f];
        size_t               matrix;
        uint16_t             values[MAX_AXES];
        if (family->limits && limit_case(family, name, arena, out))
            return STATUS_OK;
        if (!family->limits && concrete_case_point(family, name, &matrix, values)) {
            *out = concrete_case_at(arena, family, &family->matrices[matrix], values);
            return STATUS_OK;
        }
    }
    return no_such_case(registry, name, err);
}

struct topk_claims registry_case_claims(const struct concrete_case *concrete)
{
    struct topk_claims claims = {.level = TOPK_LEVEL_CANONICAL};
    struct error       ignored = {0};
    for (size_t p = 0; p < concrete->family->n_promises; p++)
        claims_set(&claims, concrete->family->promises[p].claim, concrete->family->promises[p].values[0], &ignored);
    if (concrete->spec.topk > claims_max_topk(&claims))
        claims.max_topk = concrete->spec.topk;
    return claims;
}

bool registry_case_is_promised(const struct concrete_case *concrete, const struct topk_claims *claims, char *why,
                               size_t why_size)
{
    for (size_t p = 0; p < concrete->family->n_promises; p++) {
        const struct needed_promise *promise = &concrete->family->promises[p];
        bool                         has = false;
        for (size_t v = 0; promise->values[v]; v++)
            has |= claims_has(claims, promise->claim, promise->values[v]);
        if (!has) {
            struct name_list accepted = {0};
            for (size_t v = 0; promise->values[v]; v++)
                name_list_add(&accepted, "%s", promise->values[v]);
            snprintf(why, why_size, "needs the promise %s=%s%s", promise->claim, accepted.text,
                     promise->values[1] ? " (one of them)" : "");
            return false;
        }
    }
    if (concrete->spec.topk > claims_max_topk(claims)) {
        snprintf(why, why_size, "topk %d is beyond the promised %d", concrete->spec.topk, claims_max_topk(claims));
        return false;
    }
    if ((claims->outputs == TOPK_OUTPUTS_PAGE && concrete->outputs != OUTPUTS_PAGE) ||
        (claims->outputs == TOPK_OUTPUTS_RAW && concrete->outputs != OUTPUTS_RAW)) {
        snprintf(why, why_size, "outputs %s are not promised", outputs_text(concrete->outputs));
        return false;
    }
    return true;
}

enum topk_level registry_case_level(const struct concrete_case *concrete, const struct topk_claims *claims)
{
    bool about_nan = false;
    for (size_t p = 0; p < concrete->family->n_promises; p++)
        about_nan |= strcmp(concrete->family->promises[p].claim, "nan") == 0;
    if (about_nan && claims->nan == TOPK_NAN_ANY && claims->level > TOPK_LEVEL_VALID)
        return TOPK_LEVEL_VALID;
    return claims->level;
}

size_t case_params_replaced(const struct case_param *params, size_t n, const struct case_param *others, size_t n_others,
                            struct case_param *out)
{
    if (n)
        memcpy(out, params, n * sizeof *out);
    for (size_t i = 0; i < n_others; i++) {
        size_t p = 0;
        while (p < n && strcmp(out[p].name, others[i].name) != 0)
            p++;
        n += p == n;
        out[p] = others[i];
    }
    if (n)
        qsort(out, n, sizeof *out, by_param_name);
    return n;
}

struct case_spec registry_sequence_spec(const struct concrete_case *concrete, const struct sequence_step *step,
                                        struct case_param *params)
{
    struct case_spec spec = concrete->spec;
    if (step->topk)
        spec.topk = step->topk;
    if (step->page_size)
        spec.page_size = step->page_size;
    if (step->n_lengths) {
        spec.lengths = step->lengths;
        spec.n_lengths = step->n_lengths;
    }
    if (step->batch)
        spec.batch = step->batch;
    if (step->n_params) {
        spec.n_params = case_params_replaced(spec.params, spec.n_params, step->params, step->n_params, params);
        spec.params = params;
    }
    if (spec.batch < (int32_t)spec.n_lengths)
        spec.batch = (int32_t)spec.n_lengths;
    return spec;
}

struct case_spec registry_sweep_spec(const struct concrete_case *concrete, const struct sweep *sweep,
                                     const int32_t *value)
{
    struct sequence_step step = {0};
    if (sweep->axis == AXIS_TOPK)
        step.topk = *value;
    else if (sweep->axis == AXIS_BATCH)
        step.batch = *value;
    else {
        step.lengths = value;
        step.n_lengths = 1;
    }
    return registry_sequence_spec(concrete, &step, NULL);
}
