/* SPDX-License-Identifier: Apache-2.0 */
/* Progress on stderr: a bar on a terminal, a plain line every few seconds elsewhere. */
#ifndef TOPKCTS_PROGRESS_H
#define TOPKCTS_PROGRESS_H

#include "harness/verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress {
    bool        is_terminal;
    const char *red_word;
    size_t      total, red;
    int64_t     started_ms, shown_ms;
};

/* `red_word`: what the count of bad ones is called, "red". */
void progress_begin(struct progress *progress, size_t total, const char *red_word);

/* Counts a verdict. */
void progress_note(struct progress *progress, enum verdict verdict);

/* Shows how far it is, not more often than people can read. */
void progress_show(struct progress *progress, size_t done);

/* Takes the bar away, at the end or before a line of text; the next progress_show brings it back. */
void progress_end(struct progress *progress);

#endif
