/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trial: problems held in memory, to be launched on a provider and judged. What `fuzz` makes by the thousand, what
 * `shrink` makes smaller; registry cases have judge_case() instead.
 *
 * A trial is one problem, and optionally others that are launched before it in the same open, over the same buffers and
 * workspace. All are checked against the reference as every launch is; beyond that the last one can be put to the
 * judge's whole launch plan, or to single relations: derived launches whose answer follows from the first one's without
 * any oracle.
 *
 *     trial.h          the trial, and the judge's side of it (in workers)
 *     trial_memory.h   trials and judgements in memory that both processes see
 *     trial_session.h  the parent's side: a provider open in a worker, given trials, restarted when it dies
 */
#ifndef TOPKCTS_TRIAL_H
#define TOPKCTS_TRIAL_H

#include "cases/case.h"
#include "harness/judge.h"
#include "harness/registry.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The relations: bit, name, what is launched and compared. "Set" is compared where the claims fix it (ties `lowest`, or
 * no tie at the cut) and is a matter of level `valid`; "bytes" are a matter of `invariant`.
 * Metamorphic testing: T. Y. Chen, S. C. Cheung, S. M. Yiu, "Metamorphic testing: a new approach for generating next
 * test cases", HKUST-CS98-01, 1998.
 */
#define TRIAL_RELATION_LIST(X)                                                                                       \
    X(AGAIN, "again")           /* the same launch again: the same bytes, as for `repeatable` */                      \
    X(ROWS, "rows")             /* rows in another order: the same bytes for each */                                 \
    X(SPLIT, "split")           /* one row, or half of the batch, alone: the same bytes */                           \
    X(MEMORY, "memory")         /* other base, stride, end of memory, workspace contents: the same bytes */          \
    X(BETWEEN, "between")       /* the problem once more after another one in the same buffers: the same bytes */    \
    X(COLUMNS, "columns")       /* the columns of rows without a tie at the cut permuted: the permuted set */        \
    X(APPENDED, "appended")     /* scores below the cut appended to rows that are cut: the same set */               \
    X(GARBAGE, "garbage")       /* other garbage past the rows' ends: the same bytes */                              \
    X(NEXT_TOPK, "next-topk")   /* topk + 1 (or - 1 at the largest): one set contains the other */                   \
    X(SCALED, "scaled")         /* scores times a power of two, exactly: the same set */                             \
    X(ZEROES, "zeroes")         /* the other zero, where zeros are equal: the same set */                            \
    X(BESIDE, "beside")         /* after a second provider's launch, where the bench has one: the same bytes; and the \
                                   same set as that one, where both fix it */

enum trial_relation {
#define TRIAL_RELATION_ENUM(name, text) TRIAL_##name,
    TRIAL_RELATION_LIST(TRIAL_RELATION_ENUM)
#undef TRIAL_RELATION_ENUM
    N_TRIAL_RELATIONS
};

/* "again", "rows", ... */
const char *trial_relation_text(enum trial_relation relation);

/* How much is launched. */
enum trial_plan {
    TRIAL_ONCE, /* the problems in order, the last one `repeats` times, then its relations */
    TRIAL_FULL  /* the judge's whole launch plan for the last problem, the others before each of its launches; relations
                   after it */
};

/* Inputs belong to whoever made the trial. */
struct trial {
    const struct case_inputs *problems; /* [n_problems], the last one is the trial's own */
    int32_t                   n_problems; /* 1 .. TRIAL_MAX_PROBLEMS */
    enum outputs              outputs;    /* of every launch */
    enum trial_plan           plan;
    int32_t                   repeats;    /* ONCE: 0 counts as 1; FULL: at least the device's number */
    uint32_t                  relations;  /* bits: 1 << TRIAL_ROWS ... */
    uint64_t                  seed;       /* of what relations choose: permutations, exponents, garbage */
};

enum { TRIAL_MAX_PROBLEMS = 32 };

/* Judges a trial on the bench, in the worker. As judge_case: *judgement is all that comes out. `promised` is the
 * provider's level, or `valid` where the claims leave something of the inputs unranked. A trial that asks for what the
 * claims do not promise (NaN, lengths, topk) is a skip with the reason "not promised: ...". `input_hash` is that of the
 * last problem; `repeats` counts all launches. */
void judge_trial(struct launch_bench *bench, const struct trial *trial, struct judgement *judgement);

/* Whether inputs are within what the claims promise; otherwise the first thing that is not is written to `why`.
 * *level: what is asked at most. */
bool trial_is_promised(const struct case_inputs *inputs, const struct topk_claims *claims, enum topk_level *level,
                       char *why, size_t why_size);

/* The kind of a reason: what is left of it without launch, row and numbers, so that failures that read the same but for
 * those compare equal. "not valid: launch 3 (rows rotated): row 2: index 17 is selected twice" and the same of row 5 are
 * one kind: "index # is selected twice". Also for reasons that come from the database. */
enum { TRIAL_KIND_BYTES = 256 };
void trial_reason_kind(const char *reason, char kind[TRIAL_KIND_BYTES]);

#endif
