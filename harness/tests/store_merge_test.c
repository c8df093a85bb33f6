/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging: what is known afterwards, whatever came first, came twice or was interrupted. Sources are made by the store
 * itself: each holds some of the runs of one made-up history, with some of their results still planned.
 */
#include "harness/store_merge.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_SOURCES = 4, N_RUNS = 5, N_CASES = 6, DUMP_BYTES = 1 << 20 };

/* schema.sql of version 1, found from where the tests are started. */

static char         schema_path[4096];
static char         folder[64];
static struct error err;

static void make_folder(void)
{
    cr_assert_not_null(realpath("harness/schema.sql", schema_path));
    snprintf(folder, sizeof folder, "/tmp/topkcts-merge-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
}

static void remove_folder(void)
{
    char command[96];
    cr_assert_eq(chdir("/"), 0);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(store_merge, .init = make_folder, .fini = remove_folder, .timeout = 600);

#define assert_ok(call) cr_assert_eq(call, STATUS_OK, "%s", err.text)

/* A number that depends on what it is asked for, and on nothing else. */
static uint32_t chance(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t x = a * 2654435761U ^ b * 2246822519U ^ c * 3266489917U;
    x = (x ^ x >> 15) * 2246822519U;
    x = (x ^ x >> 13) * 3266489917U;
    return (x ^ x >> 16) % 100;
}

/* What run `run` says of case `c`; `story` differs where somebody tells it differently. */
static struct store_result result_of(uint32_t run, uint32_t c, uint32_t story)
{
    static const struct store_row_failure failure = {.row = 1, .length = 9, .topk = 3, .missing = "[1]",
                                                     .explanation = "one is missing", .n_missing = 1};
    static const enum verdict verdicts[] = {VERDICT_PASS, VERDICT_FAIL, VERDICT_XFAIL, VERDICT_SKIP, VERDICT_ERROR};
    enum verdict verdict = verdicts[chance(run, c, 77 + story) % 5];
    bool         judged = verdict != VERDICT_SKIP && verdict != VERDICT_ERROR;
    return (struct store_result){
        .verdict = verdict,
        .has_level = judged,
        .level = TOPK_LEVEL_VALID,
        .set_exact = judged ? 1 : -1,
        .reason = verdict == VERDICT_PASS ? NULL : "because",
        .output_digest = judged ? "0123456789abcdef0123456789abcdef" : NULL,
        .input_hash = chance(c, story, 5) < 50 ? "fedcba9876543210fedcba9876543210" : "00000000000000000000000000000001",
        .repeats = 3,
        .attempt = 1,
        .wall_ms = 1.5 + c,
        .kernel_us_p50 = -1,
        .log = verdict == VERDICT_FAIL ? "a log" : NULL,
        .failures = &failure,
        .n_failures = verdict == VERDICT_FAIL,
    };
}

static void write_run(struct store *store, uint32_t run, uint32_t source, uint32_t story)
{
    static const struct store_device device = {.device_id = "GPU-1", .backend = "hip", .name = "a GPU",
                                               .arch = "gfx1100", .wave_size = 32};
    static const struct store_provider provider = {.name = "v1", .digest = "11111111111111111111111111111111",
                                                   .origin = "aot"};
    char                 name[32], started_at[32], case_names[N_CASES][64];
    struct store_planned planned[N_CASES];
    int64_t              ids[N_CASES];
    snprintf(name, sizeof name, "run-%u", run);
    snprintf(started_at, sizeof started_at, "2026-11-%02uT00:00:00.000Z", run + 1);
    for (uint32_t c = 0; c < N_CASES; c++) {
        snprintf(case_names[c], sizeof case_names[c], "ties/topk=%u", c);
        planned[c] = (struct store_planned){.case_name = case_names[c], .family = "ties", .topk = (int32_t)c + 1,
                                            .fault = run % 2 ? "tie-break" : "overflow", .length = 9, .page_size = 1,
                                            .batch = 2, .outputs = "page", .promised = TOPK_LEVEL_VALID, .in_budget = true};
    }
    struct store_run described = {.run = name, .started_at = started_at, .host = "h", .argv = "[]", .dirty = -1,
                                  .suite = "smoke"};
    assert_ok(store_begin_run(store, &described, &device, 1, &provider, 1, planned, N_CASES, ids, &err));
    bool whole = chance(run, source, 3) < 50;
    for (uint32_t c = 0; c < N_CASES; c++) {
        int starts;
        if (!whole && chance(run, source, 10 + c) < 50)
            continue;
        struct store_result result = result_of(run, c, story);
        double              times[] = {1, 2, 3};
        for (uint32_t i = 0; i <= chance(run, source, 50 + c) % 3; i++)
            assert_ok(store_start(store, ids[c], &starts, &err));
        const struct store_samples samples = {"kernel", times, 3};
        result.samples = &samples;
        result.n_samples = 1;
        assert_ok(store_record(store, &ids[c], &result, &err));
    }
    if (whole) {
        sqlite3 *db;
        char     sql[160];
        assert_ok(store_end_run(store, name, 1, &err));
        /* Copies of one run agree on when it ended. */
        snprintf(sql, sizeof sql, "UPDATE run SET ended_at = '2026-11-%02uT01:00:00.000Z' WHERE run = '%s'", run + 1,
                 name);
        char path[32];
        snprintf(path, sizeof path, "source-%u.db", source);
        cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
        cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
    }
    if (chance(run, source, 4) < 25)
        assert_ok(store_exclude_run(store, name, source % 2 ? "bad cable" : "no power", &err));
}

/* source-0.db .. With `stories`, every source tells its own. */
static void make_sources(uint32_t seed, bool stories)
{
    for (uint32_t s = 0; s < N_SOURCES; s++) {
        struct store *store;
        char          path[32];
        snprintf(path, sizeof path, "source-%u.db", s);
        unlink(path);
        assert_ok(store_open(&store, path, STORE_WRITE, &err));
        for (uint32_t r = 0; r < N_RUNS; r++)
            if (chance(seed * 31 + r, s, 1) < 70)
                write_run(store, seed * 10 + r, s, stories ? s : 0);
        store_close(store);
    }
}

static enum status append_row(void *payload, int n_columns, const char *const *names, const char *const *values,
                              struct error *error)
{
    char  *text = payload;
    size_t n = strlen(text);
    (void)names;
    (void)error;
    for (int i = 0; i < n_columns; i++)
        n += (size_t)snprintf(text + n, DUMP_BYTES - n, "%s%c", values[i] ? values[i] : "~",
                              i + 1 < n_columns ? '|' : '\n');
    return STATUS_OK;
}

/* Everything that the views of a database say. The caller frees it. */
static char *dump(const char *path)
{
    static const char *const queries[] = {
        "SELECT * FROM runs ORDER BY run",
        "SELECT * FROM run_details ORDER BY run",
        "SELECT * FROM plan_without_ids",
        "SELECT * FROM latest ORDER BY case_name, device_id, provider, input_hash",
        "SELECT * FROM row_failures ORDER BY run, case_name, row",
        "SELECT * FROM samples ORDER BY run, case_name, ordinal",
        "SELECT * FROM logs ORDER BY run, case_name",
        "SELECT * FROM devices ORDER BY device_id",
        "SELECT case_name, fault, stated_at FROM test_case ORDER BY case_name",
    };
    char         *text = calloc(1, DUMP_BYTES);
    struct store *store;
    assert_ok(store_open(&store, path, STORE_READ, &err));
    for (size_t q = 0; q < sizeof queries / sizeof queries[0]; q++) {
        const char *sql = strcmp(queries[q], "SELECT * FROM plan_without_ids") == 0
                              ? "SELECT results.*, (SELECT starts FROM plan WHERE plan.run = results.run AND "
                                "plan.case_name = results.case_name AND plan.attempt = results.attempt) FROM results "
                                "ORDER BY run, case_name, attempt"
                              : queries[q];
        assert_ok(store_query(store, sql, NULL, 0, append_row, text, &err));
        strcat(text, "--\n");
    }
    store_close(store);
    return text;
}

static void count_conflict(void *payload, const struct store_merge_conflict *conflict)
{
    cr_expect_not_null(conflict->key);
    cr_expect_not_null(conflict->stored);
    cr_expect_not_null(conflict->found);
    ++*(int *)payload;
}

static struct store_merge_counts merge_in_order(const char *destination, const int *order, int n)
{
    struct store             *store;
    struct store_merge_counts counts = {0};
    int                       told = 0;
    assert_ok(store_open(&store, destination, STORE_WRITE, &err));
    for (int i = 0; i < n; i++) {
        char path[32];
        snprintf(path, sizeof path, "source-%d.db", order[i]);
        assert_ok(store_merge(store, path, &counts, count_conflict, &told, &err));
    }
    cr_expect_eq(told, counts.conflicts);
    store_close(store);
    return counts;
}

static const int orders[][N_SOURCES] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}, {1, 3, 0, 2}};

static void check_orders(uint32_t seed, bool stories)
{
    char *first = NULL;
    make_sources(seed, stories);
    for (size_t o = 0; o < sizeof orders / sizeof orders[0]; o++) {
        unlink("all.db");
        struct store_merge_counts counts = merge_in_order("all.db", orders[o], N_SOURCES);
        char                     *text = dump("all.db");
        if (!stories)
            cr_expect_eq(counts.conflicts, 0);
        if (first)
            cr_expect_str_eq(text, first, "seed %u: order %zu of the sources changes what is known", seed, o);
        else
            first = strdup(text);
        counts = merge_in_order("all.db", orders[o], N_SOURCES);
        char *again = dump("all.db");
        cr_expect_str_eq(again, text, "seed %u: merging again changes what is known", seed);
        cr_expect_eq(counts.added + counts.runs + counts.completed, 0);
        free(text);
        free(again);
    }
    free(first);
}

Test(store_merge, does_not_depend_on_the_order_nor_on_repetition)
{
    for (uint32_t seed = 1; seed <= 8; seed++)
        check_orders(seed, false);
}

Test(store_merge, does_not_depend_on_the_order_even_where_sources_disagree)
{
    for (uint32_t seed = 1; seed <= 8; seed++)
        check_orders(seed, true);
}

/* Merging through databases in between gives the same as merging at once: fleets merge in stages. */
Test(store_merge, in_stages_is_the_same)
{
    for (uint32_t seed = 20; seed <= 24; seed++) {
        static const int left[] = {0, 1}, right[] = {2, 3}, both[] = {0, 1};
        make_sources(seed, false);
        unlink("all.db");
        unlink("left.db");
        unlink("right.db");
        merge_in_order("all.db", orders[0], N_SOURCES);
        char *at_once = dump("all.db");
        merge_in_order("left.db", left, 2);
        merge_in_order("right.db", right, 2);
        cr_assert_eq(rename("left.db", "source-0.db"), 0);
        cr_assert_eq(rename("right.db", "source-1.db"), 0);
        unlink("all.db");
        merge_in_order("all.db", both, 2);
        char *in_stages = dump("all.db");
        cr_expect_str_eq(in_stages, at_once);
        free(at_once);
        free(in_stages);
    }
}

static int64_t number(const char *path, const char *sql)
{
    char          text[256] = "";
    struct store *store;
    assert_ok(store_open(&store, path, STORE_READ, &err));
    assert_ok(store_query(store, sql, NULL, 0, append_row, text, &err));
    store_close(store);
    return strtoll(text, NULL, 10);
}

static void change(const char *path, const char *sql)
{
    sqlite3 *db;
    char    *message = NULL;
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, &message), SQLITE_OK, "%s", message);
    sqlite3_close(db);
}

static void write_one(const char *path, uint32_t run, uint32_t source)
{
    struct store *store;
    assert_ok(store_open(&store, path, STORE_WRITE, &err));
    write_run(store, run, source, 0);
    store_close(store);
}

Test(store_merge, a_conflict_keeps_the_worse_verdict_and_tells_both)
{
    write_one("source-0.db", 1, 0);
    cr_assert_eq(system("cp source-0.db source-1.db"), 0);
    change("source-0.db", "UPDATE result SET verdict = 0, reason = NULL WHERE id = 1");
    change("source-1.db", "UPDATE result SET verdict = 1, reason = 'lost one' WHERE id = 1");
    for (int first = 0; first < 2; first++) {
        const int order[] = {first, 1 - first};
        unlink("all.db");
        struct store_merge_counts counts = merge_in_order("all.db", order, 2);
        int64_t                   n = number("source-0.db", "SELECT count(*) FROM plan");
        cr_expect_eq(counts.conflicts, 1);
        cr_expect_eq(counts.added, n);
        cr_expect_eq(counts.known, n - 1, "%lld known, one of %lld is in conflict", (long long)counts.known, (long long)n);
        cr_expect_eq(counts.completed, 0, "a verdict that replaces another completes nothing");
        cr_expect_eq(number("all.db", "SELECT count(*) FROM results WHERE reason = 'lost one'"), 1);
    }
}

Test(store_merge, a_run_described_differently_is_a_conflict_and_stays_out)
{
    static const int order[] = {0, 1};
    write_one("source-0.db", 1, 0);
    cr_assert_eq(system("cp source-0.db source-1.db"), 0);
    change("source-1.db", "UPDATE run SET host = 'another'; UPDATE result SET verdict = 2");
    cr_expect_eq(merge_in_order("all.db", order, 2).conflicts, 1);
    cr_expect_eq(number("all.db", "SELECT count(*) FROM results WHERE verdict = 'crash'"), 0);
    cr_expect_eq(number("all.db", "SELECT count(*) FROM runs WHERE host = 'h'"), 1);
}

static void assert_merge_refused(const char *source, enum status expected, const char *part)
{
    struct store             *store;
    struct store_merge_counts counts = {0};
    assert_ok(store_open(&store, "all.db", STORE_WRITE, &err));
    cr_expect_eq(store_merge(store, source, &counts, NULL, NULL, &err), expected);
    cr_expect_not_null(strstr(err.text, part), "no '%s' in '%s'", part, err.text);
    memset(&err, 0, sizeof err);
    store_close(store);
}

Test(store_merge, refuses_what_it_cannot_read_and_says_why)
{
    write_one("source-0.db", 1, 0);
    write_one("all.db", 2, 0);
    char *before = dump("all.db");
    assert_merge_refused("all.db", STATUS_USAGE, "the same file");
    assert_merge_refused("./all.db", STATUS_USAGE, "the same file");
    assert_merge_refused("missing.db", STATUS_BOOKS, "no such file");
    change("source-0.db", "PRAGMA user_version = 99");
    assert_merge_refused("source-0.db", STATUS_BOOKS, "newer topkcts");
    cr_assert_eq(system("cp all.db cut.db && truncate -s 9000 cut.db && echo hello >text.db"), 0);
    assert_merge_refused("cut.db", STATUS_BOOKS, "damaged");
    assert_merge_refused("text.db", STATUS_BOOKS, "not a SQLite database");
    char *after = dump("all.db");
    cr_expect_str_eq(after, before);
    free(before);
    free(after);
}

/* A database as version 1 left it, whatever the version of today is. */
Test(store_merge, brings_an_old_schema_forward_and_leaves_the_source_alone)
{
    static const int order[] = {0};
    char            *sql = NULL;
    size_t           n = 0;
    FILE            *file = fopen(schema_path, "r");
    cr_assert_not_null(file, "%s", schema_path);
    cr_assert_gt(getdelim(&sql, &n, '\0', file), 0);
    fclose(file);
    change("source-0.db", sql);
    free(sql);
    change("source-0.db",
           "INSERT INTO run (run, started_at, ended_at, meta) VALUES ('old', '2025-01-01', '2025-01-02', 0);"
           "INSERT INTO device VALUES (1, 'GPU-old');"
           "INSERT INTO run_device VALUES (1, 1, 1, 'hip', 'x', 'gfx906', 64, 1, 1, NULL, NULL, NULL);"
           "INSERT INTO run_provider (run, provider, digest, origin) VALUES (1, 'v1', printf('%032d', 1), 'aot');"
           "INSERT INTO test_case VALUES (1, 'ties/topk=1', 'ties', NULL, 1, 1, 1, 1, 'raw', '2025-01-01');"
           "INSERT INTO series VALUES (1, 1, 1, 'v1', 'aot', NULL);"
           "INSERT INTO result (run_provider, run_device, test_case, series, attempt, promised, in_budget, verdict) "
           "VALUES (1, 1, 1, 1, 1, 2, 1, 0)");
    cr_expect_eq(merge_in_order("all.db", order, 1).added, 1);
    cr_expect_eq(number("all.db", "SELECT count(*) FROM latest WHERE run = 'old' AND verdict = 'pass'"), 1);
    cr_expect_eq(system("test $(sqlite3 source-0.db 'PRAGMA user_version') = 1"), 0);
    cr_expect_eq(system("test $(ls | grep -c merging) = 0"), 0);
}

/* A runner was killed: its last results stand in the write-ahead log beside the file. */
Test(store_merge, reads_the_log_of_a_killed_runner)
{
    static const int order[] = {0};
    pid_t            child = fork();
    if (child == 0) {
        struct store *store = NULL;
        if (store_open(&store, "source-0.db", STORE_WRITE, &err) == STATUS_OK)
            write_run(store, 1, 1, 0);
        kill(getpid(), SIGKILL);
    }
    int how = 0;
    cr_assert_eq(waitpid(child, &how, 0), child);
    cr_assert(WIFSIGNALED(how));
    struct stat log;
    cr_assert(stat("source-0.db-wal", &log) == 0 && log.st_size > 0);
    cr_expect_eq(merge_in_order("all.db", order, 1).added, N_CASES);
}

/* Killed at any moment and started again, a merge ends where an undisturbed one does. */
Test(store_merge, is_repeatable_after_a_kill)
{
    make_sources(40, false);
    merge_in_order("undisturbed.db", orders[0], N_SOURCES);
    char *expected = dump("undisturbed.db");
    for (int i = 0; i < 20; i++) {
        unlink("all.db");
        unlink("all.db-wal");
        unlink("all.db-shm");
        pid_t child = fork();
        if (child == 0) {
            merge_in_order("all.db", orders[0], N_SOURCES);
            _exit(0);
        }
        usleep((useconds_t)(i * 2500));
        kill(child, SIGKILL);
        cr_assert_eq(waitpid(child, NULL, 0), child);
        merge_in_order("all.db", orders[0], N_SOURCES);
        char *text = dump("all.db");
        cr_expect_str_eq(text, expected, "killed after %d us", i * 2500);
        free(text);
    }
    free(expected);
}
