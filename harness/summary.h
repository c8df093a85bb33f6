/* SPDX-License-Identifier: Apache-2.0 */
/* What a run came to: the verdict table, the failures in detail, the exit code. */
#ifndef TOPKCTS_SUMMARY_H
#define TOPKCTS_SUMMARY_H

#include "harness/runner.h"

#include <stdio.h>

/* Counts of one target. */
struct target_summary {
    size_t      verdicts[VERDICT_COUNT];
    size_t      n_left_out; /* by --budget; not among the verdicts */
    size_t      skips_over_bound;
    const char *caught_by; /* of a planted fault in suite meta: the first case of its kind that caught it */
    bool        is_planted; /* its verdicts stay out of the exit code */
};

struct summary {
    const struct runner   *runner;
    const char            *run, *database;
    struct target_summary *targets; /* in the plan's arena */
    size_t                 n_planted, n_caught;
    const char           **notes; /* one line each, in the plan's arena */
    size_t                 n_notes;
    enum status            status; /* the exit code */
};

/* Counts everything and decides the exit code: 1 for any unexpected red row, skips over their bound or a planted fault
 * that was missed; else 3 for an error or a target that had rows and judged none; else 0. */
void summary_make(struct summary *summary, const struct runner *runner, const char *run, const char *database);

/* Adds a line that people should see beside the verdicts. The text must live as long as the plan. */
void summary_note(struct summary *summary, const char *note);

/* For people: failures in detail (the first ten), the table, one last line. */
void summary_print(const struct summary *summary, FILE *file);

/* As Markdown, for a CI job's page. */
void summary_markdown(const struct summary *summary, FILE *file);

/* As one JSON object. */
void summary_json(const struct summary *summary, FILE *file);

/* The command line that reruns one planned row alone. */
void summary_rerun_line(const struct runner *runner, size_t row, char *text, size_t size);

#endif
