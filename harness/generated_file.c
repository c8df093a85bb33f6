/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a generated file whole or not at all; see generated_file.h. */
#include "harness/generated_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* PATH.new. False when it is too long. */
static bool temporary_path(const char *path, char temporary[PATH_BYTES])
{
    return snprintf(temporary, PATH_BYTES, "%s.new", path) < PATH_BYTES;
}

enum status generated_file_begin(const char *path, FILE **file, struct error *err)
{
    char temporary[PATH_BYTES];
    *file = NULL;
    if (!temporary_path(path, temporary))
        return error_set(err, STATUS_USAGE, "%s: the path is too long", path);
    *file = fopen(temporary, "w");
    if (!*file)
        return error_set(err, STATUS_BOOKS, "%s: cannot be written: %s", temporary, strerror(errno));
    return STATUS_OK;
}

enum status generated_file_end(const char *path, FILE *file, struct error *err)
{
    char temporary[PATH_BYTES];
    temporary_path(path, temporary);
    bool failed = ferror(file) != 0 || fflush(file) != 0 || fsync(fileno(file)) != 0;
    failed |= fclose(file) != 0;
    /* The old file stays whole until the new one is on the disk. */
    if (failed || rename(temporary, path) != 0) {
        error_set(err, STATUS_BOOKS, "%s: cannot be written: %s; the old file is untouched", path, strerror(errno));
        unlink(temporary);
    }
    return err->status;
}
