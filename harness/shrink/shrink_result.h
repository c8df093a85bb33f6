/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes of making a failure small: a family of the registry with literal inputs, and a C program that shows the
 * fault without this suite.
 */
#ifndef TOPKCTS_SHRINK_RESULT_H
#define TOPKCTS_SHRINK_RESULT_H

#include "harness/digest.h"
#include "harness/option.h"
#include "harness/shrink/shrinking.h"

/* What is said about the case. Texts are the caller's. */
struct shrink_story {
    const char *id, *fault; /* a kind of faults.yaml */
    const char *from;       /* where the failure was seen: a case, a file */
    const char *provider;   /* as on the command line */
    const char *provider_name, *device;
};

struct shrink_result {
    const char *case_name, *yaml_path, *program_path, *registry; /* in the arena */
    char        hash[DIGEST_HEX];
    bool        was_there; /* the same entry stood there already */
};

/* Writes DIR/cases/ID.yaml and DIR/reproducers/ID.c, DIR being settings->into. An entry of that name with the same text is
 * left as it is; with another text it is an error (STATUS_USAGE). STATUS_BOOKS when files cannot be written. */
enum status shrink_store(const struct settings *settings, const struct shrinking *shrinking,
                         const struct shrink_story *story, struct arena *arena, struct shrink_result *result,
                         struct error *err);

/* The C program as text, malloc'd. `case_name` and `hash` go into its comment. NULL with an error. */
char *shrink_reproducer(const struct shrinking *shrinking, const struct shrink_story *story, const char *case_name,
                        const char *hash, struct error *err);

#endif
