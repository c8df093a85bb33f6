/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a file that is only ever a file: a named pipe would be waited for, a folder gives an error too late to help. */
#ifndef TOPKCTS_REGULAR_FILE_H
#define TOPKCTS_REGULAR_FILE_H

#include "harness/status.h"

#include <stdio.h>

/* Opens it for reading; the caller closes it. STATUS_USAGE with the reason when that cannot be: *file is then NULL. */
enum status regular_file_open(const char *path, FILE **file, struct error *err);

#endif
