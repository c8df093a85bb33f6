/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a file that this program generates and people keep under version control: whole or not at all. */
#ifndef TOPKCTS_GENERATED_FILE_H
#define TOPKCTS_GENERATED_FILE_H

#include "harness/status.h"

#include <stdio.h>

/* Opens PATH.new for writing. STATUS_BOOKS when that cannot be; *file is then NULL. */
enum status generated_file_begin(const char *path, FILE **file, struct error *err);

/* Brings PATH.new to the disk, closes it and puts it in the place of PATH. STATUS_BOOKS when that cannot be: the file
 * at PATH is then as it was, and PATH.new is gone. */
enum status generated_file_end(const char *path, FILE *file, struct error *err);

#endif
