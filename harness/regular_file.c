/* SPDX-License-Identifier: Apache-2.0 */
/* Opening files; see regular_file.h. */
#include "harness/regular_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum status regular_file_open(const char *path, FILE **file, struct error *err)
{
    struct stat attributes;
    *file = NULL;
    if (stat(path, &attributes) != 0)
        return error_set(err, STATUS_USAGE, "%s: cannot be read: %s", path, strerror(errno));
    if (!S_ISREG(attributes.st_mode))
        return error_set(err, STATUS_USAGE, "%s: cannot be read: it is a %s; a file is needed", path,
                         S_ISDIR(attributes.st_mode)    ? "folder (a directory)"
                         : S_ISFIFO(attributes.st_mode) ? "named pipe"
                                                        : "special file");
    *file = fopen(path, "rb");
    return *file ? STATUS_OK : error_set(err, STATUS_USAGE, "%s: cannot be read: %s", path, strerror(errno));
}
