/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are there whole or not at all, whatever happens while they are written. */
#ifndef TOPKCTS_WHOLE_FILE_H
#define TOPKCTS_WHOLE_FILE_H

#include "harness/status.h"

#include <stdbool.h>
#include <stddef.h>

/* Writes a file under another name beside it (a dot file), has it on the disk, then renames it. A process that is killed
 * on the way leaves the dot file, which nothing reads. Without `replace` a file that is there stays, and is an error:
 * STATUS_USAGE. STATUS_BOOKS with the cause when it cannot be written; nothing is left behind then. */
enum status whole_file_write(const char *path, const void *bytes, size_t n, bool replace, struct error *err);

/* Makes a folder and those above it, where they are not there. STATUS_BOOKS with the cause. */
enum status whole_file_folder(const char *path, struct error *err);

#endif
