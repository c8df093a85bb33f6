/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing a file that this program generates and people keep: whole or not at all. What is no regular file (/dev/null, a
 * pipe) is written as it stands, never replaced.
 */
#ifndef TOPKCTS_GENERATED_FILE_H
#define TOPKCTS_GENERATED_FILE_H

#include "harness/status.h"

#include <stdio.h>

/* Whether generated_file_begin() can do its work, long before it has to; leaves nothing behind. STATUS_BOOKS if not. */
enum status generated_file_try(const char *path, struct error *err);

/* Opens PATH.new for writing. STATUS_BOOKS when that cannot be; *file is then NULL. */
enum status generated_file_begin(const char *path, FILE **file, struct error *err);

/* Brings PATH.new to the disk, closes it and puts it in the place of PATH. STATUS_BOOKS when that cannot be: the file
 * at PATH is then as it was, and PATH.new is gone. */
enum status generated_file_end(const char *path, FILE *file, struct error *err);

/* Closes PATH.new and removes it: what was written is not fit to take the place of PATH. */
void generated_file_drop(const char *path, FILE *file);

#endif
