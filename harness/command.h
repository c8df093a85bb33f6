/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands. Each stands in a file of its own, command_NAME.c, and takes what the option table read. Adding one is
 * that file, a declaration here, a bit in option.h and a row in the table of command.c, from which `topkcts help`, --help
 * and the man page are made.
 *
 * A command writes its answer to stdout and progress to stderr. It returns the exit code; an error it could not deal
 * with is in *err and printed by main.
 */
#ifndef TOPKCTS_COMMAND_H
#define TOPKCTS_COMMAND_H

#include "harness/option.h"

struct command {
    const char      *name;
    enum command_bit bit;
    enum status (*run)(const struct settings *, struct error *);
    const char *arguments; /* as shown behind the name; "": it takes options only */
    const char *summary;   /* one line; NULL: not for people */
};

/* All commands, those that a newcomer needs first; the last has no name. */
enum { N_FIRST_COMMANDS = 5 };
extern const struct command commands[];

/* The command of that name; NULL, with STATUS_USAGE and all names in *err, when there is none. */
const struct command *command_find(const char *name, struct error *err);

/* Prints what there is: the first commands, or all. */
void command_print_overview(bool first_only);

/* Prints a command with its options and, of queries that the words name, their parameters. */
enum status command_explain(const struct command *command, const struct settings *settings, struct error *err);
enum status command_query_explain(const struct settings *settings, struct error *err);

enum status command_devices(const struct settings *settings, struct error *err);
enum status command_providers(const struct settings *settings, struct error *err);
enum status command_list(const struct settings *settings, struct error *err);
enum status command_show(const struct settings *settings, struct error *err);
enum status command_check(const struct settings *settings, struct error *err);
enum status command_run(const struct settings *settings, struct error *err);
enum status command_fuzz(const struct settings *settings, struct error *err);
enum status command_gate(const struct settings *settings, struct error *err);
enum status command_evidence(const struct settings *settings, struct error *err);
enum status command_guard(const struct settings *settings, struct error *err);
enum status command_bench(const struct settings *settings, struct error *err);
enum status command_merge(const struct settings *settings, struct error *err);
enum status command_exclude(const struct settings *settings, struct error *err);
enum status command_fleet(const struct settings *settings, struct error *err);
enum status command_query(const struct settings *settings, struct error *err);
enum status command_report(const struct settings *settings, struct error *err);
enum status command_compare(const struct settings *settings, struct error *err);
enum status command_code_objects(const struct settings *settings, struct error *err);
enum status command_plugin(const struct settings *settings, struct error *err);
enum status command_import(const struct settings *settings, struct error *err);
enum status command_shrink(const struct settings *settings, struct error *err);
enum status command_help(const struct settings *settings, struct error *err);
enum status command_worker(const struct settings *settings, struct error *err);

#endif
