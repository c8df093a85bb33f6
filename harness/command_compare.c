/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `topkcts compare A B`: two runs, labels, devices or providers side by side, case by case.
 *
 * What SAME, FIXED, BROKEN, NEW, GONE and DIFFERS mean stands in reports/compare.sql and nowhere else; here the words
 * are looked up, and the answer is counted and printed.
 */
#include "harness/answer.h"
#include "harness/command.h"
#include "harness/project.h"
#include "harness/report_query.h"

#include <string.h>

/* In the order of the summary; the spelling is that of compare.sql. */
static const char *const outcomes[] = {"SAME", "FIXED", "BROKEN", "NEW", "GONE", "DIFFERS"};
enum { N_OUTCOMES = sizeof outcomes / sizeof outcomes[0] };

static int outcome_of(const char *text)
{
    for (int i = 0; i < N_OUTCOMES; i++)
        if (strcmp(outcomes[i], text) == 0)
            return i;
    return -1;
}

static const char kinds_sql[] =
    "SELECT kind, sum(word = :a) > 0 AND sum(word = :b) > 0 FROM ("
    "SELECT 1 AS place, 'run' AS kind, run AS word FROM runs UNION SELECT 2, 'label', label FROM runs "
    "UNION SELECT 3, 'device', device_id FROM devices UNION SELECT 3, 'device', arch FROM devices "
    "UNION SELECT 3, 'device', substr(arch, 1, instr(arch, ':') - 1) FROM devices WHERE instr(arch, ':') "
    "UNION SELECT 4, 'provider', provider FROM run_providers) WHERE word IN (:a, :b) GROUP BY kind "
    "HAVING sum(word = :a) > 0 AND sum(word = :b) > 0 ORDER BY place LIMIT 1";

/* What there is, for the message when a word is none of it: the newest of the many. */
static const char names_sql[] =
    "SELECT 'runs ' || COALESCE((SELECT group_concat(run, ', ') FROM (SELECT run FROM runs ORDER BY started_at DESC "
    "LIMIT 3)), 'none') || '; labels ' || COALESCE((SELECT group_concat(label, ', ') FROM (SELECT label FROM runs "
    "WHERE label IS NOT NULL GROUP BY label ORDER BY max(started_at) DESC LIMIT 3)), 'none') || '; devices ' || "
    "COALESCE((SELECT group_concat(device_id, ', ') FROM (SELECT device_id FROM devices LIMIT 8)), 'none') || "
    "'; providers ' || COALESCE((SELECT group_concat(provider, ', ') FROM (SELECT DISTINCT provider FROM run_providers "
    "LIMIT 8)), 'none')";

static enum status find_kind(struct store *store, const char *database, const char *a, const char *b,
                             struct arena *arena, const char **kind, struct error *err)
{
    const struct store_parameter parameters[] = {{"a", a}, {"b", b}};
    struct answer                found = {0}, names = {0};
    if (store_query_named(store, kinds_sql, parameters, 2, answer_add_row, &found, err))
        goto done;
    if (found.n_rows) {
        *kind = arena_text(arena, found.values[0].text);
        goto done;
    }
    if (!store_query_named(store, names_sql, NULL, 0, answer_add_row, &names, err))
        error_set(err, STATUS_USAGE,
                  "compare: '%s' and '%s' are not two runs, two labels, two devices or two providers of %s; the newest "
                  "there are: %s",
                  a, b, database, names.values[0].text);
done:
    answer_clear(&found);
    answer_clear(&names);
    return err->status;
}

static enum status check_fail_on(const struct settings *settings, struct error *err)
{
    for (size_t i = 0; i < settings->fail_on.n; i++)
        if (outcome_of(settings->fail_on.items[i]) < 0)
            return error_set(err, STATUS_USAGE,
                             "compare: --fail-on %s: SAME, FIXED, BROKEN, NEW, GONE or DIFFERS is accepted; repeat the "
                             "option for several",
                             settings->fail_on.items[i]);
    return STATUS_OK;
}

/* Takes the rows that are SAME out of what is printed, and counts all. compare.sql puts them last. */
static void count(struct answer *answer, size_t counts[N_OUTCOMES])
{
    size_t n_shown = answer->n_rows;
    for (size_t r = 0; r < answer->n_rows; r++) {
        int outcome = outcome_of(answer->values[r * answer->n_columns].text);
        if (outcome >= 0)
            counts[outcome]++;
        if (outcome == 0 && r < n_shown)
            n_shown = r;
    }
    answer->n_rows = n_shown;
}

static void print_answer(const struct settings *settings, const char *kind, const struct answer *answer,
                         const size_t counts[N_OUTCOMES])
{
    const char *a = settings->words.items[0], *b = settings->words.items[1];
    if (settings->json) {
        json_t *numbers = json_object();
        for (int i = 0; i < N_OUTCOMES; i++)
            json_object_set_new(numbers, outcomes[i], json_integer((json_int_t)counts[i]));
        json_t *whole = json_pack("{s:s, s:s, s:s, s:o, s:o}", "a", a, "b", b, "kind", kind, "counts", numbers, "cases",
                                  answer_json(answer));
        json_dumpf(whole, stdout, JSON_INDENT(1));
        putchar('\n');
        json_decref(whole);
        return;
    }
    if (settings->csv)
        answer_print_csv(answer, stdout);
    else if (settings->as_markdown)
        answer_print_markdown(answer, stdout);
    else if (answer->n_rows)
        answer_print_table(answer, stdout);
    FILE *file = settings->csv ? stderr : stdout;
    fprintf(file, "%s%ss %s and %s:", answer->n_rows ? "\n" : "", kind, a, b);
    for (int i = 0; i < N_OUTCOMES; i++)
        fprintf(file, "%s %zu %s", i ? "," : "", counts[i], outcomes[i]);
    fputc('\n', file);
}

enum status command_compare(const struct settings *settings, struct error *err)
{
    const char                *database = settings->database ? settings->database : "topkcts.db";
    const char                *kind = NULL;
    struct arena               arena = {0};
    struct report_query       *queries = NULL;
    const struct report_query *query = NULL;
    struct store              *store = NULL;
    struct answer              answer = {0};
    size_t                     n_queries = 0, counts[N_OUTCOMES] = {0}, n_failing = 0, n_all = 0;
    if (settings->words.n != 2) {
        error_set(err, STATUS_USAGE, "compare takes two runs, labels, devices or providers, %zu were given",
                  settings->words.n);
        goto done;
    }
    const char *folder = arena_format(&arena, "%s/reports", project_folder());
    if (check_fail_on(settings, err) || report_queries_read(folder, &arena, &queries, &n_queries, err) ||
        report_query_find(queries, n_queries, "compare", &query, err) ||
        store_open(&store, database, STORE_READ, err) ||
        find_kind(store, database, settings->words.items[0], settings->words.items[1], &arena, &kind, err))
        goto done;
    const struct store_parameter parameters[] = {
        {"a", settings->words.items[0]}, {"b", settings->words.items[1]}, {"kind", kind}};
    if (store_query_named(store, query->sql, parameters, 3, answer_add_row, &answer, err)) {
        error_prefix(err, "compare.sql");
        goto done;
    }
    count(&answer, counts);
    for (int i = 0; i < N_OUTCOMES; i++)
        n_all += counts[i];
    if (n_all == 0) {
        error_set(err, STATUS_BOOKS, "compare: no case was judged for '%s' nor for '%s'; `topkcts query runs` counts what each "
                  "run judged", settings->words.items[0], settings->words.items[1]);
        goto done;
    }
    print_answer(settings, kind, &answer, counts);
    if (counts[3] + counts[4] == n_all)
        fprintf(stderr, "topkcts: compare: the two have no case in common\n");
    for (size_t i = 0; i < settings->fail_on.n; i++)
        n_failing += counts[outcome_of(settings->fail_on.items[i])];
done:
    answer_clear(&answer);
    store_close(store);
    arena_clear(&arena);
    return err->status ? err->status : n_failing ? STATUS_FAIL : STATUS_OK;
}
