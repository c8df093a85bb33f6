/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports: what people found wrong with kernels in the field, and which cases and planted faults cover it.
 *
 * A root may keep a list of them by hand, reports.yaml, a list of maps:
 *
 *     report      owner/repo#number of the issue or pull request
 *     post        which post of it, where several entries tell of one: review, comment
 *     also        other issues that tell the same: a list
 *     date        2026-08-12: when it was written, as far as known
 *     kinds       of faults.yaml: a list; left out where none of them fits
 *     what        one or two sentences
 *     covered_by  a list of families, case names or globs over them, and faulty/NAME
 *     why_not     what of it no case expresses, and why
 *
 * A family that names a report as its `source` covers it without being listed. `topkcts check --update` writes the
 * table reports.md from all that, and `check` compares.
 */
#ifndef TOPKCTS_REGISTRY_REPORTS_H
#define TOPKCTS_REGISTRY_REPORTS_H

#include "harness/registry.h"

/* Checks the root's reports.yaml against its families, the cases and the planted faults, and makes the table: *table is
 * the text of reports.md, which the caller frees, or NULL where the root keeps no reports or a mistake keeps them from
 * being read. A mistake goes to stderr and result->n_problems; a source without an entry is a note. */
void reports_check(struct registry *registry, const struct registry_root *root, char **table,
                   struct check_result *result);

/* Compares the table with the root's reports.md; where they differ, that is a mistake, named with the line. */
void reports_compare(const struct registry_root *root, const char *table, struct check_result *result);

/* Writes the table in place of the root's reports.md. STATUS_BOOKS when that cannot be; the old one is as it was. */
enum status reports_write(const struct registry_root *root, const char *table, struct error *err);

#endif
