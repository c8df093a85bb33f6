/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many databases into one. What is known afterwards does not depend on the order of the sources, nor on how often one
 * is merged:
 *
 *   - results meet by their key (run, device_id, provider, provider_digest, origin, case_name, attempt);
 *   - a verdict beats `notrun`, and a judged row beats an `error` or a `skip`;
 *   - two different judged rows of one key, or two different descriptions of one run, are a conflict. It is told, and
 *     the worse verdict stays, so that no order of merging turns a failure into a pass;
 *   - a run that was closed in one source is closed, one that was excluded in one source is excluded;
 *   - `latest` is what it would be had every run ended in this database.
 */
#ifndef TOPKCTS_STORE_MERGE_H
#define TOPKCTS_STORE_MERGE_H

#include "harness/store.h"

/* What a merge did; added up over calls. */
struct store_merge_counts {
    int64_t runs;      /* that were new */
    int64_t added;     /* results that were new */
    int64_t completed; /* planned results that got their verdict */
    int64_t known;     /* results that were there already, the same */
    int64_t conflicts;
};

/* Two stories about one thing. Texts live until the callback returns. */
struct store_merge_conflict {
    const char *source; /* the file */
    const char *what;   /* "run", "device", "provider" or "result" */
    const char *key;    /* the thing: run, then device, provider, case, attempt as far as they apply */
    const char *stored; /* what the database said */
    const char *found;  /* what the source says */
    bool        replaced; /* the source's stays */
};

/* Merges the database `source_path` into the store, in one transaction: all of it or nothing. The source is not
 * changed. An older schema is brought forward in a temporary copy beside the store. STATUS_USAGE when both are the same
 * file; STATUS_BOOKS when the source cannot be read, is damaged or newer than this program. Conflicts are no failure:
 * they are counted and handed to `conflict` one by one. */
enum status store_merge(struct store *store, const char *source_path, struct store_merge_counts *counts,
                        void (*conflict)(void *payload, const struct store_merge_conflict *), void *payload,
                        struct error *err);

#endif
