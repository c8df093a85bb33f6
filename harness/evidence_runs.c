/* SPDX-License-Identifier: Apache-2.0 */
/* What the store says of the runs, section by section; see evidence.h. Start reading at evidence_write_runs(). */
#include "harness/evidence.h"

#include "harness/digest.h"

#include <stdio.h>
#include <string.h>

enum { LISTED_FILES = 200 };

#define SOURCE(member) "json_extract(environment, '$.source." member "')"

static const char runs_sql[] =
    "SELECT run, label, coalesce(suite, 'by patterns') AS suite, host, started_at, ended_at, exit_code, argv FROM runs "
    "WHERE run IN $RUNS ORDER BY started_at";

/* The kernels' sources where --source named them, else the harness's own, which built-ins are part of. */
static const char sources_sql[] =
    "SELECT run, CASE WHEN json_type(environment, '$.source') = 'object' THEN 'kernels: ' || " SOURCE("folder") " "
    "ELSE 'topkcts itself' END AS sources, "
    "coalesce(" SOURCE("commit") ", source_commit) AS 'commit', coalesce(" SOURCE("tree") ", source_tree) AS tree, "
    "CASE coalesce(" SOURCE("dirty") ", dirty) WHEN 1 THEN 'dirty' WHEN 0 THEN 'clean' ELSE 'unknown' END AS state, "
    "coalesce(" SOURCE("patch_id") ", patch_id) AS 'patch id of what is not committed', "
    "coalesce(" SOURCE("diffstat.files") " || ' files, +' || " SOURCE("diffstat.insertions") " || ' -' || "
    SOURCE("diffstat.deletions") ", '') AS 'not committed', "
    SOURCE("n_files") " AS files, " SOURCE("files_digest") " AS 'files digest' "
    "FROM run_details WHERE run IN $RUNS ORDER BY run";

static const char change_sql[] =
    "SELECT run, " SOURCE("base.commit") " AS 'from', " SOURCE("commit") " AS 'to', "
    "coalesce(" SOURCE("base.patch_id") ", 'unknown: the repository lacks the commit') AS 'stable patch id', "
    SOURCE("base.diffstat.files") " AS files, " SOURCE("base.diffstat.insertions") " AS insertions, "
    SOURCE("base.diffstat.deletions") " AS deletions, "
    "(SELECT group_concat(value, ' ') FROM json_each(environment, '$.source.base.diffstat.paths')) AS paths "
    "FROM run_details WHERE run IN $RUNS AND json_type(environment, '$.source.base') = 'object' ORDER BY run";

static const char files_sql[] =
    "SELECT run, key AS file, value AS 'xxh3-128' FROM run_details, json_each(environment, '$.source.files') "
    "WHERE run IN $RUNS ORDER BY run, key LIMIT 200";

static const char machines_sql[] =
    "SELECT run, harness_version AS topkcts, registry_hash AS registry, json_extract(environment, '$.kernel') AS kernel, "
    "json_extract(environment, '$.libc') AS libc, json_extract(environment, '$.cpu') AS cpu, "
    "json_extract(environment, '$.compiler') AS compiler, json_extract(environment, '$.container') AS container, "
    "json_extract(environment, '$.container_image') AS image FROM run_details WHERE run IN $RUNS ORDER BY run";

#define VARIABLE(name)                                                                                                    \
    "CASE json_type(environment, '$." name "') WHEN 'text' THEN 'set: ' || json_extract(environment, '$." name "') "      \
    "WHEN 'null' THEN 'unset' ELSE 'not recorded' END AS " name

static const char variables_sql[] =
    "SELECT run, " VARIABLE("HSA_OVERRIDE_GFX_VERSION") ", " VARIABLE("ROCR_VISIBLE_DEVICES") ", "
    VARIABLE("HIP_VISIBLE_DEVICES") ", " VARIABLE("CUDA_VISIBLE_DEVICES")
    " FROM run_details WHERE run IN $RUNS ORDER BY run";

static const char devices_sql[] =
    "SELECT run, device_id, backend, device, arch, wave_size, lds_bytes, memory_bytes, driver, runtime, toolchain "
    "FROM run_devices WHERE run IN $RUNS ORDER BY run, device_id";

static const char providers_sql[] =
    "SELECT run_providers.run AS run, provider, provider_version AS version, provider_digest AS digest, origin, claims, file, "
    "json_extract(environment, '$.providers.' || json_quote(provider)) AS libraries FROM run_providers JOIN run_details "
    "ON run_details.run = run_providers.run WHERE run_providers.run IN $RUNS ORDER BY 1, 2";

static const char counts_sql[] =
    "SELECT run, provider, device_id, count(*) AS planned, sum(verdict = 'pass') AS pass, sum(verdict = 'fail') AS fail, "
    "sum(verdict = 'crash') AS crash, sum(verdict = 'timeout') AS timeout, sum(verdict = 'flaky') AS flaky, "
    "sum(verdict = 'xfail') AS xfail, sum(verdict = 'xpass') AS xpass, sum(verdict = 'error') AS error, "
    "sum(verdict = 'skip') AS skip, sum(verdict = 'notrun') AS notrun, sum(repeats) AS 'launches repeated' "
    "FROM results WHERE run IN $RUNS GROUP BY run, provider, provider_digest, device_id ORDER BY run, provider";

static const char skips_sql[] = "SELECT run, provider, reason, count(*) AS rows FROM results WHERE run IN $RUNS AND verdict IN "
                                "('skip', 'notrun', 'error') GROUP BY 1, 2, 3 ORDER BY 1, 2";

static const char durations_sql[] =
    "SELECT runs.run AS run, round((julianday(runs.ended_at) - julianday(runs.started_at)) * 86400, 1) AS 'seconds, begin to end', "
    "round(sum(wall_ms) / 1000, 1) AS 'seconds in cases', round(max(wall_ms)) AS 'longest case, ms', "
    "min(kernel_us_p50) AS 'shortest launch, us', max(kernel_us_p50) AS 'longest launch, us' FROM runs JOIN results "
    "ON results.run = runs.run WHERE runs.run IN $RUNS GROUP BY runs.run ORDER BY 1";

static const char oom_sql[] =
    "SELECT run, sum(at_fault) AS 'OOM kills' FROM (SELECT run, warning LIKE '%ran out of memory and killed%' AS at_fault FROM "
    "run_warnings UNION ALL SELECT run, 0 FROM runs) WHERE run IN $RUNS GROUP BY run ORDER BY run";

static const char warnings_sql[] = "SELECT run, at, warning FROM run_warnings WHERE run IN $RUNS ORDER BY run, at";

/* Parameters: red, green. */
static const char difference_sql[] =
    "WITH red AS MATERIALIZED (SELECT case_name, device_id, verdict, reason, level, max(attempt) FROM results WHERE run = ?1 "
    "GROUP BY case_name, device_id), green AS MATERIALIZED (SELECT case_name, device_id, verdict, output_digest, max(attempt) "
    "FROM results WHERE run = ?2 GROUP BY case_name, device_id) "
    "SELECT case_name AS 'case', device_id AS device, red.verdict AS before, green.verdict AS after, "
    "red.reason AS 'reason before' FROM red JOIN green USING (case_name, device_id) WHERE red.verdict <> green.verdict "
    "ORDER BY 1, 2 LIMIT 200";

static void section(const struct evidence *evidence, const char *title, const char *sql, const char *otherwise,
                    struct error *err)
{
    printf("## %s\n\n", title);
    evidence_table(evidence, sql, evidence->runs, evidence->n_runs, otherwise, err);
}

/* The pair that a gate made: the last run labelled red and the last one labelled green; else the first and the last. */
static void find_pair(const struct evidence *evidence, const char *pair[2], struct error *err)
{
    json_t *rows = evidence_ask(evidence, "SELECT run, label FROM runs WHERE run IN $RUNS ORDER BY started_at",
                                evidence->runs, evidence->n_runs, err);
    pair[0] = evidence->runs[0];
    pair[1] = evidence->runs[evidence->n_runs - 1];
    for (size_t r = 0; r < json_array_size(rows); r++) {
        const char *label = evidence_text(json_array_get(rows, r), "label");
        size_t      n = strlen(label);
        for (size_t i = 0; i < evidence->n_runs; i++) {
            if (strcmp(evidence->runs[i], evidence_text(json_array_get(rows, r), "run")) != 0)
                continue;
            if (n > 4 && strcmp(label + n - 4, " red") == 0)
                pair[0] = evidence->runs[i];
            if (n > 6 && strcmp(label + n - 6, " green") == 0)
                pair[1] = evidence->runs[i];
        }
    }
    json_decref(rows);
}

static void write_difference(const struct evidence *evidence, struct error *err)
{
    const char *pair[2];
    if (evidence->n_runs < 2)
        return;
    find_pair(evidence, pair, err);
    printf("## Where the verdicts differ\n\nBefore is run %s, after is run %s.\n\n", pair[0], pair[1]);
    evidence_table(evidence, difference_sql, pair, 2, "Nowhere.", err);
}

/* One digest over everything that came out of a run, case by case: what another machine must reproduce. */
static void write_result_digests(const struct evidence *evidence, struct error *err)
{
    printf("## Digests of the results\n\nxxh3-128 over case, input hash, output digest and set digest of every result, one a "
           "line, in the order of the\ncases' names; equal outputs on another device give the same line.\n\n| run | results | "
           "digest |\n| --- | --- | --- |\n");
    for (size_t i = 0; i < evidence->n_runs && !err->status; i++) {
        struct digest digest;
        char          hex[DIGEST_HEX];
        json_t       *rows = evidence_ask(evidence,
                                          "SELECT case_name || ' ' || coalesce(input_hash, '-') || ' ' || coalesce(output_digest, '-') "
                                                "|| ' ' || coalesce(set_digest, '-') AS line FROM results WHERE run IN $RUNS ORDER BY 1",
                                    &evidence->runs[i], 1, err);
        digest_begin(&digest);
        for (size_t r = 0; r < json_array_size(rows); r++) {
            const char *line = evidence_text(json_array_get(rows, r), "line");
            digest_add(&digest, line, strlen(line));
            digest_add(&digest, "\n", 1);
        }
        digest_end(&digest, hex);
        printf("| %s | %zu | %s |\n", evidence->runs[i], json_array_size(rows), hex);
        json_decref(rows);
    }
    printf("\n");
}

void evidence_write_runs(const struct evidence *evidence, struct error *err)
{
    section(evidence, "Runs", runs_sql, "None.", err);
    section(evidence, "Sources", sources_sql, "None.", err);
    section(evidence, "The change", change_sql,
            "Not recorded: no run was given the sources of both sides (gate: --red-source and --green-source).", err);
    section(evidence, "Files", files_sql, "Not recorded: no run was given --source, or its folder holds too many files.", err);
    section(evidence, "Machines", machines_sql, "None.", err);
    section(evidence, "Variables that choose or disguise a GPU", variables_sql, "None.", err);
    section(evidence, "Devices", devices_sql, "None.", err);
    section(evidence, "Providers", providers_sql, "None.", err);
    section(evidence, "Verdicts", counts_sql, "None.", err);
    section(evidence, "Not judged, and why", skips_sql, "Everything that was planned was judged.", err);
    write_difference(evidence, err);
    section(evidence, "Durations", durations_sql, "None.", err);
    section(evidence, "Kills for want of memory", oom_sql, "None.", err);
    section(evidence, "Warnings", warnings_sql, "None.", err);
    write_result_digests(evidence, err);
}
