/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options: one table drives the parser, --help and the messages about wrong ones. Adding an option is one member of
 * `struct settings` and one row of the table in option.c.
 */
#ifndef TOPKCTS_OPTION_H
#define TOPKCTS_OPTION_H

#include "harness/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How often an option may be given; and how many words, which are the sources of a merge as well. */
enum { OPTION_MAX_LIST = 64, OPTION_MAX_WORDS = 4096 };

/* Which commands an option belongs to: bits. */
enum command_bit {
    COMMAND_DEVICES = 1 << 0,
    COMMAND_PROVIDERS = 1 << 1,
    COMMAND_LIST = 1 << 2,
    COMMAND_SHOW = 1 << 3,
    COMMAND_CHECK = 1 << 4,
    COMMAND_RUN = 1 << 5,
    COMMAND_WORKER = 1 << 6,
    COMMAND_BENCH = 1 << 7,
    COMMAND_FUZZ = 1 << 8,
    COMMAND_HELP = 1 << 9,
    COMMAND_GATE = 1 << 16,
    COMMAND_EVIDENCE = 1 << 17,
    COMMAND_PLUGIN = 1 << 18,
    COMMAND_CODE_OBJECTS = 1 << 19,
    COMMAND_MERGE = 1 << 20,
    COMMAND_EXCLUDE = 1 << 21,
    COMMAND_QUERY = 1 << 22,
    COMMAND_FLEET = 1 << 23,
    COMMAND_COMPARE = 1 << 24,
    COMMAND_REPORT = 1 << 25,
    COMMAND_GUARD = 1 << 26,
    COMMAND_IMPORT = 1 << 27,
    COMMAND_SHRINK = 1 << 28,
    COMMAND_ALL = (1 << 29) - 1
};

struct option_list {
    const char *items[OPTION_MAX_LIST];
    size_t      n;
};

struct word_list {
    const char *items[OPTION_MAX_WORDS];
    size_t      n;
};

/* What the command line says. Unset texts are NULL, unset numbers 0. Texts are the argument vector's own. */
struct settings {
    struct word_list   words; /* what is no option: patterns, a case, files */
    struct option_list devices, providers, registries;
    const char        *reason, *shared, *constraint, *partition, *collect;
    int64_t            shards, minutes, resubmits;
    struct option_list tensors; /* of an import: ROLE=NAME */
    const char        *id, *fault, *model, *layer, *step, *rows, *outputs, *into, *run;
    int64_t            topk, page_size, width;
    bool               rank_only;
    bool               csv, as_markdown, dry_run, wait, no_resubmit;
    struct option_list fail_on;    /* names of queries */
    struct option_list parameters; /* of a query: name (up to a '='), value, name, value .. */
    const char        *html;       /* folder of the pages */
    const char        *suite, *database, *label, *origin, *source, *dump, *json_lines, *markdown;
    const char        *shard, *resume, *junit;
    const char        *source_base;                             /* a commit */
    const char        *red, *green, *red_source, *green_source; /* of a gate */
    const char        *base, *candidate;                        /* of a guard */
    int64_t            seconds, seed;
    struct option_list carried, attached, same;                 /* of evidence */
    const char        *targets;
    bool               jit;
    const char        *batches, *lengths, *topks, *patterns; /* of a bench: separated by commas */
    bool               warm, cold;
    int64_t            repeat, retry, timeout, jobs;
    int64_t            schedule, explore;
    int64_t            problem, count, longest; /* of fuzz */
    struct option_list limits;
    const char        *findings, *beside;
    int64_t            case_timeout, inactivity, time_limit, budget; /* seconds */
    bool               json, update, fail_fast, require_clean_env, watch, help, man;
};

/* Reads the arguments after the command's name. STATUS_USAGE names the option, what came and what would be right. */
enum status options_parse(enum command_bit command, const char *command_name, int argc, char **argv,
                          struct settings *settings, struct error *err);

/* One row of the table, for whoever explains it. */
struct option_row {
    const char *name, *argument; /* without dashes; NULL for a flag */
    const char *help;
    int64_t     low, high;       /* of a number; else 0, 0 */
    unsigned    commands;        /* bits of enum command_bit; a name may have several rows, for different commands */
};

/* Row `i` of the table; false behind the last. */
bool option_row(int i, struct option_row *row);

/* Prints the options of a command, at most 120 columns wide. */
void options_print(enum command_bit command, FILE *file);

#endif
