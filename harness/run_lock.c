/* SPDX-License-Identifier: Apache-2.0 */
/* One runner a run; see run_lock.h. The name is a Unix socket's in the abstract name space. */
#include "harness/run_lock.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum status run_lock(const char *run, struct error *err)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int                n = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "topkcts-run-%.60s", run);
    int                fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return STATUS_OK; /* no sockets here: then no lock, which costs less than no run */
    if (bind(fd, (const struct sockaddr *)&name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) &&
        errno == EADDRINUSE) {
        close(fd);
        return error_set(err, STATUS_BOOKS, "run %s is still under way in another process", run);
    }
    return STATUS_OK; /* kept open for as long as the process lives */
}
