/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits that a provider does not declare, by what it shows: the inner path that it says served a launch, and the time a
 * launch takes. A ladder of lengths, of topk and of batches is launched; where path or time changes from one step to the
 * next, the place is bisected. A limit is the first value on the far side.
 */
#ifndef TOPKCTS_FUZZ_PROBE_H
#define TOPKCTS_FUZZ_PROBE_H

#include "harness/fuzz/fuzz_problem.h"
#include "harness/trial_session.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FUZZ_MAX_PROBED = 24 };

enum fuzz_axis { FUZZ_AXIS_LENGTH, FUZZ_AXIS_TOPK, FUZZ_AXIS_BATCH, N_FUZZ_AXES };

/* "length", "topk", "batch" */
const char *fuzz_axis_text(enum fuzz_axis axis);

struct fuzz_probed {
    enum fuzz_axis axis;
    int32_t        value;             /* the first beyond the change */
    bool           by_time;           /* by how long a launch takes, not by its path */
    char           before[64], after[64]; /* paths; or times in words */
};

struct fuzz_probe {
    struct fuzz_probed found[FUZZ_MAX_PROBED];
    size_t             n_found;
    bool               has_paths; /* the provider says which path it takes */
    int32_t            launches;
};

/* Probes what the generator may ask for; `with_time`: also by time, which wants a quiet machine and no simulator. Ends
 * after about `seconds`. A provider that fails here is left for the search to find. */
enum status fuzz_probe(const struct fuzz_generator *generator, struct trial_session *session, bool with_time,
                       double seconds, struct fuzz_probe *probe, struct error *err);

#endif
