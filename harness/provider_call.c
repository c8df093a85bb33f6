/* SPDX-License-Identifier: Apache-2.0 */
/* Calls into foreign code; see provider_call.h. */
#include "harness/provider_call.h"

#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What a call may not change for those who come after it. */
struct ground {
    fenv_t arithmetic; /* on x86 this includes flush-to-zero and denormals-are-zero */
    pid_t  process;
};

static void keep(struct ground *ground)
{
    fegetenv(&ground->arithmetic);
    ground->process = getpid();
}

static void put_back(const struct ground *ground)
{
    /* A child of the slot that came back: there is one worker, and it is the parent. Nothing is flushed or closed,
     * because every buffer it has belongs to the parent. */
    if (getpid() != ground->process)
        _exit(0);
    fesetenv(&ground->arithmetic);
    if (strcmp(localeconv()->decimal_point, ".") != 0)
        setlocale(LC_NUMERIC, "C");
}

/* One line, terminated, never empty. */
static void end_text(char *text, size_t size)
{
    text[size - 1] = '\0';
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
    if (!text[0])
        snprintf(text, size, "the provider gives no reason");
}

int provider_call_open(const struct topk_provider *provider, int device, void **self, char *err, size_t err_size)
{
    struct ground ground;
    err[0] = '\0';
    keep(&ground);
    int code = provider->open(device, self, err, err_size);
    put_back(&ground);
    end_text(err, err_size);
    return code;
}

int provider_call_supports(const struct topk_provider *provider, void *self, const struct topk_problem *problem,
                           char *why, size_t why_size)
{
    struct ground ground;
    why[0] = '\0';
    if (!provider->supports)
        return 1;
    keep(&ground);
    int answer = provider->supports(self, problem, why, why_size);
    put_back(&ground);
    end_text(why, why_size);
    return answer;
}

size_t provider_call_workspace_bytes(const struct topk_provider *provider, void *self,
                                     const struct topk_problem *problem)
{
    struct ground ground;
    if (!provider->workspace_bytes)
        return 0;
    keep(&ground);
    size_t bytes = provider->workspace_bytes(self, problem);
    put_back(&ground);
    return bytes;
}

int provider_call_launch(const struct topk_provider *provider, void *self, const struct topk_problem *problem,
                         char *err, size_t err_size)
{
    struct ground ground;
    err[0] = '\0';
    keep(&ground);
    int code = provider->launch(self, problem, err, err_size);
    put_back(&ground);
    end_text(err, err_size);
    return code;
}

void provider_call_path(const struct topk_provider *provider, void *self, char *path, size_t size)
{
    struct ground ground;
    path[0] = '\0';
    if (!provider->path)
        return;
    keep(&ground);
    const char *text = provider->path(self);
    put_back(&ground);
    size_t length = 0;
    for (; text && length + 1 < size && text[length]; length++)
        path[length] = text[length] >= 0x20 && text[length] != 0x7f ? text[length] : '?';
    path[length] = '\0';
}

enum { MAX_WATCHED = 4 };
static int    watched[MAX_WATCHED];
static size_t n_watched;

static bool hold(int descriptor)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0)
        return false;
    if (null == descriptor)
        return true;
    bool held = dup3(null, descriptor, O_CLOEXEC) == descriptor;
    close(null);
    return held;
}

void provider_call_watch(int descriptor)
{
    if (n_watched < MAX_WATCHED && hold(descriptor))
        watched[n_watched++] = descriptor;
}

int provider_call_closed_descriptor(void)
{
    int closed = -1;
    for (size_t i = 0; i < n_watched; i++)
        if (fcntl(watched[i], F_GETFD) < 0) {
            closed = closed < 0 ? watched[i] : closed;
            hold(watched[i]);
        }
    return closed;
}

void provider_call_close(const struct topk_provider *provider, void *self)
{
    struct ground ground;
    keep(&ground);
    provider->close(self);
    put_back(&ground);
}
