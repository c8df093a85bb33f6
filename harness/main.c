/* SPDX-License-Identifier: Apache-2.0 */
/* The command table: finds the command, reads its options, prints what went wrong, exits with the promised code. */
#include "harness/command.h"
#include "harness/project.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char      *name;
    enum command_bit bit;
    enum status (*run)(const struct settings *, struct error *);
    const char *arguments;
    const char *summary; /* NULL: not for people */
} commands[] = {
    {"run", COMMAND_RUN, command_run, "[PATTERN..]", "replay cases against kernels, print verdicts, store them"},
    {"list", COMMAND_LIST, command_list, "[PATTERN..]", "the cases that would run"},
    {"show", COMMAND_SHOW, command_show, "CASE", "one case: its inputs, its answer, why it is there"},
    {"check", COMMAND_CHECK, command_check, "", "validate the registry; --update after adding a case"},
    {"query", COMMAND_QUERY, command_query, "[NAME ..]", "ask the database; without a name: what can be asked"},
    {"devices", COMMAND_DEVICES, command_devices, "", "what can run here, and why not the rest"},
    {"providers", COMMAND_PROVIDERS, command_providers, "", "kernels that are built in, with their promises"},
    {"fuzz", COMMAND_FUZZ, command_fuzz, "[FILE..]", "search for inputs on which a provider fails; FILE: have a finding again"},
    {"gate", COMMAND_GATE, command_gate, "[PATTERN..]", "prove a fix: --red must fail where --green passes"},
    {"evidence", COMMAND_EVIDENCE, command_evidence, "RUN..", "what runs prove, as Markdown, with all that identifies it"},
    {"guard", COMMAND_GUARD, command_guard, "GUARD", "is a kernel slower than another by more than was declared? A-B-B-A"},
    {"bench", COMMAND_BENCH, command_bench, "",
     "times of --provider .. on a device, as ratios to one read of the scores; without a provider: of the suite itself"},
    {"compare", COMMAND_COMPARE, command_compare, "A B",
     "two runs, labels, devices or providers: SAME FIXED BROKEN NEW GONE DIFFERS"},
    {"report", COMMAND_REPORT, command_report, "--html DIR", "the database as pages: verdicts, regressions, times, runs"},
    {"shrink", COMMAND_SHRINK, command_shrink, "CASE|FILE", "a failure made small: an entry of a registry and a C program"},
    {"import", COMMAND_IMPORT, command_import, "FILES..", "captured tensors (.npy, .npz, .safetensors) become a case"},
    {"merge", COMMAND_MERGE, command_merge, "DST SRC..", "many runners' databases into one"},
    {"exclude", COMMAND_EXCLUDE, command_exclude, "RUN", "void a run without deleting it"},
    {"fleet", COMMAND_FLEET, command_fleet, "[PATTERN..]", "one run on many machines, through Slurm"},
    {"code-objects", COMMAND_CODE_OBJECTS, command_code_objects, "[FOLDER]",
     "v1 as built ahead of time: what each kernel needs, within limits or not"},
    {"plugin", COMMAND_PLUGIN, command_plugin, "SOURCE", "build a plugin with kernels and host code for the simulator"},
    {"worker", COMMAND_WORKER, command_worker, "", NULL},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0], N_FIRST_COMMANDS = 5 };

/* The first few are what a newcomer needs; `topkcts help` prints all. */
static void print_overview(int n_commands)
{
    printf("topkcts: conformance and regression suite for GPU indexer top-k kernels\n\n");
    for (int i = 0; i < n_commands; i++)
        if (commands[i].summary)
            printf("  topkcts %-12s %-12s %s\n", commands[i].name, commands[i].arguments, commands[i].summary);
    printf("\nA first run:    topkcts run                          v1, suite smoke, on the GPU or the simulator\n"
           "Your kernel:    topkcts run --provider ./mine.so     built against harness/provider.h\n"
           "Any command:    topkcts COMMAND --help               all commands: topkcts help\n");
}

static enum status unknown_command(const char *word, struct error *err)
{
    char   names[512] = "";
    size_t used = 0, length = strlen(word);
    for (int i = 0; i < N_COMMANDS; i++)
        if (commands[i].summary)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", commands[i].name);
    if (length > 3 && strcmp(word + length - 3, ".so") == 0)
        return error_set(err, STATUS_USAGE, "no command '%s'; a plugin goes behind --provider: topkcts run --provider %s",
                         word, word);
    return error_set(err, STATUS_USAGE, "no command '%s'; there are %s", word, names);
}

static enum status run_command(int which, int argc, char **argv, struct error *err)
{
    struct settings settings;
    if (options_parse(commands[which].bit, commands[which].name, argc, argv, &settings, err))
        return err->status;
    if (settings.help) {
        printf("topkcts %s %s\n\n%s\n\n", commands[which].name, commands[which].arguments,
               commands[which].summary ? commands[which].summary : "");
        options_print(commands[which].bit, stdout);
        return STATUS_OK;
    }
    if (settings.words.n && !commands[which].arguments[0])
        return error_set(err, STATUS_USAGE, "%s takes no '%s', only options; see topkcts %s --help", commands[which].name,
                         settings.words.items[0], commands[which].name);
    return commands[which].run(&settings, err);
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
        print_overview(argc < 2 ? N_FIRST_COMMANDS : N_COMMANDS);
        return STATUS_OK;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_overview(argc < 2 ? N_FIRST_COMMANDS : N_COMMANDS);
        return STATUS_OK;
    }
    int which = 0;
    while (which < N_COMMANDS && strcmp(commands[which].name, argv[1]) != 0)
        which++;
    if (which == N_COMMANDS)
        unknown_command(argv[1], &err);
    else
        status = run_command(which, argc - 1, argv + 1, &err);
    if (err.status)
        fprintf(stderr, "topkcts: %s\n", err.text);
    /* An answer that nobody could read is no answer: a full disk behind stdout is an error too. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "topkcts: the answer could not be written to standard output\n");
        return STATUS_BOOKS;
    }
    return err.status ? (int)err.status : (int)status;
}
