/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims as text: the one table between `struct topk_claims` and its spelling in YAML, on a kernel source's first line,
 * in adapters, in the store and in messages. Members by name, enum values in lower case with `-` for `_`:
 * "level=set-repeatable tie=any nan=bits padding=minus-one max_topk=512".
 */
#ifndef TOPKCTS_CLAIMS_H
#define TOPKCTS_CLAIMS_H

#include "harness/provider.h"
#include "harness/status.h"
#include "reference/reference.h"

#include <stdbool.h>
#include <stddef.h>

/* The spelling of a level, "canonical"; and back: -1 when there is none of that name. */
const char *level_text(enum topk_level level);
int         level_from_text(const char *text);

/* Names of all levels, for messages: "none, safe, valid, ...". */
const char *level_names(void);

/* Writes the claims, level first, then what differs from the base contract. */
void claims_format(const struct topk_claims *claims, char *text, size_t size);

/* Sets one member from its spelling. STATUS_USAGE with the accepted names or values otherwise. */
enum status claims_set(struct topk_claims *claims, const char *name, const char *value, struct error *err);

/* Checks that `name` is a member and `value` one of its spellings, as claims_set would. */
enum status claims_check(const char *name, const char *value, struct error *err);

/* Whether the member `name` of the claims has the spelling `value`. Both must be valid. */
bool claims_has(const struct topk_claims *claims, const char *name, const char *value);

/* Whether every enum member is in its range (a plugin may hand over anything); names the first that is not. */
enum status claims_validate(const struct topk_claims *claims, struct error *err);

/* The largest topk that is promised. */
int32_t claims_max_topk(const struct topk_claims *claims);

/* The rules by which the reference answers under these claims. */
struct reference_rules claims_rules(const struct topk_claims *claims);

#endif
