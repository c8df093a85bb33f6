/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way back: a family as the YAML entry that family.c reads. For cases that the program makes itself: captured ones,
 * and ones made small. The only code that writes YAML.
 */
#ifndef TOPKCTS_FAMILY_WRITE_H
#define TOPKCTS_FAMILY_WRITE_H

#include "cases/case.h"
#include "harness/status.h"

#include <stddef.h>
#include <stdint.h>

/* A step of the sequence. */
struct family_entry_step {
    int32_t                  topk, page_size; /* 0: as in the case */
    const struct case_param *params;
    size_t                   n_params;
};

/* What the entry says. All texts are the caller's; NULL or 0 leaves a key out. */
struct family_entry {
    const char                     *comment; /* lines without their '#', joined by line ends */
    const char                     *id, *summary, *fault, *source, *generator; /* only source may be NULL */
    const struct case_param        *params; /* a text of several lines becomes a list */
    size_t                          n_params;
    const struct case_param        *origin; /* captured_from */
    size_t                          n_origin;
    const struct case_param        *promises; /* requires: spellings joined by blanks become a list */
    size_t                          n_promises;
    const struct family_entry_step *steps;
    size_t                          n_steps;
    int32_t                         topk, page_size;
    int32_t                         launches;
    const char                     *outputs;
    const char                     *suite; /* takes all of it */
};

/* The entry as text, malloc'd; NULL with an error. */
char *family_entry_text(const struct family_entry *entry, struct error *err);

/* Where an entry of a registry folder goes: DIR/cases/ID.yaml, or DIR/ID.yaml where families stand in the folder itself.
 * The folder is made if it is not there. */
enum status family_entry_path(const char *registry, const char *id, char *path, size_t size, struct error *err);

#endif
