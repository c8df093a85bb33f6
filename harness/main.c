/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the command, reads its options, prints what went wrong, exits with the promised code. */
#include "harness/command.h"
#include "harness/project.h"
#include "harness/version.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* Every command takes --registry; those that read none would not notice one that is misspelt. Import may make one. */
static enum status check_registries(enum command_bit bit, const struct settings *settings, struct error *err)
{
    struct stat place;
    for (size_t i = 0; i < settings->registries.n && bit != COMMAND_IMPORT; i++)
        if (stat(settings->registries.items[i], &place) != 0 || !S_ISDIR(place.st_mode))
            return error_set(err, STATUS_USAGE, "--registry %s: no registry folder there", settings->registries.items[i]);
    return STATUS_OK;
}

static enum status run_command(const struct command *command, int argc, char **argv, struct error *err)
{
    struct settings settings;
    if (options_parse(command->bit, command->name, argc, argv, &settings, err))
        return err->status;
    if (settings.help)
        return command_explain(command, &settings, err);
    if (settings.words.n && !command->arguments[0])
        return error_set(err, STATUS_USAGE, "%s takes no '%s', only options; see topkcts %s --help", command->name,
                         settings.words.items[0], command->name);
    if (check_registries(command->bit, &settings, err))
        return err->status;
    return command->run(&settings, err);
}

/* What the program needs of the stack, and what it usually gets; in bytes. */
enum { LEAST_STACK = 1 << 20, USUAL_STACK = 8 << 20 };

/* A stack that may not grow ends in a signal that says nothing. */
static enum status settle_stack(struct error *err)
{
    struct rlimit stack;
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= LEAST_STACK)
        return STATUS_OK;
    if (stack.rlim_max < LEAST_STACK)
        return error_set(err, STATUS_BOOKS,
                         "the stack may grow to %llu KiB only; topkcts needs %d: ulimit -s %d, or no limit",
                         (unsigned long long)stack.rlim_max / 1024, LEAST_STACK / 1024, USUAL_STACK / 1024);
    stack.rlim_cur = stack.rlim_max < USUAL_STACK ? stack.rlim_max : USUAL_STACK;
    setrlimit(RLIMIT_STACK, &stack);
    return STATUS_OK;
}

/* A program may be started in odd ways; from here on this one can rely on the usual. */
static void settle_in(void)
{
    /* With a standard descriptor closed, the next file opened would take its number and what is printed would go there.
     * /dev/null in the wrong direction keeps reading or writing an error, as it is on a closed one. */
    static const int wrong_way[] = {O_WRONLY, O_RDONLY, O_RDONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", wrong_way[fd]) < 0)
            exit(STATUS_BOOKS);
    /* A file that may grow no further is an error of the write that hits it, like a full disk. */
    signal(SIGXFSZ, SIG_IGN);
    /* Started with it ignored, nobody could wait for a worker. */
    signal(SIGCHLD, SIG_DFL);
}

int main(int argc, char **argv)
{
    struct error err = {0};
    enum status  status = STATUS_USAGE;
    settle_in();
    project_keep_arguments(argc, argv);
    if (argc < 2) {
        command_print_overview(true);
        return STATUS_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("topkcts %s\n", TOPKCTS_VERSION);
        return STATUS_OK;
    }
    bool                  asks = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
    const struct command *command = settle_stack(&err) ? NULL : command_find(asks ? "help" : argv[1], &err);
    if (command)
        status = run_command(command, argc - 1, argv + 1, &err);
    if (err.status)
        fprintf(stderr, "topkcts: %s\n", err.text);
    /* An answer that nobody could read is no answer: a full disk behind stdout is an error too. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "topkcts: the answer could not be written to standard output\n");
        return STATUS_BOOKS;
    }
    return err.status ? (int)err.status : (int)status;
}
