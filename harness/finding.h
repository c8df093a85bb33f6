/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding: a trial that fails for a provider, as a file. Written by `fuzz`, read by `fuzz FILE` and `shrink FILE`. JSON
 * with the inputs in full, rows and page tables in the spelling of cases/literal_text.h:
 *
 *     {"finding": 1, "provider": "./mine.so", "device": "host", "verdict": "fail", "level": "safe", "promised": "canonical",
 *      "reason": "...", "kind": "...", "again": "...", "shape": "...", "seed": 7, "problem": 12, "replay": "topkcts fuzz ...",
 *      "trial": {"outputs": "page+raw", "plan": "once", "repeats": 1, "relations": ["rows"], "seed": 99, "problems": [
 *         {"topk": 2, "page_size": 64, "batch": 1, "max_seq_len": 3, "score_stride": 4, "page_table_stride": 1,
 *          "base_shift": 0, "input_hash": "...", "rows": ["1, 2 x 2 | inf"], "pages": ["7"]}]}}
 */
#ifndef TOPKCTS_FINDING_H
#define TOPKCTS_FINDING_H

#include "harness/trial.h"

#include <stddef.h>
#include <stdint.h>

/* A finding in memory. Texts and inputs are its own when it was read; whose they are when it is written is up to the
 * caller. */
struct finding {
    char               provider[4096], device[64];
    enum verdict       verdict;
    enum topk_level    level, promised;
    char               reason[JUDGE_REASON_BYTES], kind[TRIAL_KIND_BYTES];
    char               again[128]; /* how it can be had again, in words */
    char               shape[128]; /* what the problem is about, in words; may be "" */
    char               replay[4096]; /* a command that has it again; may be "" */
    uint64_t           seed;
    int64_t            problem;
    struct trial       trial; /* problems: `inputs` */
    struct case_inputs inputs[TRIAL_MAX_PROBLEMS];
};

/* Writes the file whole or not at all. STATUS_BOOKS with the path and the cause when it cannot. */
enum status finding_write(const char *path, const struct finding *finding, struct error *err);

/* Reads a file into *finding, which finding_clear frees. STATUS_USAGE names the file, the place and what is wrong. */
enum status finding_read(const char *path, struct finding *finding, struct error *err);
void        finding_clear(struct finding *finding);

#endif
