/* SPDX-License-Identifier: Apache-2.0 */
/* `topkcts help [COMMAND]`, what --help prints, and `topkcts help --man`: all of it as a man page. */
#include "harness/command.h"
#include "harness/manual.h"

#include <stdio.h>

void command_print_overview(bool first_only)
{
    printf("topkcts: conformance and regression suite for GPU indexer top-k kernels\n\n");
    for (int i = 0; (i < N_FIRST_COMMANDS || !first_only) && commands[i].name; i++)
        if (commands[i].summary)
            printf("  topkcts %-12s %-12s %s\n", commands[i].name, commands[i].arguments, commands[i].summary);
    printf("\nA first run:    topkcts run                          v1, suite smoke, on the GPU or the simulator\n"
           "Your kernel:    topkcts run --provider ./mine.so     built against harness/provider.h\n"
           "Any command:    topkcts COMMAND --help               all commands: topkcts help\n");
}

enum status command_explain(const struct command *command, const struct settings *settings, struct error *err)
{
    printf("topkcts %s%s%s\n\n%s\n\n", command->name, command->arguments[0] ? " " : "", command->arguments,
           command->summary ? command->summary : "what a run starts for each provider and device; not for people");
    options_print(command->bit, stdout);
    return command->bit == COMMAND_QUERY ? command_query_explain(settings, err) : STATUS_OK;
}

enum status command_help(const struct settings *settings, struct error *err)
{
    const struct word_list *words = &settings->words;
    if (settings->man && words->n)
        return error_set(err, STATUS_USAGE, "help --man has all commands and takes no '%s'", words->items[0]);
    if (words->n > 1)
        return error_set(err, STATUS_USAGE, "help takes one command: '%s' is too much", words->items[1]);
    if (settings->man) {
        manual_print(stdout);
        return STATUS_OK;
    }
    if (words->n == 0) {
        command_print_overview(false);
        return STATUS_OK;
    }
    const struct settings none = {0};
    const struct command *command = command_find(words->items[0], err);
    return command ? command_explain(command, &none, err) : err->status;
}
