/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are there whole or not at all; see whole_file.h. */
#include "harness/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum status whole_file_folder(const char *path, struct error *err)
{
    char part[PATH_MAX];
    if (strlen(path) >= sizeof part)
        return error_set(err, STATUS_BOOKS, "%s: the path is too long", path);
    for (size_t i = 1; i <= strlen(path); i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        snprintf(part, sizeof part, "%.*s", (int)i, path);
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return error_set(err, STATUS_BOOKS, "%s: the folder cannot be made: %s", part, strerror(errno));
    }
    return STATUS_OK;
}

/* The name of the folder and of the temporary file in it. */
static bool make_names(const char *path, char folder[PATH_MAX], char temporary[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    int         length = slash ? (int)(slash - path) : 0;
    return snprintf(folder, PATH_MAX, "%.*s", slash ? (length ? length : 1) : 1, slash ? path : ".") < PATH_MAX &&
           snprintf(temporary, PATH_MAX, "%s/.%s.%ld.new", folder, slash ? slash + 1 : path, (long)getpid()) < PATH_MAX;
}

static bool write_all(int file, const char *bytes, size_t n)
{
    while (n) {
        ssize_t written = write(file, bytes, n);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        n -= (size_t)written;
    }
    return fsync(file) == 0;
}

/* Gives the file its name; without `replace` only where nobody has it. */
static bool take_name(const char *temporary, const char *path, bool replace)
{
    if (replace)
        return rename(temporary, path) == 0;
    if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS) /* file systems that cannot do it */
        return false;
    if (access(path, F_OK) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(temporary, path) == 0;
}

enum status whole_file_write(const char *path, const void *bytes, size_t n, bool replace, struct error *err)
{
    char folder[PATH_MAX], temporary[PATH_MAX];
    if (!make_names(path, folder, temporary))
        return error_set(err, STATUS_BOOKS, "%s: the path is too long", path);
    int file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return error_set(err, STATUS_BOOKS, "%s: cannot be written: %s", temporary, strerror(errno));
    bool written = write_all(file, bytes, n);
    int  cause = errno;
    if (close(file) != 0 && written) {
        written = false;
        cause = errno;
    }
    if (written && !take_name(temporary, path, replace)) {
        written = false;
        cause = errno;
    }
    if (!written) {
        unlink(temporary);
        if (cause == EEXIST)
            return error_set(err, STATUS_USAGE, "%s: is there already, and stays as it is", path);
        return error_set(err, STATUS_BOOKS, "%s: cannot be written: %s", path, strerror(cause));
    }
    int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) { /* some file systems cannot sync a folder; the file is whole all the same */
        fsync(directory);
        close(directory);
    }
    return STATUS_OK;
}
