/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a generated file whole or not at all; see generated_file.h. */
#include "harness/generated_file.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* PATH.new. False when it is too long. */
static bool temporary_path(const char *path, char temporary[PATH_BYTES])
{
    return snprintf(temporary, PATH_BYTES, "%s.new", path) < PATH_BYTES;
}

/* A device or a pipe is not replaced by a file: as root that would be the end of /dev/null. */
static bool is_written_in_place(const char *path)
{
    struct stat place;
    return stat(path, &place) == 0 && !S_ISREG(place.st_mode) && !S_ISDIR(place.st_mode);
}

enum status generated_file_try(const char *path, struct error *err)
{
    FILE       *file;
    struct stat place;
    if (is_written_in_place(path)) {
        if (access(path, W_OK) != 0)
            error_set(err, STATUS_BOOKS, "%s: cannot be written: %s", path, strerror(errno));
        return err->status;
    }
    if (stat(path, &place) == 0 && S_ISDIR(place.st_mode))
        return error_set(err, STATUS_BOOKS, "%s: cannot be written: a folder, not a file", path);
    if (generated_file_begin(path, &file, err))
        return err->status;
    generated_file_drop(path, file);
    return STATUS_OK;
}

enum status generated_file_begin(const char *path, FILE **file, struct error *err)
{
    char temporary[PATH_BYTES];
    *file = NULL;
    if (!temporary_path(path, temporary))
        return error_set(err, STATUS_USAGE, "%s: the path is too long", path);
    const char *written = is_written_in_place(path) ? path : temporary;
    *file = fopen(written, "w");
    if (!*file)
        return error_set(err, STATUS_BOOKS, "%s: cannot be written: %s", written, strerror(errno));
    return STATUS_OK;
}

enum status generated_file_end(const char *path, FILE *file, struct error *err)
{
    char temporary[PATH_BYTES];
    int  cause = errno; /* of the write that failed, if one did */
    bool failed = ferror(file) != 0, in_place = is_written_in_place(path);
    temporary_path(path, temporary);
    if (!failed && (fflush(file) != 0 || (!in_place && fsync(fileno(file)) != 0))) {
        failed = true;
        cause = errno;
    }
    if (fclose(file) != 0 && !failed) {
        failed = true;
        cause = errno;
    }
    errno = cause;
    if (in_place)
        return failed ? error_set(err, STATUS_BOOKS, "%s: cannot be written: %s", path, strerror(errno)) : STATUS_OK;
    /* The old file stays whole until the new one is on the disk. */
    if (failed || rename(temporary, path) != 0) {
        error_set(err, STATUS_BOOKS, "%s: cannot be written: %s; the old file is untouched", path, strerror(errno));
        unlink(temporary);
    }
    return err->status;
}

void generated_file_drop(const char *path, FILE *file)
{
    char temporary[PATH_BYTES];
    temporary_path(path, temporary);
    fclose(file);
    if (!is_written_in_place(path))
        unlink(temporary);
}
