/* SPDX-License-Identifier: Apache-2.0 */
/* The man page; see manual.h. Only what no table knows stands here as text. */
#include "harness/manual.h"

#include "harness/command.h"
#include "harness/option.h"
#include "harness/status.h"
#include "harness/verdict.h"
#include "harness/version.h"

#include <inttypes.h>

/* Text of a table. A backslash and a dash mean something to roff, a dot and an apostrophe at the start of a line. */
static void put_text(FILE *file, const char *text)
{
    if (text[0] == '.' || text[0] == '\'')
        fputs("\\&", file);
    for (; *text; text++) {
        if (*text == '\\')
            fputs("\\e", file);
        else if (*text == '-')
            fputs("\\-", file);
        else
            fputc(*text, file);
    }
}

/* A line with words in bold and, where it takes some, its argument in italics: a command, an option, a verdict. */
static void put_heading(FILE *file, const char *before, const char *name, const char *argument)
{
    fputs(".TP\n\\fB", file);
    put_text(file, before);
    put_text(file, name);
    fputs("\\fR", file);
    if (argument && argument[0]) {
        fputs(" \\fI", file);
        put_text(file, argument);
        fputs("\\fR", file);
    }
    fputc('\n', file);
}

static void put_item(FILE *file, const char *name, const char *meaning)
{
    put_heading(file, "", name, NULL);
    put_text(file, meaning);
    fputs(".\n", file);
}

/* Every command with the names of its options, which the next section explains. */
static void put_commands(FILE *file)
{
    fputs(".SH COMMANDS\n", file);
    for (const struct command *command = commands; command->name; command++) {
        struct option_row row;
        if (!command->summary)
            continue;
        put_heading(file, "topkcts ", command->name, command->arguments);
        put_text(file, command->summary);
        fputs(".\n.br\nOptions:", file);
        for (int i = 0; option_row(i, &row); i++)
            if (row.commands & (unsigned)command->bit) {
                fputs(" \\fB", file);
                put_text(file, "--");
                put_text(file, row.name);
                fputs("\\fR", file);
            }
        fputc('\n', file);
    }
}

/* The commands that take an option, in brackets: those for people. */
static void put_takers(FILE *file, unsigned bits)
{
    const char *separator = "(";
    for (const struct command *command = commands; command->name; command++)
        if (command->summary && (bits & (unsigned)command->bit)) {
            fputs(separator, file);
            put_text(file, command->name);
            separator = ", ";
        }
    fputs(")\n", file);
}

static void put_options(FILE *file)
{
    struct option_row row;
    fputs(".SH OPTIONS\nEach is followed by the commands that take it; what is said of one command is said with its name.\n",
          file);
    for (int i = 0; option_row(i, &row); i++) {
        put_heading(file, "--", row.name, row.argument);
        put_text(file, row.help);
        fputs(".\n", file);
        if (row.low < row.high) {
            char range[64];
            snprintf(range, sizeof range, "From %" PRId64 " to %" PRId64 ".\n", row.low, row.high);
            put_text(file, range);
        }
        put_takers(file, row.commands);
    }
    put_item(file, "--version", "the version of the program, in place of a command");
}

static void put_lists(FILE *file)
{
    fputs(".SH VERDICTS\nEvery case that a run has planned ends in one of these.\n", file);
    for (int verdict = 0; verdict < VERDICT_COUNT; verdict++)
        put_item(file, verdict_text(verdict), verdict_meaning(verdict));
    fputs(".SH EXIT STATUS\n", file);
#define PUT_STATUS(name, code, meaning) put_item(file, #code, meaning);
    STATUS_LIST(PUT_STATUS)
#undef PUT_STATUS
}

static const char head[] =
    ".SH NAME\n"
    "topkcts \\- conformance and regression suite for GPU indexer top\\-k kernels\n"
    ".SH SYNOPSIS\n"
    ".B topkcts\n"
    ".I COMMAND\n"
    "[\\fIARGUMENT\\fR ..] [\\fIOPTION\\fR ..]\n"
    ".SH DESCRIPTION\n"
    "The operation under test selects, per row of float32 scores, the indices of the best\n"
    ".I topk\n"
    "of the first\n"
    ".IR seq_len ,\n"
    "and maps them through a page table. Cases stand in a registry; a provider is a kernel with what it promises. A run\n"
    "replays cases against providers on devices, judges each by exactly what it promises against two references, prints\n"
    "the verdicts and keeps them in an SQLite database. The answer goes to standard output, progress and errors to\n"
    "standard error.\n"
    ".PP\n"
    "A\n"
    ".I PATTERN\n"
    "is a glob over the names of cases; a family's name stands for all its cases.\n";

static const char tail[] =
    ".SH ENVIRONMENT\n"
    ".TP\n"
    "\\fBXDG_CACHE_HOME\\fR, \\fBHOME\\fR\n"
    "Kernels that were compiled are kept in $XDG_CACHE_HOME/topkcts, else in $HOME/.cache/topkcts.\n"
    ".TP\n"
    "\\fBROCR_VISIBLE_DEVICES\\fR, \\fBHIP_VISIBLE_DEVICES\\fR, \\fBCUDA_VISIBLE_DEVICES\\fR, \\fBHSA_OVERRIDE_GFX_VERSION\\fR\n"
    "Choose or rename GPUs as they do everywhere; a run records them.\n"
    ".SH FILES\n"
    ".TP\n"
    ".I topkcts.db\n"
    "The database, in the working directory unless\n"
    ".B \\-\\-db\n"
    "says where. harness/schema.sql explains its tables and views.\n"
    ".TP\n"
    "\\fIfindings/\\fR, \\fIshrunk/\\fR\n"
    "What\n"
    ".B fuzz\n"
    "found, and what\n"
    ".B shrink\n"
    "made small.\n"
    ".SH EXAMPLES\n"
    ".nf\n"
    "topkcts run\n"
    "topkcts run \\-\\-provider ./mine.so \\-\\-suite conformance\n"
    "topkcts run \\(aqboundary\\-ties/*\\(aq \\-\\-provider faulty/tie\\-highest \\-\\-provider v1\n"
    "topkcts merge all.db runner1.db runner2.db\n"
    "topkcts query regressions \\-\\-arch gfx1100 \\-\\-since 2026\\-11\\-30 \\-\\-db all.db\n"
    ".fi\n"
    ".SH SEE ALSO\n"
    ".BR sqlite3 (1),\n"
    "README.md of the project and of each of its folders\n";

void manual_print(FILE *file)
{
    fputs(".\\\" Made by `topkcts help --man` from the tables that the program itself goes by.\n", file);
    fprintf(file, ".TH TOPKCTS 1 \"\" \"topkcts %s\" \"User Commands\"\n", TOPKCTS_VERSION);
    fputs(".nh\n", file); /* a name of an option that is cut in two cannot be copied */
    fputs(head, file);
    put_commands(file);
    put_options(file);
    put_lists(file);
    fputs(tail, file);
}
