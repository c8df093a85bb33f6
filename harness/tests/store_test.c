/* SPDX-License-Identifier: Apache-2.0 */
/* What runs leave in the store, as the views tell it. Each test has a file of its own. */
#include "harness/store.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HASH_A "0123456789abcdef0123456789abcdef"
#define HASH_B "fedcba9876543210fedcba9876543210"
#define BUILD_1 "11111111111111111111111111111111"
#define BUILD_2 "22222222222222222222222222222222"

static char          path[64];
static struct store *store;
static struct error  err;

static void open_store(void)
{
    snprintf(path, sizeof path, "/tmp/topkcts-store-XXXXXX");
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    close(file);
    cr_assert_eq(store_open(&store, path, STORE_WRITE, &err), STATUS_OK, "%s", err.text);
}

static void remove_store(void)
{
    store_close(store);
    unlink(path);
}

TestSuite(store, .init = open_store, .fini = remove_store, .timeout = 60);

#define assert_ok(call) cr_assert_eq(call, STATUS_OK, "%s", err.text)

#define assert_refused(call, expected)                                                                               \
    do {                                                                                                             \
        cr_assert_eq(call, STATUS_BOOKS);                                                                            \
        cr_assert_not_null(strstr(err.text, expected), "no '%s' in '%s'", expected, err.text);                       \
        memset(&err, 0, sizeof err);                                                                                 \
    } while (0)

/* Rows as text: columns joined by '|', rows by newlines, NULL as "~". */
static enum status append_row(void *payload, int n_columns, const char *const *names, const char *const *values,
                              struct error *error)
{
    char  *text = payload;
    size_t n = strlen(text);
    (void)names;
    (void)error;
    for (int i = 0; i < n_columns; i++)
        n += (size_t)snprintf(text + n, 4096 - n, "%s%s", i > 0 ? "|" : n > 0 ? "\n" : "", values[i] ? values[i] : "~");
    return STATUS_OK;
}

static const char *answer(const char *sql)
{
    static char text[4096];
    text[0] = '\0';
    assert_ok(store_query(store, sql, NULL, 0, append_row, text, &err));
    return text;
}

#define assert_answer(sql, expected) cr_assert_str_eq(answer(sql), expected)

static const struct store_device devices[] = {
    {.device_id = "sim", .backend = "sim", .name = "simulator", .arch = "x86_64", .wave_size = 0, .lds_bytes = 65536,
     .toolchain = "gcc 12"},
    {.device_id = "GPU-7f", .backend = "hip", .name = "RX 7900", .arch = "gfx1100", .wave_size = 32,
     .lds_bytes = 65536, .memory_bytes = 25753026560, .driver = "6.3", .runtime = "6.4", .toolchain = "hipcc"},
};

static const struct store_provider providers[] = {
    {.name = "v1", .version = "1.0", .digest = BUILD_1, .origin = "sim", .claims = "level=canonical",
     .source_commit = "c0ffee"},
    {.name = "faulty/tie", .digest = BUILD_2, .origin = "sim", .claims = "level=canonical"},
};

static struct store_planned plan_of(const char *case_name, size_t device, size_t provider)
{
    return (struct store_planned){.device = device, .provider = provider, .case_name = case_name, .family = "ties",
                                  .fault = "tie-break", .topk = 512, .length = 4096, .page_size = 64, .batch = 8,
                                  .outputs = "page+raw", .input_hash = HASH_A, .promised = TOPK_LEVEL_CANONICAL,
                                  .in_budget = true};
}

static struct store_run run_at(const char *name, const char *started_at)
{
    return (struct store_run){.run = name, .started_at = started_at, .suite = "smoke", .label = "night",
                              .host = "box", .argv = "[\"topkcts\"]", .source_commit = "c0ffee", .dirty = 0,
                              .environment = "{}"};
}

static struct store_result verdict_of(enum verdict verdict)
{
    return (struct store_result){.verdict = verdict, .has_level = verdict_is_judged(verdict), .level = TOPK_LEVEL_CANONICAL,
                                 .set_exact = -1, .attempt = 1, .wall_ms = 1.5, .kernel_us_p50 = -1};
}

/* A whole run of one case `ties/a` on the simulator by provider `provider`. */
static void run_once(const char *name, const char *started_at, bool meta, size_t provider, enum verdict verdict)
{
    struct store_run     run = run_at(name, started_at);
    struct store_planned planned = plan_of("ties/a", 0, provider);
    struct store_result  result = verdict_of(verdict);
    int64_t              id = 0;
    run.meta = meta;
    assert_ok(store_begin_run(store, &run, devices, 2, providers, 2, &planned, 1, &id, &err));
    assert_ok(store_record(store, &id, &result, &err));
    assert_ok(store_end_run(store, name, 0, &err));
}

Test(store, the_plan_is_there_before_anything_ran)
{
    struct store_run     run = run_at("r1", "2026-11-30T01:00:00.000Z");
    struct store_planned planned[] = {plan_of("ties/a", 0, 0), plan_of("ties/a", 1, 1), plan_of("ties/b", 0, 0)};
    int64_t              ids[3] = {0};
    planned[2].in_budget = false;
    planned[2].input_hash = NULL;
    assert_ok(store_begin_run(store, &run, devices, 2, providers, 2, planned, 3, ids, &err));
    cr_assert(ids[0] > 0 && ids[1] > ids[0] && ids[2] > ids[1]);
    assert_answer("SELECT device_id, provider, case_name, verdict, reason, level, attempt, input_hash FROM results "
                  "ORDER BY case_name, device_id",
                  "GPU-7f|faulty/tie|ties/a|notrun|not reached|~|1|" HASH_A "\n"
                  "sim|v1|ties/a|notrun|not reached|~|1|" HASH_A "\n"
                  "sim|v1|ties/b|notrun|left out by --budget|~|1|~");
    assert_answer("SELECT case_name, in_budget, starts FROM plan WHERE run = 'r1' AND device_id = 'sim'",
                  "ties/a|1|0\nties/b|0|0");
    assert_answer("SELECT * FROM runs",
                  "r1|2026-11-30T01:00:00.000Z|~|night|smoke|box|[\"topkcts\"]|c0ffee|0|~|0");
    assert_answer("SELECT * FROM devices ORDER BY device_id",
                  "GPU-7f|hip|RX 7900|gfx1100|32|65536|25753026560|6.3|6.4|hipcc\n"
                  "sim|sim|simulator|x86_64|0|65536|0|~|~|gcc 12");
    assert_answer("SELECT count(*) FROM latest", "0");
}

Test(store, the_columns_of_the_views_are_the_documented_ones)
{
    const char *columns = "run,started_at,label,suite,host,device_id,backend,device,arch,driver,toolchain,provider,"
                          "provider_version,provider_digest,source_commit,origin,path,case_name,family,fault,topk,"
                          "length,page_size,batch,outputs,input_hash,promised,level,set_exact,verdict,expected,reason,"
                          "output_digest,set_digest,repeats,attempt,wall_ms,kernel_us_p50";
    assert_answer("SELECT group_concat(name, ',') FROM pragma_table_info('results')", columns);
    assert_answer("SELECT group_concat(name, ',') FROM pragma_table_info('latest')", columns);
    assert_answer("SELECT group_concat(name, ',') FROM pragma_table_info('runs')",
                  "run,started_at,ended_at,label,suite,host,argv,source_commit,dirty,exit_code,excluded");
}

Test(store, a_verdict_replaces_the_planned_row)
{
    struct store_run         run = run_at("r1", "2026-11-30T01:00:00.000Z");
    struct store_planned     planned = plan_of("ties/a", 1, 0);
    struct store_row_failure failures[] = {
        {.row = 3, .length = 4096, .topk = 512, .cut_value = "1 (0x3f800000)", .cut_equal = 9, .missing = "[4]",
         .extra = "[7]", .n_missing = 1, .n_extra = 1, .explanation = "the higher index was taken"},
        {.row = 3, .length = 4096, .topk = 512, .cut_equal = 1},
        {.row = 5, .length = 100, .topk = 512, .cut_equal = 0, .n_missing = 2}};
    struct store_result      result = {.verdict = VERDICT_FAIL, .has_level = true, .level = TOPK_LEVEL_SET_REPEATABLE, .set_exact = 0,
                                       .reason = "row 3: wrong set", .expected = "issue 7", .output_digest = HASH_B,
                                       .set_digest = HASH_A, .path = "long-row", .repeats = 10, .attempt = 1,
                                       .wall_ms = 12.5, .kernel_us_p50 = 33.25, .log = "what it printed",
                                       .failures = failures, .n_failures = 3};
    int64_t                  id = 0;
    assert_ok(store_begin_run(store, &run, devices, 2, providers, 2, &planned, 1, &id, &err));
    assert_ok(store_record(store, &id, &result, &err));
    assert_answer("SELECT * FROM results",
                  "r1|2026-11-30T01:00:00.000Z|night|smoke|box|GPU-7f|hip|RX 7900|gfx1100|6.3|hipcc|v1|1.0|" BUILD_1
                  "|c0ffee|sim|long-row|ties/a|ties|tie-break|512|4096|64|8|page+raw|" HASH_A
                  "|canonical|set-repeatable|0|fail|issue 7|row 3: wrong set|" HASH_B "|" HASH_A "|10|1|12.5|33.25");
    assert_answer("SELECT run, case_name, row, length, cut_value, cut_equal, n_missing, n_extra, missing, extra, "
                  "explanation FROM row_failures",
                  "r1|ties/a|3|4096|1 (0x3f800000)|9|1|1|[4]|[7]|the higher index was taken\n"
                  "r1|ties/a|5|100|~|0|2|0|~|~|~");
    assert_answer("SELECT log FROM logs", "what it printed");

    result = verdict_of(VERDICT_PASS);
    assert_ok(store_record(store, &id, &result, &err));
    assert_answer("SELECT verdict, level, set_exact, reason, output_digest, kernel_us_p50 FROM results",
                  "pass|canonical|~|~|~|~");
    assert_answer("SELECT (SELECT count(*) FROM row_failures) + (SELECT count(*) FROM logs)", "0");
}

Test(store, every_verdict_and_level_reads_as_it_was_written)
{
    static const char *const levels[] = {"none", "safe", "valid", "set-repeatable", "repeatable", "invariant",
                                         "canonical"};
    struct store_run         run = run_at("r1", "2026-11-30T01:00:00.000Z");
    struct store_planned     planned = plan_of("ties/a", 0, 0);
    int64_t                  id = 0;
    assert_ok(store_begin_run(store, &run, devices, 1, providers, 1, &planned, 1, &id, &err));
    for (int i = 0; i < VERDICT_COUNT; i++) {
        struct store_result result = verdict_of((enum verdict)i);
        assert_ok(store_record(store, &id, &result, &err));
        assert_answer("SELECT verdict FROM results", verdict_text((enum verdict)i));
        cr_assert_eq(atoi(answer("SELECT verdict <= 6 FROM result")), verdict_is_judged((enum verdict)i));
    }
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        struct store_result result = verdict_of(VERDICT_FAIL);
        result.has_level = true;
        result.level = (enum topk_level)i;
        assert_ok(store_record(store, &id, &result, &err));
        assert_answer("SELECT level FROM results", levels[i]);
    }
}

Test(store, retries_are_rows_of_their_own)
{
    struct store_run     run = run_at("r1", "2026-11-30T01:00:00.000Z");
    struct store_planned planned = plan_of("ties/a", 0, 0);
    struct store_result  result = verdict_of(VERDICT_FAIL);
    int64_t              first = 0;
    assert_ok(store_begin_run(store, &run, devices, 1, providers, 1, &planned, 1, &first, &err));
    int64_t id = first;
    assert_ok(store_record(store, &id, &result, &err));
    cr_assert_eq(id, first);
    result = verdict_of(VERDICT_FLAKY);
    result.attempt = 2;
    assert_ok(store_record(store, &id, &result, &err));
    cr_assert_neq(id, first);
    int64_t second = id;
    result.attempt = 3;
    assert_ok(store_record(store, &id, &result, &err));
    int64_t from_first = first;
    result.attempt = 2;
    assert_ok(store_record(store, &from_first, &result, &err));
    cr_assert_eq(from_first, second, "the same attempt got two rows");
    assert_ok(store_end_run(store, "r1", 1, &err));
    assert_answer("SELECT attempt, verdict, promised, input_hash FROM results ORDER BY attempt",
                  "1|fail|canonical|" HASH_A "\n2|flaky|canonical|" HASH_A "\n3|flaky|canonical|" HASH_A);
    assert_answer("SELECT attempt, verdict FROM latest", "3|flaky");
}

Test(store, an_input_hash_is_filled_in_but_never_replaced)
{
    struct store_run     run = run_at("r1", "2026-11-30T01:00:00.000Z");
    struct store_planned planned[] = {plan_of("ties/a", 0, 0), plan_of("ties/b", 0, 0), plan_of("ties/c", 0, 0)};
    struct store_result  result = verdict_of(VERDICT_PASS);
    int64_t              ids[3] = {0};
    planned[0].input_hash = NULL;
    planned[2].input_hash = NULL;
    assert_ok(store_begin_run(store, &run, devices, 1, providers, 1, planned, 3, ids, &err));
    result.input_hash = HASH_B;
    for (int i = 0; i < 3; i++) {
        result.input_hash = i < 2 ? HASH_B : NULL;
        assert_ok(store_record(store, &ids[i], &result, &err));
    }
    result.attempt = 2;
    result.input_hash = HASH_A;
    assert_ok(store_record(store, &ids[2], &result, &err));
    assert_answer("SELECT case_name, attempt, input_hash FROM results ORDER BY case_name, attempt",
                  "ties/a|1|" HASH_B "\nties/b|1|" HASH_A "\nties/c|1|~\nties/c|2|" HASH_A);
}

Test(store, starts_are_counted)
{
    struct store_run     run = run_at("r1", "2026-11-30T01:00:00.000Z");
    struct store_planned planned = plan_of("ties/a", 0, 0);
    int64_t              id = 0;
    int                  starts = 0;
    assert_ok(store_begin_run(store, &run, devices, 1, providers, 1, &planned, 1, &id, &err));
    assert_ok(store_start(store, id, &starts, &err));
    cr_assert_eq(starts, 1);
    assert_ok(store_start(store, id, &starts, &err));
    cr_assert_eq(starts, 2);
    assert_answer("SELECT starts, verdict FROM plan", "2|notrun");
    assert_refused(store_start(store, id + 1, &starts, &err), "no planned row");
}

Test(store, samples_and_warnings_are_kept_in_order)
{
    struct store_run     run = run_at("r1", "2026-11-30T01:00:00.000Z");
    struct store_planned planned = plan_of("ties/a", 0, 0);
    int64_t              id = 0;
    assert_ok(store_begin_run(store, &run, devices, 1, providers, 1, &planned, 1, &id, &err));
    const struct store_samples samples[] = {{"kernel", (const double[]){3.5, 2.5, 1.5}, 3},
                                            {"copy", (const double[]){9}, 1}, {"clock", NULL, 0}};
    struct store_result        result = verdict_of(VERDICT_PASS);
    result.samples = samples;
    result.n_samples = 3;
    assert_ok(store_record(store, &id, &result, &err));
    assert_answer("SELECT case_name, name, ordinal, value_us FROM samples ORDER BY name, ordinal",
                  "ties/a|copy|0|9.0\nties/a|kernel|0|3.5\nties/a|kernel|1|2.5\nties/a|kernel|2|1.5");
    /* With the verdict, in its transaction: what replaces the one replaces the other, and neither is there alone. */
    result.samples = &samples[1];
    result.n_samples = 1;
    assert_ok(store_record(store, &id, &result, &err));
    assert_answer("SELECT name, ordinal, value_us FROM samples", "copy|0|9.0");
    result.verdict = VERDICT_FAIL;
    result.samples = (const struct store_samples[]){samples[1], samples[1]};
    result.n_samples = 2;
    assert_refused(store_record(store, &id, &result, &err), "UNIQUE");
    assert_answer("SELECT name, ordinal, value_us, verdict FROM samples JOIN results USING (run, case_name)", "copy|0|9.0|pass");
    assert_ok(store_add_warning(store, "r1", "expectation expired", &err));
    assert_answer("SELECT run, warning FROM run_warnings", "r1|expectation expired");
    assert_refused(store_add_warning(store, "r2", "x", &err), "no run r2");
}

Test(store, what_makes_no_sense_is_refused_whole)
{
    struct store_run      run = run_at("r1", "2026-11-30T01:00:00.000Z");
    struct store_planned  planned[] = {plan_of("ties/a", 0, 0), plan_of("ties/a", 0, 0)};
    struct store_provider twice[] = {providers[0], providers[0]};
    struct store_result   result = verdict_of(VERDICT_PASS);
    int64_t               ids[2] = {0};
    assert_refused(store_begin_run(store, &run, devices, 1, providers, 1, planned, 2, ids, &err), "case ties/a");
    assert_refused(store_begin_run(store, &run, devices, 1, twice, 2, planned, 1, ids, &err), "provider v1");
    planned[0].device = 1;
    assert_refused(store_begin_run(store, &run, devices, 1, providers, 1, planned, 1, ids, &err), "device 1 of 1");
    planned[0] = plan_of("ties/a", 0, 0);
    planned[0].promised = (enum topk_level)(TOPK_LEVEL_CANONICAL + 1);
    assert_refused(store_begin_run(store, &run, devices, 1, providers, 1, planned, 1, ids, &err), "promised BETWEEN 0 AND 6");
    planned[0] = plan_of("ties/a", 0, 0);
    planned[0].outputs = "both";
    assert_refused(store_begin_run(store, &run, devices, 1, providers, 1, planned, 1, ids, &err), "outputs is page");
    planned[0] = plan_of("ties/a", 0, 0);
    planned[0].input_hash = "abc";
    assert_refused(store_begin_run(store, &run, devices, 1, providers, 1, planned, 1, ids, &err), "32 hex digits");
    assert_answer("SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM results) + (SELECT count(*) FROM device)",
                  "0");

    planned[0] = plan_of("ties/a", 0, 0);
    assert_ok(store_begin_run(store, &run, devices, 1, providers, 1, planned, 1, ids, &err));
    assert_refused(store_begin_run(store, &run, devices, 1, providers, 1, planned, 1, ids, &err), "run r1");
    result.output_digest = "xyz";
    assert_refused(store_record(store, &ids[0], &result, &err), "output_digest 'xyz'");
    result = verdict_of(VERDICT_PASS);
    int64_t nowhere = 99;
    assert_refused(store_record(store, &nowhere, &result, &err), "no planned row 99");
    assert_refused(store_end_run(store, "r2", 0, &err), "no run r2");
    assert_answer("SELECT verdict FROM results", "notrun");
}

Test(store, latest_is_the_newest_judged_row)
{
    run_once("r1", "2026-11-01T00:00:00.000Z", false, 0, VERDICT_PASS);
    assert_answer("SELECT run, verdict FROM latest", "r1|pass");
    run_once("r2", "2026-11-02T00:00:00.000Z", false, 0, VERDICT_FAIL);
    assert_answer("SELECT run, verdict FROM latest", "r2|fail");
    run_once("r3", "2026-11-03T00:00:00.000Z", false, 0, VERDICT_NOTRUN);
    run_once("r4", "2026-11-04T00:00:00.000Z", false, 0, VERDICT_SKIP);
    run_once("r5", "2026-11-05T00:00:00.000Z", false, 0, VERDICT_ERROR);
    assert_answer("SELECT run, verdict FROM latest", "r2|fail");
    run_once("r0", "2026-10-01T00:00:00.000Z", false, 0, VERDICT_PASS);
    assert_answer("SELECT run, verdict FROM latest", "r2|fail");
    run_once("r6", "2026-11-06T00:00:00.000Z", false, 0, VERDICT_XFAIL);
    assert_answer("SELECT run, verdict FROM latest", "r6|xfail");
    assert_answer("SELECT count(*) FROM results", "7");
}

Test(store, a_run_that_has_not_ended_is_not_latest)
{
    struct store_run     run = run_at("r2", "2026-11-02T00:00:00.000Z");
    struct store_planned planned = plan_of("ties/a", 0, 0);
    struct store_result  result = verdict_of(VERDICT_FAIL);
    int64_t              id = 0;
    run_once("r1", "2026-11-01T00:00:00.000Z", false, 0, VERDICT_PASS);
    assert_ok(store_begin_run(store, &run, devices, 1, providers, 1, &planned, 1, &id, &err));
    assert_ok(store_record(store, &id, &result, &err));
    assert_answer("SELECT run FROM latest", "r1");
    assert_answer("SELECT run, ended_at IS NULL, exit_code FROM runs WHERE run = 'r2'", "r2|1|~");
    assert_ok(store_exclude_run(store, "r1", "wrong driver", &err));
    assert_answer("SELECT count(*) FROM latest", "0");
    assert_ok(store_end_run(store, "r2", 1, &err));
    assert_answer("SELECT run FROM latest", "r2");
    assert_answer("SELECT run, ended_at > started_at, exit_code FROM runs WHERE run = 'r2'", "r2|1|1");
}

Test(store, an_excluded_run_gives_its_place_back)
{
    run_once("r1", "2026-11-01T00:00:00.000Z", false, 0, VERDICT_PASS);
    run_once("r2", "2026-11-02T00:00:00.000Z", false, 0, VERDICT_FAIL);
    assert_ok(store_exclude_run(store, "r2", "fan failure", &err));
    assert_answer("SELECT run, verdict FROM latest", "r1|pass");
    assert_answer("SELECT run, excluded FROM runs", "r1|0\nr2|1");
    assert_answer("SELECT excluded_reason FROM run_details WHERE run = 'r2'", "fan failure");
    assert_answer("SELECT count(*) FROM results", "2");
    assert_ok(store_exclude_run(store, "r2", NULL, &err));
    assert_answer("SELECT run, verdict FROM latest", "r2|fail");
    cr_assert_eq(store_exclude_run(store, "r9", "x", &err), STATUS_USAGE); /* a name that is not there */
    cr_assert_not_null(strstr(err.text, "no run r9"), "%s", err.text);
    memset(&err, 0, sizeof err);
}

Test(store, planted_faults_of_meta_runs_stay_out_of_latest)
{
    run_once("r1", "2026-11-01T00:00:00.000Z", true, 1, VERDICT_FAIL);
    assert_answer("SELECT (SELECT count(*) FROM latest), (SELECT verdict FROM results)", "0|fail");
    run_once("r2", "2026-11-02T00:00:00.000Z", true, 0, VERDICT_PASS);
    assert_answer("SELECT provider FROM latest", "v1");
    run_once("r3", "2026-11-03T00:00:00.000Z", false, 1, VERDICT_FAIL);
    assert_answer("SELECT provider FROM latest ORDER BY provider", "faulty/tie\nv1");
}

Test(store, the_newest_run_describes_a_case_in_any_order_of_writing)
{
    static const struct {
        const char *run, *started_at, *fault, *expected;
    } steps[] = {{"r2", "2026-11-02T00:00:00.000Z", "tie-break", "tie-break"},
                 {"r4", "2026-11-04T00:00:00.000Z", "signed-zero", "signed-zero"},
                 {"r1", "2026-11-01T00:00:00.000Z", "overflow", "signed-zero"},
                 {"r3", "2026-11-03T00:00:00.000Z", "overflow", "signed-zero"}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        struct store_run     run = run_at(steps[i].run, steps[i].started_at);
        struct store_planned planned = plan_of("ties/a", 0, 0);
        int64_t              id = 0;
        planned.fault = steps[i].fault;
        assert_ok(store_begin_run(store, &run, devices, 1, providers, 1, &planned, 1, &id, &err));
        assert_answer("SELECT DISTINCT fault FROM results", steps[i].expected);
    }
}

Test(store, lookups_are_seeks)
{
    static const char *const queries[] = {
        "SELECT * FROM results WHERE run = 'r'",
        "SELECT * FROM results WHERE run = 'r' AND verdict = 'fail'",
        "SELECT * FROM results WHERE case_name = 'c'",
        "SELECT * FROM results WHERE device_id = 'd' AND provider = 'p' AND case_name = 'c' AND input_hash = 'h'",
        "SELECT * FROM latest WHERE case_name = 'c'",
        "SELECT * FROM latest WHERE device_id = 'd'",
        "SELECT * FROM row_failures WHERE run = 'r'",
        "SELECT * FROM samples WHERE case_name = 'c'",
    };
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        char sql[512];
        snprintf(sql, sizeof sql, "EXPLAIN QUERY PLAN %s", queries[i]);
        cr_assert_null(strstr(answer(sql), "SCAN"), "%s: %s", queries[i], answer(sql));
    }
    const char *plan = answer("EXPLAIN QUERY PLAN SELECT l.case_name, (SELECT max(r.started_at) FROM results r WHERE "
                              "r.device_id = l.device_id AND r.provider = l.provider AND r.origin = l.origin AND "
                              "r.case_name = l.case_name AND r.input_hash IS l.input_hash AND r.verdict = 'pass') "
                              "FROM latest l WHERE l.verdict = 'fail'");
    const char *scan = strstr(plan, "SCAN");
    cr_assert_not_null(scan);
    cr_assert_eq(strncmp(scan, "SCAN latest_result", 18), 0, "%s", plan);
    cr_assert_null(strstr(scan + 1, "SCAN "), "%s", plan);
}

static enum status stop_at_once(void *payload, int n_columns, const char *const *names, const char *const *values,
                                struct error *error)
{
    ++*(int *)payload;
    cr_assert_eq(n_columns, 2);
    cr_assert_str_eq(names[0], "run");
    cr_assert_str_eq(names[1], "absent");
    cr_assert_null(values[1]);
    return error_set(error, STATUS_FAIL, "enough of %s", values[0]);
}

Test(store, queries_read_and_say_what_is_wrong)
{
    char        text[4096] = "";
    const char *parameters[] = {"r2", "1"};
    int         n_calls = 0;
    run_once("r1", "2026-11-01T00:00:00.000Z", false, 0, VERDICT_PASS);
    run_once("r2", "2026-11-02T00:00:00.000Z", false, 0, VERDICT_PASS);
    assert_ok(store_query(store, "SELECT run, topk FROM results WHERE run = ?1 AND topk > ?2; -- the end", parameters,
                          2, append_row, text, &err));
    cr_assert_str_eq(text, "r2|512");
    enum status status = store_query(store, "SELECT run, NULL AS absent FROM runs", NULL, 0, stop_at_once, &n_calls,
                                     &err);
    cr_assert_eq(status, STATUS_FAIL, "%d: %s", (int)status, err.text);
    cr_assert_str_eq(err.text, "enough of r1");
    cr_assert_eq(n_calls, 1);
    memset(&err, 0, sizeof err);
    assert_refused(store_query(store, "SELECT colour FROM runs", NULL, 0, append_row, text, &err),
                   "no such column: colour");
    assert_refused(store_query(store, "DELETE FROM run", NULL, 0, append_row, text, &err), "not a SELECT");
    assert_refused(store_query(store, "SELECT 1; SELECT 2", NULL, 0, append_row, text, &err), "more than one");
    assert_refused(store_query(store, " -- nothing", NULL, 0, append_row, text, &err), "empty");
    assert_refused(store_query(store, "SELECT ?1", parameters, 2, append_row, text, &err), "1 parameters, 2 values");
    assert_answer("SELECT count(*) FROM runs", "2");
}

Test(store, a_reader_sees_and_does_not_write)
{
    struct store    *reader = NULL;
    struct store_run run = run_at("r2", "2026-11-02T00:00:00.000Z");
    char             text[4096] = "";
    run_once("r1", "2026-11-01T00:00:00.000Z", false, 0, VERDICT_PASS);
    assert_ok(store_open(&reader, path, STORE_READ, &err));
    assert_ok(store_query(reader, "SELECT run FROM latest", NULL, 0, append_row, text, &err));
    cr_assert_str_eq(text, "r1");
    assert_refused(store_begin_run(reader, &run, devices, 1, providers, 1, NULL, 0, NULL, &err), "opened for reading");
    store_close(reader);
}

Test(store, results_survive_a_kill)
{
    pid_t child = fork();
    if (child == 0) {
        struct store        *own = NULL;
        struct store_run     run = run_at("r1", "2026-11-30T01:00:00.000Z");
        struct store_planned planned[] = {plan_of("ties/a", 0, 0), plan_of("ties/b", 0, 0), plan_of("ties/c", 0, 0)};
        struct store_result  result = verdict_of(VERDICT_PASS);
        int64_t              ids[3] = {0};
        if (store_open(&own, path, STORE_WRITE, &err) == STATUS_OK &&
            store_begin_run(own, &run, devices, 1, providers, 1, planned, 3, ids, &err) == STATUS_OK &&
            store_record(own, &ids[0], &result, &err) == STATUS_OK &&
            store_record(own, &ids[1], &result, &err) == STATUS_OK)
            raise(SIGKILL);
        _exit(1);
    }
    int state = 0;
    waitpid(child, &state, 0);
    cr_assert(WIFSIGNALED(state));
    assert_answer("SELECT case_name, verdict FROM results ORDER BY case_name",
                  "ties/a|pass\nties/b|pass\nties/c|notrun");
}

Test(store, two_processes_append_at_the_same_time)
{
    enum { N_CASES = 300 };
    static char                 names[N_CASES][32];
    static struct store_planned planned[N_CASES];
    static int64_t              ids[N_CASES];
    pid_t                       children[2];
    for (int i = 0; i < N_CASES; i++) {
        snprintf(names[i], sizeof names[i], "ties/%d", i);
        planned[i] = plan_of(names[i], 0, 0);
    }
    for (int c = 0; c < 2; c++)
        if ((children[c] = fork()) == 0) {
            struct store       *own = NULL;
            const char         *name = c == 0 ? "r1" : "r2";
            struct store_run    run = run_at(name, "2026-11-30T01:00:00.000Z");
            struct store_result result = verdict_of(VERDICT_PASS);
            bool                good = store_open(&own, path, STORE_WRITE, &err) == STATUS_OK;
            if (good)
                good = store_begin_run(own, &run, devices, 1, providers, 1, planned, N_CASES, ids, &err) == STATUS_OK;
            for (int i = 0; good && i < N_CASES; i++)
                good = store_record(own, &ids[i], &result, &err) == STATUS_OK;
            good = good && store_end_run(own, name, 0, &err) == STATUS_OK;
            store_close(own);
            _exit(good ? 0 : 1);
        }
    for (int c = 0; c < 2; c++) {
        int state = 0;
        waitpid(children[c], &state, 0);
        cr_assert(WIFEXITED(state) && WEXITSTATUS(state) == 0);
    }
    assert_answer("SELECT run, count(*), sum(verdict = 'pass') FROM results GROUP BY run", "r1|300|300\nr2|300|300");
    assert_answer("SELECT count(*), min(run) FROM latest", "300|r2");
    assert_answer("SELECT quick_check FROM pragma_quick_check", "ok");
}

Test(store, names_and_times_have_their_form)
{
    char name[32];
    char other[32];
    char now[32];
    store_new_run_name(name);
    store_new_run_name(other);
    store_now(now);
    cr_assert_eq(strlen(name), 25);
    cr_assert_eq(strspn(name, "0123456789TZ"), 16);
    cr_assert_eq(name[16], '-');
    cr_assert_eq(strspn(name + 17, "0123456789abcdef"), 8);
    cr_assert_str_neq(name, other);
    cr_assert_eq(strlen(now), 24);
    cr_assert(now[4] == '-' && now[10] == 'T' && now[19] == '.' && now[23] == 'Z', "%s", now);
    cr_assert_eq(memcmp(now, "20", 2), 0);
}
