/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML files as trees that know where they stand. The only code that talks to libyaml.
 *
 * Every message starts with "file:line:" and names the key and what is accepted, so that the registry above never
 * formats a position itself. Nodes live in the caller's arena.
 */
#ifndef TOPKCTS_YAML_TREE_H
#define TOPKCTS_YAML_TREE_H

#include "harness/arena.h"
#include "harness/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAP };

struct yaml_node {
    enum yaml_kind    kind;
    const char       *file;
    int               line;  /* from 1 */
    const char       *key;   /* the key this value stands under, for messages; NULL at the top and in lists */
    const char       *text;  /* of a scalar */
    bool              plain; /* a scalar without quotes */
    struct yaml_node *items; /* of a list, or the values of a map in file order (each with its key) */
    size_t            n_items;
};

/* Reads the one document of a file. An unreadable file, a syntax error, an empty document, a repeated key, a key that
 * is no scalar: STATUS_USAGE. */
enum status yaml_load(const char *path, struct arena *arena, struct yaml_node **root, struct error *err);

/* The same for a file that is a list; STATUS_USAGE for any other. */
enum status yaml_load_list(const char *path, struct arena *arena, struct yaml_node **list, struct error *err);

/* Fails at the node: "file:line: key: message". */
enum status yaml_error(const struct yaml_node *node, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts the node's place in front of a message that is recorded already: the same form. */
enum status yaml_error_at(const struct yaml_node *node, struct error *err);

/* The value under `key` of a map; NULL when there is none. */
const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key);

/* Checks that the node is a map, that its keys are among `accepted` (NULL-terminated) and that each of the first
 * `n_required` of them is there. `what` names the thing: "family", "suite". */
enum status yaml_check_keys(const struct yaml_node *map, const char *what, const char *const *accepted,
                            size_t n_required, struct error *err);

/* Checks the kind; `what` is said when it is another. */
enum status yaml_check_kind(const struct yaml_node *node, enum yaml_kind kind, const char *what, struct error *err);

/* A scalar's text (not empty), a number in [low, high], true or false. */
enum status yaml_text(const struct yaml_node *node, const char **text, struct error *err);
enum status yaml_number(const struct yaml_node *node, int64_t low, int64_t high, int64_t *number, struct error *err);
enum status yaml_flag(const struct yaml_node *node, bool *flag, struct error *err);

/* The texts of a list; `what` is said when it is none. */
enum status yaml_texts(const struct yaml_node *node, const char *what, struct arena *arena, const char *const **texts,
                       size_t *n, struct error *err);

/* Which of the accepted texts (NULL-terminated) a scalar is. */
enum status yaml_choice(const struct yaml_node *node, const char *const *accepted, int *which, struct error *err);

/* A plain decimal number in [low, high]: "2.5", no exponent, no sign. */
enum status yaml_decimal(const struct yaml_node *node, double low, double high, double *number, struct error *err);

/* A day of the calendar, "2027-01-31"; texts of days compare as the days do. */
enum status yaml_date(const struct yaml_node *node, const char **date, struct error *err);

/* Today, UTC, in the same form. */
void yaml_today(char date[16]);

#endif
