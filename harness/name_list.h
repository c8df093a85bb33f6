/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that would have been right, for messages: "smoke, conformance, race". Starts as {0}; one that is longer than a
 * message bears ends in ", ..." behind a whole name.
 */
#ifndef TOPKCTS_NAME_LIST_H
#define TOPKCTS_NAME_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct name_list {
    char   text[700];
    size_t used;    /* bytes of text */
    bool   is_full; /* ends in "..." */
};

void name_list_add(struct name_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
