/* SPDX-License-Identifier: Apache-2.0 */
/* Claims as text; see claims.h. The table below is the only list of members and spellings. */
#include "harness/claims.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TOPK_LIMIT 4096
#define DEFAULT_MAX_TOPK 1024

static const struct {
    const char *name;
    size_t      offset;
    const char *values[8]; /* in the order of the enum; NULL ends */
} members[] = {
    {"level",
     offsetof(struct topk_claims, level),
     {"none", "safe", "valid", "set-repeatable", "repeatable", "invariant", "canonical", NULL}},
    {"tie", offsetof(struct topk_claims, tie), {"lowest", "any", NULL}},
    {"zero", offsetof(struct topk_claims, zero), {"equal", "bits", NULL}},
    {"nan", offsetof(struct topk_claims, nan), {"none", "any", "bits", "largest", "never", NULL}},
    {"neg_inf", offsetof(struct topk_claims, neg_inf), {"score", "hole", NULL}},
    {"padding", offsetof(struct topk_claims, padding), {"minus-one", "unspecified", NULL}},
    {"negative_length", offsetof(struct topk_claims, negative_length), {"none", "empty", NULL}},
    {"overlong", offsetof(struct topk_claims, overlong), {"none", "clamped", NULL}},
    {"outputs", offsetof(struct topk_claims, outputs), {"all", "page", "raw", NULL}},
    {"capture", offsetof(struct topk_claims, capture), {"none", "ok", NULL}},
};
#define N_MEMBERS (sizeof members / sizeof members[0])

_Static_assert(sizeof(enum topk_level) == sizeof(unsigned), "members are read and written as unsigned");

static unsigned get(const struct topk_claims *claims, size_t member)
{
    unsigned value;
    memcpy(&value, (const char *)claims + members[member].offset, sizeof value);
    return value;
}

static unsigned value_count(size_t member)
{
    unsigned n = 0;
    while (members[member].values[n])
        n++;
    return n;
}

static void join_values(size_t member, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned v = 0; members[member].values[v] && used < size; v++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", v ? ", " : "", members[member].values[v]);
}

const char *level_text(enum topk_level level)
{
    return (unsigned)level < value_count(0) ? members[0].values[level] : "?";
}

int level_from_text(const char *text)
{
    for (int i = 0; members[0].values[i]; i++)
        if (strcmp(members[0].values[i], text) == 0)
            return i;
    return -1;
}

const char *level_names(void)
{
    static char names[128];
    if (!names[0])
        join_values(0, names, sizeof names);
    return names;
}

void claims_format(const struct topk_claims *claims, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t m = 0; m < N_MEMBERS && used < size; m++) {
        unsigned value = get(claims, m);
        if (m == 0 || value != 0)
            used += (size_t)snprintf(text + used, size - used, "%s%s=%s", m ? " " : "", members[m].name,
                                     value < value_count(m) ? members[m].values[value] : "?");
    }
    if (claims->max_topk != 0 && claims->max_topk != DEFAULT_MAX_TOPK && used < size)
        snprintf(text + used, size - used, " max_topk=%d", claims->max_topk);
}

/* Finds member and value; max_topk has no list and is told apart by *member == N_MEMBERS. */
static enum status find(const char *name, const char *value, size_t *member, unsigned *index, struct error *err)
{
    char accepted[256];
    if (strcmp(name, "max_topk") == 0) {
        char *end;
        long  number = strtol(value, &end, 10);
        if (*value == '\0' || *end != '\0' || number < 1 || number > MAX_TOPK_LIMIT)
            return error_set(err, STATUS_USAGE, "max_topk=%s: a number from 1 to %d is accepted", value,
                             MAX_TOPK_LIMIT);
        *member = N_MEMBERS;
        *index = (unsigned)number;
        return STATUS_OK;
    }
    for (size_t m = 0; m < N_MEMBERS; m++) {
        if (strcmp(members[m].name, name) != 0)
            continue;
        for (unsigned v = 0; members[m].values[v]; v++)
            if (strcmp(members[m].values[v], value) == 0) {
                *member = m;
                *index = v;
                return STATUS_OK;
            }
        join_values(m, accepted, sizeof accepted);
        return error_set(err, STATUS_USAGE, "%s=%s: accepted are %s", name, value, accepted);
    }
    size_t used = 0;
    for (size_t m = 0; m < N_MEMBERS; m++)
        used += (size_t)snprintf(accepted + used, sizeof accepted - used, "%s, ", members[m].name);
    return error_set(err, STATUS_USAGE, "no claim '%s': there are %smax_topk", name, accepted);
}

enum status claims_set(struct topk_claims *claims, const char *name, const char *value, struct error *err)
{
    size_t   member;
    unsigned index;
    if (find(name, value, &member, &index, err))
        return err->status;
    if (member == N_MEMBERS)
        claims->max_topk = (int32_t)index;
    else
        memcpy((char *)claims + members[member].offset, &index, sizeof index);
    return STATUS_OK;
}

enum status claims_check(const char *name, const char *value, struct error *err)
{
    struct topk_claims unused = {0};
    return claims_set(&unused, name, value, err);
}

bool claims_has(const struct topk_claims *claims, const char *name, const char *value)
{
    struct error ignored = {0};
    size_t       member;
    unsigned     index;
    if (find(name, value, &member, &index, &ignored))
        return false;
    if (member == N_MEMBERS)
        return claims_max_topk(claims) >= (int32_t)index;
    return get(claims, member) == index;
}

enum status claims_validate(const struct topk_claims *claims, struct error *err)
{
    char accepted[256];
    for (size_t m = 0; m < N_MEMBERS; m++)
        if (get(claims, m) >= value_count(m)) {
            join_values(m, accepted, sizeof accepted);
            return error_set(err, STATUS_USAGE, "claims.%s is %u, which names none of: %s", members[m].name,
                             get(claims, m), accepted);
        }
    if (claims->max_topk < 0 || claims->max_topk > MAX_TOPK_LIMIT)
        return error_set(err, STATUS_USAGE, "claims.max_topk is %d: 0 (which means %d) to %d is accepted",
                         claims->max_topk, DEFAULT_MAX_TOPK, MAX_TOPK_LIMIT);
    if (claims->level == TOPK_LEVEL_NONE)
        return error_set(err, STATUS_USAGE, "claims.level is none: a provider must promise one of the levels after it: %s",
                         level_names());
    return STATUS_OK;
}

int32_t claims_max_topk(const struct topk_claims *claims)
{
    return claims->max_topk ? claims->max_topk : DEFAULT_MAX_TOPK;
}

struct reference_rules claims_rules(const struct topk_claims *claims)
{
    static const enum reference_nan nan_rules[] = {
        [TOPK_NAN_NONE] = REFERENCE_NAN_UNRANKED, [TOPK_NAN_ANY] = REFERENCE_NAN_UNRANKED,
        [TOPK_NAN_BITS] = REFERENCE_NAN_BITS,     [TOPK_NAN_LARGEST] = REFERENCE_NAN_LARGEST,
        [TOPK_NAN_NEVER] = REFERENCE_NAN_NEVER,
    };
    return (struct reference_rules){
        .zeros_by_bits = claims->zero == TOPK_ZERO_BITS,
        .neg_inf_is_hole = claims->neg_inf == TOPK_NEG_INF_HOLE,
        .nan = nan_rules[claims->nan],
    };
}
