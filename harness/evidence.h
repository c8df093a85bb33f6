/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of `topkcts evidence`. Nobody else includes this.
 *
 *     command_evidence.c   which runs are meant, and the order of the sections
 *     evidence_runs.c      what the store says of them, from its views
 *     evidence_claims.c    what is said beyond the runs: carried to another commit, attached, unchanged code objects
 *
 * Everything is Markdown on stdout. What was not measured by a run is labelled so where it stands.
 */
#ifndef TOPKCTS_EVIDENCE_H
#define TOPKCTS_EVIDENCE_H

#include "harness/arena.h"
#include "harness/option.h"
#include "harness/store.h"

#include <jansson.h>

struct evidence {
    const struct settings *settings;
    struct arena           arena;
    struct store          *store;
    const char           **runs; /* that count, in order of start */
    size_t                 n_runs;
    const char           **excluded;
    size_t                 n_excluded;
    bool                   holds; /* false: a claim beyond the runs does not */
};

/* The rows of a query as JSON objects of texts and nulls; the caller frees them. "$RUNS" in the query stands for the
 * given runs. */
json_t *evidence_ask(const struct evidence *evidence, const char *sql, const char *const *runs, size_t n_runs,
                     struct error *err);

/* The same as a Markdown table; with nothing in it, `otherwise` is printed. */
void evidence_table(const struct evidence *evidence, const char *sql, const char *const *runs, size_t n_runs,
                    const char *otherwise, struct error *err);

/* A text of a row; "" when there is none. */
const char *evidence_text(const json_t *row, const char *name);

/* Everything that the store says of the runs. */
void evidence_write_runs(const struct evidence *evidence, struct error *err);

/* --carry, --attach, --same. STATUS_USAGE when one of them cannot be read or breaks its own rules. */
void evidence_write_claims(struct evidence *evidence, struct error *err);

#endif
