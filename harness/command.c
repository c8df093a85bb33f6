/* SPDX-License-Identifier: Apache-2.0 */
/* The command table; see command.h. */
#include "harness/command.h"

#include "harness/name_list.h"

#include <string.h>

const struct command commands[] = {
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
    {"exclude", COMMAND_EXCLUDE, command_exclude, "RUN", "void a run, or a session of a guard, without deleting it"},
    {"fleet", COMMAND_FLEET, command_fleet, "[PATTERN..]", "one run on many machines, through Slurm"},
    {"code-objects", COMMAND_CODE_OBJECTS, command_code_objects, "[FOLDER]",
     "v1 as built ahead of time: what each kernel needs, within limits or not"},
    {"plugin", COMMAND_PLUGIN, command_plugin, "SOURCE", "build a plugin with kernels and host code for the simulator"},
    {"help", COMMAND_HELP, command_help, "[COMMAND]", "all commands, or one with its options; --man: all of it as a man page"},
    {"worker", COMMAND_WORKER, command_worker, "", NULL},
    {0},
};

const struct command *command_find(const char *name, struct error *err)
{
    struct name_list names = {0};
    size_t           length = strlen(name);
    for (const struct command *command = commands; command->name; command++) {
        if (strcmp(command->name, name) == 0)
            return command;
        if (command->summary)
            name_list_add(&names, "%s", command->name);
    }
    if (length > 3 && strcmp(name + length - 3, ".so") == 0)
        error_set(err, STATUS_USAGE, "no command '%s'; a plugin goes behind --provider: topkcts run --provider %s", name,
                  name);
    else if (name[0] == '-')
        error_set(err, STATUS_USAGE, "'%s' stands where the command belongs; options come behind it: topkcts COMMAND %s; commands are %s",
                  name, strcmp(name, "--") == 0 ? "-- WORD.." : name, names.text);
    else
        error_set(err, STATUS_USAGE, "no command '%s'; there are %s", name, names.text);
    return NULL;
}
