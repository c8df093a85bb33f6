/* SPDX-License-Identifier: Apache-2.0 */
/* The option table and its parser; see option.h. */
#include "harness/option.h"

#include "harness/name_list.h"

#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum option_kind { OPTION_FLAG, OPTION_TEXT, OPTION_LIST, OPTION_NUMBER };

static const struct {
    const char      *name;
    const char      *argument; /* NULL for a flag */
    enum option_kind kind;
    size_t           offset; /* in struct settings */
    int64_t          low, high;
    unsigned         commands;
    const char      *help;
} options[] = {
#define PLACE(member) offsetof(struct settings, member)
    {"suite", "NAME", OPTION_TEXT, PLACE(suite), 0, 0, COMMAND_LIST | COMMAND_RUN | COMMAND_FLEET | COMMAND_GATE,
     "cases of this suite (run: smoke unless a pattern is given)"},
    {"device", "D", OPTION_LIST, PLACE(devices), 0, 0, COMMAND_RUN | COMMAND_BENCH | COMMAND_FLEET | COMMAND_GATE | COMMAND_WORKER | COMMAND_GUARD | COMMAND_FUZZ,
     "where, as topkcts devices lists them: host, sim, hip:0 ..; repeatable (default: where the provider runs)"},
    {"provider", "P", OPTION_LIST, PLACE(providers), 0, 0, COMMAND_RUN | COMMAND_BENCH | COMMAND_FLEET | COMMAND_WORKER | COMMAND_FUZZ,
     "v1, reference, faulty/NAME, a plugin ./mine.so, a kernel source ./mine.hip, ./mine.cu, a program 'process:python3 "
     "mine.py'; repeatable (default: v1)"},
    {"origin", "O", OPTION_TEXT, PLACE(origin), 0, 0, COMMAND_RUN | COMMAND_BENCH | COMMAND_FLEET | COMMAND_WORKER | COMMAND_FUZZ,
     "only providers whose code arrives this way: scalar, sim, plugin, process, source; aot or jit forces either for v1 on a GPU"},
    {"db", "FILE", OPTION_TEXT, PLACE(database), 0, 0, COMMAND_RUN | COMMAND_EXCLUDE | COMMAND_QUERY | COMMAND_FLEET | COMMAND_COMPARE |
     COMMAND_REPORT | COMMAND_GATE | COMMAND_EVIDENCE | COMMAND_BENCH | COMMAND_GUARD,
     "the database (default: topkcts.db)"},
    {"repeat", "N", OPTION_NUMBER, PLACE(repeat), 1, 1000000, COMMAND_RUN | COMMAND_FLEET | COMMAND_GATE,
     "at least N launches in the repeat check (default: 3 on host, 10 elsewhere)"},
    {"retry", "N", OPTION_NUMBER, PLACE(retry), 0, 100, COMMAND_RUN | COMMAND_FLEET | COMMAND_GATE,
     "try a failing case up to N times more; what then passes is flaky (default: 0)"},
    {"timeout", "S", OPTION_NUMBER, PLACE(timeout), 1, 86400, COMMAND_RUN | COMMAND_BENCH | COMMAND_FLEET | COMMAND_GATE | COMMAND_GUARD | COMMAND_FUZZ,
     "seconds one launch may take (default: 10 on host, 60 elsewhere; bench: one measurement, 60)"},
    {"jobs", "N", OPTION_NUMBER, PLACE(jobs), 1, 256, COMMAND_RUN | COMMAND_FLEET | COMMAND_GATE | COMMAND_FUZZ, "worker processes on host and sim (default: one a core)"},
    {"case-timeout", "S", OPTION_NUMBER, PLACE(case_timeout), 1, 864000, COMMAND_RUN | COMMAND_FLEET,
     "seconds one case may take with all its launches (default: 1800)"},
    {"inactivity", "S", OPTION_NUMBER, PLACE(inactivity), 1, 864000, COMMAND_RUN | COMMAND_FLEET,
     "seconds without a sign of life before a case's first launch (default: 300), and while a provider is loaded (10; on a GPU 60, a program 120)"},
    {"time-limit", "S", OPTION_NUMBER, PLACE(time_limit), 1, 8640000, COMMAND_RUN | COMMAND_FLEET,
     "seconds the whole run may take; what is not judged by then is notrun and fails the run"},
    {"shard", "I/N", OPTION_TEXT, PLACE(shard), 0, 0, COMMAND_RUN,
     "the I-th of N parts of about equal time, counted from 1"},
    {"budget", "S", OPTION_NUMBER, PLACE(budget), 1, 8640000, COMMAND_RUN | COMMAND_FLEET,
     "seconds to spend: never run first, then changed, flaky, oldest; the rest is stored as not planned"},
    {"resume", "RUN", OPTION_TEXT, PLACE(resume), 0, 0, COMMAND_RUN,
     "go on with a run that was killed or stopped; its own arguments apply"},
    {"watch", NULL, OPTION_FLAG, PLACE(watch), 0, 0, COMMAND_RUN | COMMAND_WORKER | COMMAND_FUZZ,
     "on sim: watch every load and store of v1, too, as of kernel sources (default in suite race)"},
    {"schedule", "N", OPTION_NUMBER, PLACE(schedule), 1, INT32_MAX, COMMAND_RUN | COMMAND_WORKER | COMMAND_FUZZ,
     "on sim: every launch by schedule N, as a failure names it, instead of a new one for each"},
    {"explore", "S", OPTION_NUMBER, PLACE(explore), 1, 86400, COMMAND_RUN | COMMAND_WORKER,
     "on sim: seconds of new schedules for each case, beyond its repeats"},
    {"fail-fast", NULL, OPTION_FLAG, PLACE(fail_fast), 0, 0, COMMAND_RUN | COMMAND_FUZZ, "stop at the first failure"},
    {"label", "TEXT", OPTION_TEXT, PLACE(label), 0, 0, COMMAND_RUN | COMMAND_BENCH | COMMAND_FLEET | COMMAND_GATE | COMMAND_GUARD, "a label to find this run by"},
    {"source", "DIR", OPTION_TEXT, PLACE(source), 0, 0, COMMAND_RUN | COMMAND_FLEET,
     "record the git state of the kernels under test in DIR"},
    {"source-base", "COMMIT", OPTION_TEXT, PLACE(source_base), 0, 0, COMMAND_RUN,
     "with --source: record how it differs from that commit, too"},
    {"red", "P", OPTION_TEXT, PLACE(red), 0, 0, COMMAND_GATE, "the provider without the fix: must fail where green passes"},
    {"green", "P", OPTION_TEXT, PLACE(green), 0, 0, COMMAND_GATE, "the provider with the fix: must fail nowhere"},
    {"red-source", "DIR", OPTION_TEXT, PLACE(red_source), 0, 0, COMMAND_GATE, "the sources that red was built from"},
    {"green-source", "DIR", OPTION_TEXT, PLACE(green_source), 0, 0, COMMAND_GATE, "the sources that green was built from"},
    {"base", "P", OPTION_TEXT, PLACE(base), 0, 0, COMMAND_GUARD,
     "the provider that the limit is relative to, as behind run --provider (default: the guard's, if it is no glob)"},
    {"candidate", "P", OPTION_TEXT, PLACE(candidate), 0, 0, COMMAND_GUARD,
     "the provider that must keep the limit (default: the guard's, if it is no glob)"},
    {"seconds", "S", OPTION_NUMBER, PLACE(seconds), 1, 86400, COMMAND_GUARD,
     "how long the whole measurement may take (default: 60)"},
    {"seed", "N", OPTION_NUMBER, PLACE(seed), 1, INT64_MAX, COMMAND_GUARD, "of the bootstrap (default: 1)"},
    {"carry", "DIR", OPTION_LIST, PLACE(carried), 0, 0, COMMAND_EVIDENCE,
     "say whether the proof holds for the sources in DIR without a rerun, and why; repeatable"},
    {"attach", "FILE", OPTION_LIST, PLACE(attached), 0, 0, COMMAND_EVIDENCE,
     "figures from elsewhere (JSON), with the limit that was declared beforehand; repeatable"},
    {"same", "A:B", OPTION_LIST, PLACE(same), 0, 0, COMMAND_EVIDENCE,
     "two code objects that must be byte for byte the same: what they serve is unchanged; repeatable"},
    {"require-clean-env", NULL, OPTION_FLAG, PLACE(require_clean_env), 0, 0, COMMAND_RUN | COMMAND_FLEET,
     "refuse to run when a variable overrides a GPU's identity"},
    {"json-lines", "FILE", OPTION_TEXT, PLACE(json_lines), 0, 0, COMMAND_RUN, "one JSON object a result, as they come"},
    {"markdown", "FILE", OPTION_TEXT, PLACE(markdown), 0, 0, COMMAND_RUN, "the summary as Markdown, appended"},
    {"junit", "FILE", OPTION_TEXT, PLACE(junit), 0, 0, COMMAND_RUN, "every verdict as JUnit XML"},
    {"dump", "DIR", OPTION_TEXT, PLACE(dump), 0, 0, COMMAND_SHOW,
     "write inputs and expected outputs as .npy, and case.json"},
    {"id", "NAME", OPTION_TEXT, PLACE(id), 0, 0, COMMAND_IMPORT | COMMAND_SHRINK,
     "the family's name in the registry, never reused (shrink: made from the provider's name if left out)"},
    {"provider", "P", OPTION_LIST, PLACE(providers), 0, 0, COMMAND_SHRINK, "whose failure it is; as for run"},
    {"device", "D", OPTION_LIST, PLACE(devices), 0, 0, COMMAND_SHRINK, "where it fails (default: where the provider runs)"},
    {"origin", "O", OPTION_TEXT, PLACE(origin), 0, 0, COMMAND_SHRINK, "aot or jit forces either for v1 on a GPU"},
    {"db", "FILE", OPTION_TEXT, PLACE(database), 0, 0, COMMAND_SHRINK, "the database of --run (default: topkcts.db)"},
    {"registry", "DIR", OPTION_LIST, PLACE(registries), 0, 0, COMMAND_SHRINK,
     "another registry beside the project's own, to find the case in; repeatable"},
    {"run", "RUN", OPTION_TEXT, PLACE(run), 0, 0, COMMAND_SHRINK, "the run of --db in which the case failed: its provider and device"},
    {"into", "DIR", OPTION_TEXT, PLACE(into), 0, 0, COMMAND_SHRINK,
     "the registry folder that gets the entry and the program (default: shrunk)"},
    {"seconds", "S", OPTION_NUMBER, PLACE(seconds), 1, 86400, COMMAND_SHRINK, "when to stop looking for less (default: 50)"},
    {"timeout", "S", OPTION_NUMBER, PLACE(timeout), 1, 86400, COMMAND_SHRINK,
     "seconds one launch may take (default: 1 on host, 20 elsewhere)"},
    {"topk", "K", OPTION_NUMBER, PLACE(topk), 1, 4096, COMMAND_IMPORT, "how many are selected (default: what case.json says)"},
    {"page-size", "N", OPTION_NUMBER, PLACE(page_size), 1, 1 << 20, COMMAND_IMPORT,
     "a power of two (default: what case.json says; 64 without a page table)"},
    {"outputs", "O", OPTION_TEXT, PLACE(outputs), 0, 0, COMMAND_IMPORT, "page, page+raw (the default) or raw"},
    {"width", "N", OPTION_NUMBER, PLACE(width), 1, INT32_MAX, COMMAND_IMPORT,
     "the row width, max_seq_len (default: what case.json says, else the longest row)"},
    {"rows", "A-B", OPTION_TEXT, PLACE(rows), 0, 0, COMMAND_IMPORT, "only these rows, counted from 0"},
    {"rank-only", NULL, OPTION_FLAG, PLACE(rank_only), 0, 0, COMMAND_IMPORT,
     "keep order, ties, zero signs, infinities and NaN of each row; no magnitudes, nothing beyond a row's end"},
    {"tensor", "ROLE=NAME", OPTION_LIST, PLACE(tensors), 0, 0, COMMAND_IMPORT,
     "which tensor is scores, seq_lens or page_table, where its name does not say so; repeatable"},
    {"model", "TEXT", OPTION_TEXT, PLACE(model), 0, 0, COMMAND_IMPORT, "a note: where the rows were captured"},
    {"layer", "TEXT", OPTION_TEXT, PLACE(layer), 0, 0, COMMAND_IMPORT, "a note: in which layer"},
    {"step", "TEXT", OPTION_TEXT, PLACE(step), 0, 0, COMMAND_IMPORT, "a note: at which step"},
    {"source", "TEXT", OPTION_TEXT, PLACE(source), 0, 0, COMMAND_IMPORT, "issue or pull request that the case comes from"},
    {"fault", "KIND", OPTION_TEXT, PLACE(fault), 0, 0, COMMAND_IMPORT | COMMAND_SHRINK,
     "a kind of registry/faults.yaml (default: import: production-rows; shrink: that of the case, or unclassified)"},
    {"suite", "NAME", OPTION_TEXT, PLACE(suite), 0, 0, COMMAND_IMPORT, "the suite that takes the case (default: none)"},
    {"registry", "DIR", OPTION_LIST, PLACE(registries), 0, 0, COMMAND_IMPORT,
     "the registry that the case goes to (default: the project's own; the last one when given more than once)"},
    {"reason", "TEXT", OPTION_TEXT, PLACE(reason), 0, 0, COMMAND_EXCLUDE, "why the run does not count"},
    {"csv", NULL, OPTION_FLAG, PLACE(csv), 0, 0, COMMAND_QUERY | COMMAND_COMPARE, "print the answer as CSV"},
    {"markdown", NULL, OPTION_FLAG, PLACE(as_markdown), 0, 0, COMMAND_QUERY | COMMAND_COMPARE,
     "print the answer as a Markdown table"},
    {"html", "DIR", OPTION_TEXT, PLACE(html), 0, 0, COMMAND_REPORT, "the folder the pages are written to"},
    {"fail-on", "NAME", OPTION_LIST, PLACE(fail_on), 0, 0, COMMAND_QUERY | COMMAND_COMPARE,
     "exit with 1 when this query (compare: this outcome) answers anything; repeatable"},
    {"shared", "DIR", OPTION_TEXT, PLACE(shared), 0, 0, COMMAND_FLEET, "a folder that every node sees"},
    {"shards", "N", OPTION_NUMBER, PLACE(shards), 1, 1000, COMMAND_FLEET, "how many tasks share the run"},
    {"constraint", "FEATURE", OPTION_TEXT, PLACE(constraint), 0, 0, COMMAND_FLEET,
     "which nodes: Slurm's --constraint, such as gfx1100 or 'gfx942|gfx950'"},
    {"partition", "NAME", OPTION_TEXT, PLACE(partition), 0, 0, COMMAND_FLEET, "Slurm's --partition"},
    {"minutes", "M", OPTION_NUMBER, PLACE(minutes), 2, 10080, COMMAND_FLEET, "time of one shard (default: 120)"},
    {"resubmits", "N", OPTION_NUMBER, PLACE(resubmits), 1, 100, COMMAND_FLEET,
     "how often shards of lost nodes are submitted again (default: 2)"},
    {"no-resubmit", NULL, OPTION_FLAG, PLACE(no_resubmit), 0, 0, COMMAND_FLEET, "never submit a lost shard again"},
    {"wait", NULL, OPTION_FLAG, PLACE(wait), 0, 0, COMMAND_FLEET, "wait for the end and exit as a run does"},
    {"dry-run", NULL, OPTION_FLAG, PLACE(dry_run), 0, 0, COMMAND_FLEET, "write the folder and submit nothing"},
    {"collect", "FOLDER", OPTION_TEXT, PLACE(collect), 0, 0, COMMAND_FLEET,
     "what the job behind the shards does: merge, or submit lost shards again"},
    {"update", NULL, OPTION_FLAG, PLACE(update), 0, 0, COMMAND_CHECK | COMMAND_CODE_OBJECTS,
     "write anew what is derived: check: hashes.txt, from all matrices; code-objects: manifest.json"},
    {"jit", NULL, OPTION_FLAG, PLACE(jit), 0, 0, COMMAND_CODE_OBJECTS,
     "compile v1 with the run-time compiler for --targets, which need not be here"},
    {"targets", "LIST", OPTION_TEXT, PLACE(targets), 0, 0, COMMAND_CODE_OBJECTS,
     "targets that must be there, separated by commas"},
    {"seconds", "N", OPTION_NUMBER, PLACE(seconds), 1, 8640000, COMMAND_FUZZ,
     "how long to search (default: 60, without --count)"},
    {"seed", "S", OPTION_NUMBER, PLACE(seed), 1, INT64_MAX, COMMAND_FUZZ,
     "which problems: the N-th of a seed is the same everywhere (default: a new one, printed)"},
    {"problem", "N", OPTION_NUMBER, PLACE(problem), 1, INT64_MAX, COMMAND_FUZZ, "only problem N of the seed"},
    {"count", "N", OPTION_NUMBER, PLACE(count), 1, INT64_MAX, COMMAND_FUZZ, "problems 1 to N, however long it takes"},
    {"limit", "N", OPTION_LIST, PLACE(limits), 0, 0, COMMAND_FUZZ,
     "a limit that is suspected in the kernel: look around it; with it the provider is not probed for others; repeatable"},
    {"longest", "N", OPTION_NUMBER, PLACE(longest), 1, 1 << 24, COMMAND_FUZZ,
     "no row is longer (default: 300000, on sim 4608)"},
    {"beside", "P", OPTION_TEXT, PLACE(beside), 0, 0, COMMAND_FUZZ | COMMAND_WORKER,
     "a second provider in the same process, launched in turn: the reference, a built-in, or a plugin that is right"},
    {"findings", "DIR", OPTION_TEXT, PLACE(findings), 0, 0, COMMAND_FUZZ,
     "the folder for what is found (default: findings)"},
    {"pattern", "LIST", OPTION_TEXT, PLACE(patterns), 0, 0, COMMAND_BENCH,
     "rows of these patterns, separated by commas (default: normal,plateau,one-bin,huge,tiny; all: every one)"},
    {"batch", "LIST", OPTION_TEXT, PLACE(batches), 0, 0, COMMAND_BENCH, "rows of a launch (default: 1,8,64,256,1024)"},
    {"length", "LIST", OPTION_TEXT, PLACE(lengths), 0, 0, COMMAND_BENCH,
     "scores of a row (default: 2048,8192,32768,65536,131072,262144)"},
    {"topk", "LIST", OPTION_TEXT, PLACE(topks), 0, 0, COMMAND_BENCH, "selected of a row (default: 512,1024)"},
    {"cold", NULL, OPTION_FLAG, PLACE(cold), 0, 0, COMMAND_BENCH, "only with scores outside the cache (default: both)"},
    {"warm", NULL, OPTION_FLAG, PLACE(warm), 0, 0, COMMAND_BENCH, "only with scores in the cache, as far as they fit it"},
    {"seconds", "S", OPTION_NUMBER, PLACE(seconds), 1, 864000, COMMAND_BENCH,
     "about as long as it may take: fewer samples a cell, then fewer cells"},
    {"registry", "DIR", OPTION_LIST, PLACE(registries), 0, 0,
     COMMAND_LIST | COMMAND_SHOW | COMMAND_CHECK | COMMAND_RUN | COMMAND_WORKER | COMMAND_PROVIDERS | COMMAND_DEVICES |
         COMMAND_QUERY | COMMAND_FLEET | COMMAND_GATE | COMMAND_GUARD,
     "another registry beside the project's own; repeatable"},
    {"json", NULL, OPTION_FLAG, PLACE(json), 0, 0, COMMAND_ALL & ~COMMAND_HELP, "print the answer as JSON"},
    {"man", NULL, OPTION_FLAG, PLACE(man), 0, 0, COMMAND_HELP, "all commands and options as a man page, for man -l"},
    {"help", NULL, OPTION_FLAG, PLACE(help), 0, 0, COMMAND_ALL, "this help"},
#undef PLACE
};
enum { N_OPTIONS = sizeof options / sizeof options[0] };

static enum status no_such_option(enum command_bit command, const char *command_name, const char *given,
                                  struct error *err)
{
    struct name_list names = {0};
    for (int i = 0; i < N_OPTIONS; i++)
        if (options[i].commands & (unsigned)command)
            name_list_add(&names, "--%s", options[i].name);
    return error_set(err, STATUS_USAGE, "%s: no option '%s'; there are %s", command_name, given, names.text);
}

static enum status set_number(int which, const char *text, struct settings *settings, struct error *err)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    bool begins_well = text[0] == '-' || (text[0] >= '0' && text[0] <= '9'); /* strtoll takes blanks, too */
    if (!begins_well || *end || errno || number < options[which].low || number > options[which].high)
        return error_set(err, STATUS_USAGE, "--%s %s: a number from %lld to %lld is accepted", options[which].name, text,
                         (long long)options[which].low, (long long)options[which].high);
    int64_t value = number;
    memcpy((char *)settings + options[which].offset, &value, sizeof value);
    return STATUS_OK;
}

static bool is_utf8(const char *text)
{
    json_t *checked = json_string(text);
    json_decref(checked);
    return checked != NULL;
}

static enum status set_option(int which, const char *text, struct settings *settings, struct error *err)
{
    void *place = (char *)settings + options[which].offset;
    if (!is_utf8(text)) /* it goes into the books and into JSON */
        return error_set(err, STATUS_USAGE, "--%s: '%s' is not UTF-8", options[which].name, text);
    if (options[which].argument && !text[0])
        return error_set(err, STATUS_USAGE, "--%s needs a value: --%s %s", options[which].name, options[which].name,
                         options[which].argument);
    switch (options[which].kind) {
    case OPTION_FLAG:
        *(bool *)place = true;
        return STATUS_OK;
    case OPTION_TEXT:
        *(const char **)place = text;
        return STATUS_OK;
    case OPTION_NUMBER:
        return set_number(which, text, settings, err);
    default: {
        struct option_list *list = place;
        if (list->n == OPTION_MAX_LIST)
            return error_set(err, STATUS_USAGE, "--%s is given more than %d times", options[which].name,
                             OPTION_MAX_LIST);
        list->items[list->n++] = text;
        return STATUS_OK;
    }
    }
}

/* getopt accepts unambiguous beginnings of a name; here only whole names count. */
static bool is_whole_name(const char *given, const char *name)
{
    size_t length = strlen(name);
    return strncmp(given, "--", 2) == 0 && strncmp(given + 2, name, length) == 0 &&
           (given[2 + length] == '\0' || given[2 + length] == '=');
}

/* An option that is not in the table is a parameter of the query, which knows its own. */
static enum status keep_parameter(const char *given, const char *next, struct option_list *parameters,
                                  struct error *err)
{
    const char *sign = strchr(given, '=');
    if (!sign && !next)
        return error_set(err, STATUS_USAGE, "query: %s needs a value", given);
    if (parameters->n + 2 > OPTION_MAX_LIST)
        return error_set(err, STATUS_USAGE, "query: more than %d parameters", OPTION_MAX_LIST / 2);
    parameters->items[parameters->n++] = given + 2;
    parameters->items[parameters->n++] = sign ? sign + 1 : next;
    return STATUS_OK;
}

static enum status add_word(const char *command_name, const char *word, struct settings *settings, struct error *err)
{
    if (!word[0])
        return error_set(err, STATUS_USAGE, "%s: an argument is empty", command_name);
    if (!is_utf8(word))
        return error_set(err, STATUS_USAGE, "%s: the argument '%s' is not UTF-8", command_name, word);
    if (settings->words.n == OPTION_MAX_WORDS)
        return error_set(err, STATUS_USAGE, "%s: more than %d arguments", command_name, OPTION_MAX_WORDS);
    settings->words.items[settings->words.n++] = word;
    return STATUS_OK;
}

enum status options_parse(enum command_bit command, const char *command_name, int argc, char **argv,
                          struct settings *settings, struct error *err)
{
    struct option longs[N_OPTIONS + 1] = {{0}};
    bool          given_before[N_OPTIONS] = {false};
    memset(settings, 0, sizeof *settings);
    for (int i = 0, n = 0; i < N_OPTIONS; i++)
        if (options[i].commands & (unsigned)command)
            longs[n++] = (struct option){options[i].name, options[i].argument ? required_argument : no_argument, NULL,
                                         1000 + i};
    optind = 0;
    opterr = 0;
    for (;;) {
        int         at = optind ? optind : 1;
        int         code = getopt_long(argc, argv, "-:h", longs, NULL);
        const char *given = at < argc ? argv[at] : "";
        if (code < 0)
            break;
        if (code == 1) {
            if (add_word(command_name, optarg, settings, err))
                return err->status;
            continue;
        }
        if (code == 'h') {
            settings->help = true;
            continue;
        }
        if (code == ':')
            return error_set(err, STATUS_USAGE, "%s: %s needs a value", command_name, given);
        int which = code - 1000;
        /* getopt names what it refused by its place in the table, too: a flag with '=value'. */
        if (code == '?' && optopt >= 1000 && is_whole_name(given, options[optopt - 1000].name))
            return error_set(err, STATUS_USAGE, "%s: --%s takes no value", command_name, options[optopt - 1000].name);
        if (code < 1000 || !is_whole_name(given, options[which].name)) {
            if (command != COMMAND_QUERY || strncmp(given, "--", 2) != 0)
                return no_such_option(command, command_name, given, err);
            if (keep_parameter(given, at + 1 < argc ? argv[at + 1] : NULL, &settings->parameters, err))
                return err->status;
            optind = at + (strchr(given, '=') ? 1 : 2);
            continue;
        }
        bool repeats = options[which].kind == OPTION_LIST || options[which].kind == OPTION_FLAG;
        if (given_before[which] && !repeats) /* one of the two would count for nothing */
            return error_set(err, STATUS_USAGE, "%s: --%s is given twice", command_name, options[which].name);
        given_before[which] = true;
        if (set_option(which, optarg ? optarg : "", settings, err))
            return err->status;
    }
    for (int i = optind; i < argc; i++) /* behind "--" */
        if (add_word(command_name, argv[i], settings, err))
            return err->status;
    return STATUS_OK;
}

bool option_row(int i, struct option_row *row)
{
    if (i < 0 || i >= N_OPTIONS)
        return false;
    *row = (struct option_row){options[i].name, options[i].argument, options[i].help,
                               options[i].low,  options[i].high,     options[i].commands};
    return true;
}

/* Prints text from column `indent` on, broken at blanks before column 120. */
static void print_wrapped(const char *text, int indent, FILE *file)
{
    size_t room = (size_t)(120 - indent);
    while (strlen(text) > room) {
        size_t n = room;
        while (n > 0 && text[n] != ' ')
            n--;
        if (n == 0)
            break;
        fprintf(file, "%.*s\n%*s", (int)n, text, indent, "");
        text += n + 1;
    }
    fprintf(file, "%s\n", text);
}

void options_print(enum command_bit command, FILE *file)
{
    for (int i = 0; i < N_OPTIONS; i++) {
        char left[64];
        if (!(options[i].commands & (unsigned)command))
            continue;
        snprintf(left, sizeof left, "--%s%s%s", options[i].name, options[i].argument ? " " : "",
                 options[i].argument ? options[i].argument : "");
        fprintf(file, "  %-22s ", left);
        print_wrapped(options[i].help, 25, file);
    }
}
