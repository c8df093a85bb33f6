/* SPDX-License-Identifier: Apache-2.0 */
/* Compiling v1 at run time for targets that are not here; see jit_check.h. */
#include "harness/jit_check.h"

#include "harness/jit.h"
#include "kernels/topk_v1.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* In the child: nothing is cached, so that the compiler is really asked. */
static _Noreturn void compile_and_exit(const char *target)
{
    struct jit_source source = {
        .backend = strncmp(target, "gfx", 3) == 0 ? "hip" : "cuda",
        .arch = target,
        .name = topk_v1_texts[0].name,
        .text = topk_v1_texts[0].text,
        .is_v1 = true,
    };
    struct rlimit   no_core = {0, 0};
    struct jit_code code = {0};
    struct error    err = {0};
    setrlimit(RLIMIT_CORE, &no_core);
    jit_compile(&source, "", &code, &err);
    if (err.status)
        printf("%-8s %s\n", target, err.text);
    else
        printf("%-8s %s: %zu bytes\n", target, code.compiler, code.n_bytes);
    fflush(stdout);
    _exit((int)err.status);
}

static enum status check_one(const char *target, struct error *err)
{
    int status = 0;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return error_set(err, STATUS_BOOKS, "no process for the compiler: %s", strerror(errno));
    if (pid == 0)
        compile_and_exit(target);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(status)) {
        printf("%-8s the compiler ended its process: signal %d (%s)\n", target, WTERMSIG(status), strsignal(WTERMSIG(status)));
        return STATUS_FAIL;
    }
    return (enum status)WEXITSTATUS(status);
}

enum status jit_check(const char *targets, struct error *err)
{
    char       *words = strdup(targets), *rest = NULL;
    size_t      n = 0, failed = 0;
    enum status worst = STATUS_OK;
    for (char *word = words ? strtok_r(words, ",", &rest) : NULL; word; word = strtok_r(NULL, ",", &rest)) {
        enum status one = check_one(word, err);
        n++;
        failed += one != STATUS_OK;
        worst = one > worst ? one : worst;
    }
    free(words);
    if (failed)
        return error_set(err, worst, "%zu of %zu targets were not compiled at run time", failed, n);
    return n ? STATUS_OK : error_set(err, STATUS_USAGE, "--jit needs --targets, for example --targets gfx1100,gfx942");
}
