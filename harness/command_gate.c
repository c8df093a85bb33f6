/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `topkcts gate`: the proof of a fix. Runs the same cases twice, as two runs of this very program in one database: with
 * the provider that lacks the fix (red) and with the one that has it (green). Proven: red fails somewhere that green
 * passes, and green fails nowhere. Judges by the store alone; `evidence` writes the proof down.
 */
#include "harness/command.h"
#include "harness/command_words.h"
#include "harness/interrupts.h"
#include "harness/project.h"
#include "harness/provenance.h"
#include "harness/store.h"
#include "harness/store_json.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LISTED_CASES = 20 };

/* One of the two runs. */
struct side {
    const char *colour, *provider, *source, *base;
    char        label[256], run[64], digest[64];
    enum status exit_code;
};

struct gate {
    const struct settings *settings;
    const char            *database;
    struct store          *store;
    struct side            red, green;
    bool                   red_is_dirty;
    json_t                *proof, *failures, *counts; /* rows of the questions below */
    json_t                *lost;
};

/* ---- the two runs ----------------------------------------------------------------------------------------------- */

static void make_words(struct command_words *words, const struct gate *gate, const struct side *side)
{
    const struct settings *settings = gate->settings;
    command_words_add(words, "topkcts");
    command_words_add(words, "run");
    for (size_t i = 0; i < settings->words.n; i++)
        command_words_add(words, settings->words.items[i]);
    command_words_option(words, "--provider", side->provider);
    command_words_option(words, "--label", side->label);
    command_words_option(words, "--db", gate->database);
    command_words_option(words, "--suite", settings->suite);
    command_words_option(words, "--source", side->source);
    command_words_option(words, "--source-base", side->source ? side->base : NULL);
    for (size_t i = 0; i < settings->devices.n; i++)
        command_words_option(words, "--device", settings->devices.items[i]);
    for (size_t i = 0; i < settings->registries.n; i++)
        command_words_option(words, "--registry", settings->registries.items[i]);
    command_words_number(words, "--repeat", settings->repeat);
    command_words_number(words, "--retry", settings->retry);
    command_words_number(words, "--timeout", settings->timeout);
    command_words_number(words, "--jobs", settings->jobs);
}

/* Runs one side. What it prints is progress here: the answer is the gate's. */
static enum status run_side(const struct gate *gate, struct side *side, struct error *err)
{
    struct command_words words = {0};
    int                  status;
    make_words(&words, gate, side);
    fprintf(stderr, "gate: %s is %s\n", side->colour, side->provider);
    fflush(NULL);
    pid_t child = fork();
    if (child < 0)
        return error_set(err, STATUS_BOOKS, "gate: the run of %s cannot be started: %s", side->colour, strerror(errno));
    if (child == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execv("/proc/self/exe", words.items);
        _exit(STATUS_BOOKS);
    }
    interrupts_catch(); /* the run deals with it, and closes its books */
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    interrupts_release();
    if (interrupts_so_far())
        return error_set(err, STATUS_BOOKS, "gate: interrupted in the run of %s (%s): nothing is proven", side->colour,
                         side->provider);
    if (!WIFEXITED(status))
        return error_set(err, STATUS_BOOKS, "gate: the run of %s was killed by signal %d", side->colour, WTERMSIG(status));
    side->exit_code = (enum status)WEXITSTATUS(status);
    if (side->exit_code == STATUS_USAGE || side->exit_code == STATUS_BOOKS)
        return error_set(err, side->exit_code, "gate: the run of %s (%s) ended with exit code %d, as said above: nothing is proven",
                         side->colour, side->provider, side->exit_code);
    return STATUS_OK;
}

/* ---- what the store says ---------------------------------------------------------------------------------------- */

static json_t *ask(const struct gate *gate, const char *sql, const char *first, const char *second, struct error *err)
{
    const char *parameters[] = {first, second};
    return store_query_json(gate->store, sql, parameters, second ? 2 : 1, err);
}

static const char *text_of(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));
    return text ? text : "";
}

/* The run that a side has just made, and the build it used. */
static enum status find_run(const struct gate *gate, struct side *side, struct error *err)
{
    json_t *rows = ask(gate,
                       "SELECT runs.run AS run, provider_digest FROM runs JOIN run_providers ON run_providers.run = runs.run "
                       "WHERE label = ?1 ORDER BY runs.started_at DESC LIMIT 1",
                       side->label, NULL, err);
    if (!err->status && json_array_size(rows) == 0)
        error_set(err, STATUS_BOOKS, "%s: the run labelled '%s' is not there", gate->database, side->label);
    snprintf(side->run, sizeof side->run, "%s", text_of(json_array_get(rows, 0), "run"));
    snprintf(side->digest, sizeof side->digest, "%s", text_of(json_array_get(rows, 0), "provider_digest"));
    json_decref(rows);
    return err->status;
}

/* Both sides by case and device, the last attempt of each. */
#define SIDES                                                                                                             \
    "WITH red AS MATERIALIZED (SELECT case_name, device_id, verdict, reason, max(attempt) FROM results WHERE run = ?1 "   \
    "GROUP BY case_name, device_id), green AS MATERIALIZED (SELECT case_name, device_id, verdict, reason, max(attempt) "  \
    "FROM results WHERE run = ?2 GROUP BY case_name, device_id) "

static const char proof_sql[] =
    SIDES "SELECT red.case_name AS case_name, red.device_id AS device_id, red.verdict AS red, red.reason AS reason "
          "FROM red JOIN green USING (case_name, device_id) WHERE red.verdict IN ('fail', 'crash', 'timeout', 'xfail') "
          "AND green.verdict IN ('pass', 'xpass') ORDER BY 1, 2";

/* An expected failure counts against green where red passed. */
static const char failures_sql[] =
    SIDES "SELECT green.case_name AS case_name, green.device_id AS device_id, green.verdict AS green, "
          "green.reason AS reason, red.verdict AS red FROM green LEFT JOIN red USING (case_name, device_id) "
          "WHERE green.verdict IN ('fail', 'crash', 'timeout', 'flaky', 'error', 'notrun') "
          "OR (green.verdict = 'xfail' AND red.verdict IN ('pass', 'xpass')) ORDER BY 1, 2";

static const char lost_sql[] =
    SIDES "SELECT red.case_name AS case_name, green.verdict AS green, green.reason AS reason FROM red LEFT JOIN green "
          "USING (case_name, device_id) WHERE red.verdict NOT IN ('skip', 'notrun', 'error') "
          "AND (green.verdict IS NULL OR green.verdict = 'skip') ORDER BY 1";

static const char counts_sql[] = "SELECT CASE run WHEN ?1 THEN 'red' ELSE 'green' END AS side, provider, provider_version, "
                                 "provider_digest, device_id, verdict, count(*) AS n FROM results WHERE run IN (?1, ?2) "
                                 "GROUP BY side, provider, provider_digest, device_id, verdict ORDER BY side DESC, 2, 5, 6";

static enum status look(struct gate *gate, struct error *err)
{
    if (store_open(&gate->store, gate->database, STORE_READ, err) || find_run(gate, &gate->red, err) ||
        find_run(gate, &gate->green, err))
        return err->status;
    gate->proof = ask(gate, proof_sql, gate->red.run, gate->green.run, err);
    gate->failures = ask(gate, failures_sql, gate->red.run, gate->green.run, err);
    gate->lost = ask(gate, lost_sql, gate->red.run, gate->green.run, err);
    gate->counts = ask(gate, counts_sql, gate->red.run, gate->green.run, err);
    return err->status;
}

/* ---- the answer ------------------------------------------------------------------------------------------------- */

static void print_cases(const json_t *rows, const char *verdict)
{
    for (size_t i = 0; i < json_array_size(rows) && i < LISTED_CASES; i++) {
        const json_t *row = json_array_get(rows, i);
        printf("  %-7s  %s\n           %s: %s\n", text_of(row, verdict), text_of(row, "case_name"), text_of(row, "device_id"),
               text_of(row, "reason"));
    }
    if (json_array_size(rows) > LISTED_CASES)
        printf("  ... and %zu more\n", json_array_size(rows) - LISTED_CASES);
}

static void print_answer(const struct gate *gate, bool proven)
{
    for (size_t i = 0; i < json_array_size(gate->counts); i++) {
        const json_t *row = json_array_get(gate->counts, i);
        printf("%-5s  %s %s (%.8s) on %s: %s %s\n", text_of(row, "side"), text_of(row, "provider"),
               text_of(row, "provider_version"), text_of(row, "provider_digest"), text_of(row, "device_id"), text_of(row, "n"),
               text_of(row, "verdict"));
    }
    if (json_array_size(gate->proof))
        printf("red fails and green passes in %zu cases:\n", json_array_size(gate->proof));
    print_cases(gate->proof, "red");
    if (json_array_size(gate->failures))
        printf("green fails in %zu cases:\n", json_array_size(gate->failures));
    print_cases(gate->failures, "green");
    if (json_array_size(gate->lost))
        printf("note: %zu cases that red was judged in were not judged in green\n", json_array_size(gate->lost));
    if (gate->red_is_dirty)
        printf("note: the sources of red are not committed as they are; the change is told from their commit\n");
    if (strcmp(gate->red.digest, gate->green.digest) == 0)
        printf("note: red and green are the same build (%s)\n", gate->red.digest);
    printf("%s\nred is run %s, green is run %s in %s\n",
           proven                            ? "proven: red fails where green passes, and green fails nowhere"
           : json_array_size(gate->failures) ? "not proven: green fails"
                                             : "not proven: red fails nowhere that green passes",
           gate->red.run, gate->green.run, gate->database);
    if (proven)
        printf("written down by: topkcts evidence %s %s --db %s\n", gate->red.run, gate->green.run, gate->database);
}

static void print_json(const struct gate *gate, bool proven)
{
    json_t *answer = json_pack("{s:b, s:s, s:s, s:s, s:O, s:O, s:O, s:O}", "proven", proven, "red", gate->red.run, "green",
                               gate->green.run, "db", gate->database, "counts", gate->counts, "proof", gate->proof,
                               "green_failures", gate->failures, "not_judged_in_green", gate->lost);
    json_dumpf(answer, stdout, JSON_INDENT(1));
    putchar('\n');
    json_decref(answer);
}

static enum status prepare(struct gate *gate, struct provenance_source *red_source, struct error *err)
{
    const struct settings *settings = gate->settings;
    char                   id[32];
    if (!settings->red || !settings->green)
        return error_set(err, STATUS_USAGE, "gate: --red P (without the fix) and --green P (with it) are both needed");
    gate->database = settings->database ? settings->database : "topkcts.db";
    store_new_run_name(id);
    gate->red = (struct side){.colour = "red", .provider = settings->red, .source = settings->red_source};
    gate->green = (struct side){.colour = "green", .provider = settings->green, .source = settings->green_source};
    snprintf(gate->red.label, sizeof gate->red.label, "%.200s red", settings->label ? settings->label : id);
    snprintf(gate->green.label, sizeof gate->green.label, "%.200s green", settings->label ? settings->label : id);
    if (settings->green_source && access(settings->green_source, R_OK) != 0)
        return error_set(err, STATUS_USAGE, "--green-source %s: %s", settings->green_source, strerror(errno));
    if (settings->red_source) {
        if (provenance_source(settings->red_source, red_source, err))
            return error_prefix(err, "--red-source");
        gate->red_is_dirty = red_source->dirty == 1;
        gate->green.base = red_source->commit[0] ? red_source->commit : NULL;
    }
    return STATUS_OK;
}

enum status command_gate(const struct settings *settings, struct error *err)
{
    struct gate              gate = {.settings = settings};
    struct provenance_source red_source;
    enum status              answer = STATUS_FAIL;
    if (prepare(&gate, &red_source, err) || run_side(&gate, &gate.red, err) || run_side(&gate, &gate.green, err) ||
        look(&gate, err))
        goto done;
    bool proven = json_array_size(gate.proof) > 0 && json_array_size(gate.failures) == 0;
    if (settings->json)
        print_json(&gate, proven);
    else
        print_answer(&gate, proven);
    answer = proven ? STATUS_OK : STATUS_FAIL;
done:
    store_close(gate.store);
    json_decref(gate.proof);
    json_decref(gate.failures);
    json_decref(gate.lost);
    json_decref(gate.counts);
    return err->status ? err->status : answer;
}
