/* SPDX-License-Identifier: Apache-2.0 */
/* The one place that talks to Slurm: its command sbatch, in its machine-readable form. */
#ifndef TOPKCTS_SLURM_H
#define TOPKCTS_SLURM_H

#include "harness/status.h"

enum { SLURM_JOB_TEXT = 32 };

/* Runs `sbatch --parsable ARGUMENT..` (NULL-terminated) and stores the job's number. STATUS_BOOKS when sbatch is not
 * there or refuses; its own words are in the message. */
enum status slurm_submit(const char *const *arguments, char job[SLURM_JOB_TEXT], struct error *err);

#endif
