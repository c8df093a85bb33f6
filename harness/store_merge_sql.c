/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The SQL of a merge, step by step; see store_merge.h for what it promises.
 *
 * `source` is the attached database. The maps take row ids of the source to row ids of the store. Names without a
 * database's name are the store's: `main` is searched before `source`.
 */
#include "harness/store_merge_sql.h"

#include "harness/store_statement.h"

const char merge_tables_sql[] =
    "CREATE TEMP TABLE IF NOT EXISTS device_map (src INTEGER PRIMARY KEY, dst INTEGER NOT NULL);"
    "CREATE TEMP TABLE IF NOT EXISTS case_map (src INTEGER PRIMARY KEY, dst INTEGER NOT NULL);"
    "CREATE TEMP TABLE IF NOT EXISTS series_map (src INTEGER PRIMARY KEY, dst INTEGER NOT NULL);"
    /* known: the store had the run before. */
    "CREATE TEMP TABLE IF NOT EXISTS run_map (src INTEGER PRIMARY KEY, dst INTEGER NOT NULL, known INTEGER NOT NULL);"
    "CREATE TEMP TABLE IF NOT EXISTS run_device_map (src INTEGER PRIMARY KEY, dst INTEGER NOT NULL);"
    "CREATE TEMP TABLE IF NOT EXISTS run_provider_map (src INTEGER PRIMARY KEY, dst INTEGER NOT NULL, known INTEGER "
    "NOT NULL);"
    /* Results of one key on both sides. */
    "CREATE TEMP TABLE IF NOT EXISTS overlap (src INTEGER PRIMARY KEY, dst INTEGER NOT NULL);"
    /* Those of them that are not the same. wins: the source's stays; same_rank: none beats the other by its kind. */
    "CREATE TEMP TABLE IF NOT EXISTS different (src INTEGER PRIMARY KEY, dst INTEGER NOT NULL, wins INTEGER NOT NULL, "
    "same_rank INTEGER NOT NULL, conflict INTEGER NOT NULL);"
    /* Series whose latest result cannot be told from the new rows alone. */
    "CREATE TEMP TABLE IF NOT EXISTS touched (series INTEGER PRIMARY KEY);"
    "DELETE FROM device_map; DELETE FROM case_map; DELETE FROM series_map; DELETE FROM run_map; DELETE FROM "
    "run_device_map; DELETE FROM run_provider_map; DELETE FROM overlap; DELETE FROM different; DELETE FROM touched";

#define RUN_COLUMNS                                                                                                   \
    "run, started_at, ended_at, label, suite, host, argv, harness_version, registry_hash, source_commit, "            \
    "source_tree, dirty, patch_id, environment, meta, exit_code, excluded_reason "

/* What a run is from its first moment on. */
#define SAME_RUN                                                                                                      \
    "(d.started_at IS s.started_at AND d.label IS s.label AND d.suite IS s.suite AND d.host IS s.host AND d.argv IS " \
    "s.argv AND d.harness_version IS s.harness_version AND d.registry_hash IS s.registry_hash AND d.source_commit "   \
    "IS s.source_commit AND d.source_tree IS s.source_tree AND d.dirty IS s.dirty AND d.patch_id IS s.patch_id AND "  \
    "d.environment IS s.environment AND d.meta IS s.meta) "

/* How bad a verdict is; tens: its rank. Codes of schema.sql: 0 pass, 1 fail, 2 crash, 3 timeout, 4 flaky, 5 xfail,
 * 6 xpass, 7 error, 8 skip, 9 notrun. */
#define WEIGHT(row)                                                                                                   \
    "CASE " row ".verdict WHEN 9 THEN 0 WHEN 8 THEN 10 WHEN 7 THEN 11 WHEN 0 THEN 20 WHEN 5 THEN 21 WHEN 6 THEN 22 "  \
    "WHEN 4 THEN 23 WHEN 1 THEN 24 WHEN 3 THEN 25 ELSE 26 END"

#define SAME_RESULT                                                                                                   \
    "(d.verdict = s.verdict AND d.level IS s.level AND d.set_exact IS s.set_exact AND d.repeats IS s.repeats AND "    \
    "d.wall_ms IS s.wall_ms AND d.kernel_us_p50 IS s.kernel_us_p50 AND d.output_digest IS s.output_digest AND "       \
    "d.set_digest IS s.set_digest AND d.path IS s.path AND d.expected IS s.expected AND d.reason IS s.reason AND "    \
    "d.promised = s.promised AND d.in_budget = s.in_budget AND d.series = series_map.dst) "

/* A total order of what a row says, so that which one stays does not depend on who came first. */
#define ORDER_OF(row, hash)                                                                                           \
    "(" WEIGHT(row) ", coalesce(" row ".level, -1), coalesce(" row ".set_exact, -1), coalesce(" row ".reason, ''), "  \
    "coalesce(" hash ", ''), coalesce(" row ".output_digest, ''), coalesce(" row ".set_digest, ''), coalesce(" row    \
    ".wall_ms, -1), coalesce(" row ".kernel_us_p50, -1), coalesce(" row ".repeats, -1), coalesce(" row ".path, ''), " \
    "coalesce(" row ".expected, ''), " row ".promised, " row ".in_budget) "

/* A result of the source with the store's ids, scanned in the source's order. */
#define MAPPED_RESULT                                                                                                 \
    "source.result AS s CROSS JOIN run_provider_map ON run_provider_map.src = s.run_provider CROSS JOIN "             \
    "run_device_map ON run_device_map.src = s.run_device CROSS JOIN case_map ON case_map.src = s.test_case CROSS "    \
    "JOIN series_map ON series_map.src = s.series "

#define ITS_RESULT                                                                                                    \
    "CROSS JOIN main.result AS d ON d.run_provider = run_provider_map.dst AND d.run_device = run_device_map.dst AND " \
    "d.test_case = case_map.dst AND d.attempt = s.attempt "

/* The result of the store that a row of a table under `result` belongs to, unless the store kept its own story. */
#define TO_RESULT(table)                                                                                              \
    "FROM source." table " AS t JOIN source.result AS s ON s.id = t.result JOIN run_provider_map ON "                 \
    "run_provider_map.src = s.run_provider JOIN run_device_map ON run_device_map.src = s.run_device JOIN case_map "   \
    "ON case_map.src = s.test_case JOIN main.result AS d ON d.run_provider = run_provider_map.dst AND d.run_device "  \
    "= run_device_map.dst AND d.test_case = case_map.dst AND d.attempt = s.attempt WHERE s.id NOT IN (SELECT src "    \
    "FROM different WHERE NOT wins) "

#define STORY_OF(row)                                                                                                 \
    "CASE " row ".verdict WHEN 0 THEN 'pass' WHEN 1 THEN 'fail' WHEN 2 THEN 'crash' WHEN 3 THEN 'timeout' WHEN 4 "    \
    "THEN 'flaky' WHEN 5 THEN 'xfail' WHEN 6 THEN 'xpass' WHEN 7 THEN 'error' WHEN 8 THEN 'skip' ELSE 'notrun' END "  \
    "|| coalesce(' (' || " row ".reason || ')', '') || coalesce(' output ' || lower(hex(" row ".output_digest)), "    \
    "'') || coalesce(' in ' || round(" row ".wall_ms, 3) || ' ms', '') "

/* From results to the order in which they become latest: newest run, then last attempt, then digest. */
#define AGE_OF(result_id)                                                                                             \
    "(SELECT run.started_at, run.run, result.attempt, run_provider.digest FROM main." RUN_OF_RESULT                   \
    "WHERE result.id = " result_id ") "
#define NEWEST_FIRST "run.started_at DESC, run.run DESC, result.attempt DESC, run_provider.digest DESC"

const char *const merge_step_sql[MERGE_STEP_COUNT] = {
    [MERGE_ADD_DEVICES] = "INSERT INTO main.device (device_id) SELECT device_id FROM source.device WHERE true ON "
                          "CONFLICT DO NOTHING",
    [MERGE_MAP_DEVICES] = "INSERT INTO device_map SELECT s.id, d.id FROM source.device AS s JOIN main.device AS d "
                          "USING (device_id)",
    /* The newest run that planned a case says what it is. */
    [MERGE_ADD_CASES] =
        "INSERT INTO main.test_case (case_name, family, fault, topk, length, page_size, batch, outputs, stated_at) "
        "SELECT case_name, family, fault, topk, length, page_size, batch, outputs, stated_at FROM source.test_case "
        "WHERE true ON CONFLICT (case_name) DO UPDATE SET family = excluded.family, fault = excluded.fault, topk = "
        "excluded.topk, length = excluded.length, page_size = excluded.page_size, batch = excluded.batch, outputs = "
        "excluded.outputs, stated_at = excluded.stated_at WHERE (excluded.stated_at, excluded.family, "
        "coalesce(excluded.fault, ''), excluded.topk, excluded.length, excluded.page_size, excluded.batch, "
        "excluded.outputs) > (test_case.stated_at, test_case.family, coalesce(test_case.fault, ''), test_case.topk, "
        "test_case.length, test_case.page_size, test_case.batch, test_case.outputs)",
    [MERGE_MAP_CASES] = "INSERT INTO case_map SELECT s.id, d.id FROM source.test_case AS s CROSS JOIN main.test_case "
                        "AS d ON d.case_name = s.case_name",
    [MERGE_ADD_SERIES] =
        "INSERT INTO main.series (test_case, device, provider, origin, input_hash) SELECT case_map.dst, "
        "device_map.dst, provider, origin, input_hash FROM source.series AS s CROSS JOIN case_map ON case_map.src = "
        "s.test_case CROSS JOIN device_map ON device_map.src = s.device WHERE true ON CONFLICT DO NOTHING",
    [MERGE_MAP_SERIES] =
        "INSERT INTO series_map SELECT s.id, d.id FROM source.series AS s CROSS JOIN case_map ON case_map.src = "
        "s.test_case CROSS JOIN device_map ON device_map.src = s.device CROSS JOIN main.series AS d ON d.test_case = "
        "case_map.dst AND d.device = device_map.dst AND d.provider = s.provider AND d.origin = s.origin AND "
        "d.input_hash IS s.input_hash",

    [MERGE_CONFLICTING_RUNS] =
        "SELECT 'run', s.run, 'started ' || d.started_at || ' on ' || coalesce(d.host, '?') || ': ' || "
        "coalesce(d.argv, ''), 'started ' || s.started_at || ' on ' || coalesce(s.host, '?') || ': ' || "
        "coalesce(s.argv, ''), 0 FROM source.run AS s JOIN main.run AS d USING (run) WHERE NOT " SAME_RUN,
    [MERGE_MAP_KNOWN_RUNS] = "INSERT INTO run_map SELECT s.id, d.id, 1 FROM source.run AS s JOIN main.run AS d USING "
                             "(run) WHERE " SAME_RUN,
    [MERGE_ADD_RUNS] = "INSERT INTO main.run (" RUN_COLUMNS ") SELECT " RUN_COLUMNS "FROM source.run WHERE run NOT IN "
                       "(SELECT run FROM main.run)",
    [MERGE_MAP_NEW_RUNS] =
        "INSERT INTO run_map SELECT s.id, d.id, 0 FROM source.run AS s JOIN main.run AS d USING (run) WHERE " SAME_RUN
        "ON CONFLICT DO NOTHING",

    [MERGE_CONFLICTING_DEVICES] =
        "SELECT 'device', run.run || ' ' || device.device_id, concat_d, concat_s, 0 FROM (SELECT d.run AS run, "
        "d.device AS device, "
        "json_array(d.backend, d.name, d.arch, d.wave_size, d.lds_bytes, d.memory_bytes, d.driver, d.runtime, "
        "d.toolchain) AS concat_d, json_array(s.backend, s.name, s.arch, s.wave_size, s.lds_bytes, s.memory_bytes, "
        "s.driver, s.runtime, s.toolchain) AS concat_s FROM source.run_device AS s JOIN run_map ON run_map.src = "
        "s.run JOIN device_map ON device_map.src = s.device JOIN main.run_device AS d ON d.run = run_map.dst AND "
        "d.device = device_map.dst) AS pair JOIN main.run AS run ON run.id = pair.run JOIN main.device AS device ON "
        "device.id = pair.device WHERE concat_d <> concat_s",
    [MERGE_CONFLICTING_PROVIDERS] =
        "SELECT 'provider', run.run || ' ' || pair.provider, concat_d, concat_s, 0 FROM (SELECT d.run AS run, "
        "d.provider AS provider, json_array(d.version, d.claims, d.file, d.source_commit) AS concat_d, "
        "json_array(s.version, s.claims, s.file, s.source_commit) AS concat_s FROM source.run_provider AS s JOIN "
        "run_map ON run_map.src = s.run JOIN main.run_provider AS d ON d.run = run_map.dst AND d.provider = "
        "s.provider AND d.origin = s.origin AND d.digest = s.digest) AS pair JOIN main.run AS run ON run.id = "
        "pair.run WHERE concat_d <> concat_s",

    [MERGE_TOUCH_EXCLUDED] =
        "INSERT OR IGNORE INTO touched SELECT result.series FROM run_map CROSS JOIN source.run AS s ON s.id = "
        "run_map.src CROSS JOIN main.run AS d ON d.id = run_map.dst CROSS JOIN main.run_provider AS p ON p.run = d.id "
        "CROSS JOIN main.result AS result ON result.run_provider = p.id WHERE run_map.known AND d.excluded_reason IS NULL AND s.excluded_reason "
        "IS NOT NULL",
    [MERGE_EXCLUDE_RUNS] =
        "UPDATE main.run SET excluded_reason = s.excluded_reason FROM source.run AS s JOIN run_map ON run_map.src = "
        "s.id WHERE run.id = run_map.dst AND run_map.known AND s.excluded_reason IS NOT NULL AND "
        "(run.excluded_reason IS NULL OR s.excluded_reason < run.excluded_reason)",
    [MERGE_CLOSE_RUNS] =
        "UPDATE main.run SET ended_at = s.ended_at, exit_code = s.exit_code FROM source.run AS s JOIN run_map ON "
        "run_map.src = s.id WHERE run.id = run_map.dst AND run_map.known AND s.ended_at IS NOT NULL AND (run.ended_at "
        "IS NULL OR (s.ended_at, coalesce(s.exit_code, -1)) > (run.ended_at, coalesce(run.exit_code, -1)))",
    [MERGE_ADD_RUN_DEVICES] =
        "INSERT INTO main.run_device (run, device, backend, name, arch, wave_size, lds_bytes, memory_bytes, driver, "
        "runtime, toolchain) SELECT run_map.dst, device_map.dst, backend, name, arch, wave_size, lds_bytes, "
        "memory_bytes, driver, runtime, toolchain FROM source.run_device AS s JOIN run_map ON run_map.src = s.run JOIN "
        "device_map ON device_map.src = s.device WHERE true ON CONFLICT (run, device) DO NOTHING",
    [MERGE_MAP_RUN_DEVICES] =
        "INSERT INTO run_device_map SELECT s.id, d.id FROM source.run_device AS s JOIN run_map ON run_map.src = s.run "
        "JOIN device_map ON device_map.src = s.device JOIN main.run_device AS d ON d.run = run_map.dst AND d.device = "
        "device_map.dst",
    [MERGE_ADD_RUN_PROVIDERS] =
        "INSERT INTO main.run_provider (run, provider, version, digest, origin, claims, file, source_commit) SELECT "
        "run_map.dst, provider, version, digest, origin, claims, file, source_commit FROM source.run_provider AS s "
        "JOIN run_map ON run_map.src = s.run WHERE true ON CONFLICT (run, provider, origin, digest) DO NOTHING",
    [MERGE_MAP_RUN_PROVIDERS] =
        "INSERT INTO run_provider_map SELECT s.id, d.id, run_map.known FROM source.run_provider AS s JOIN run_map ON "
        "run_map.src = s.run JOIN main.run_provider AS d ON d.run = run_map.dst AND d.provider = s.provider AND "
        "d.origin = s.origin AND d.digest = s.digest",
    [MERGE_ADD_WARNINGS] =
        "INSERT INTO main.run_warning (run, at, warning) SELECT DISTINCT run_map.dst, s.at, s.warning FROM "
        "source.run_warning AS s JOIN run_map ON run_map.src = s.run WHERE NOT EXISTS (SELECT 1 FROM main.run_warning "
        "AS d WHERE d.run = run_map.dst AND d.at = s.at AND d.warning = s.warning) ORDER BY s.at, s.warning",

    [MERGE_FIND_OVERLAP] = "INSERT INTO overlap SELECT s.id, d.id FROM " MAPPED_RESULT ITS_RESULT
                           "WHERE run_provider_map.known",
    [MERGE_FIND_DIFFERENT] =
        "INSERT INTO different SELECT s.id, d.id, " ORDER_OF("s", "hash_s.input_hash") "> "
        ORDER_OF("d", "hash_d.input_hash") ", (" WEIGHT("s") ") / 10 = (" WEIGHT("d") ") / 10, (" WEIGHT("s") ") / 10 "
        "= (" WEIGHT("d") ") / 10 AND s.verdict <> 9 FROM overlap CROSS JOIN source.result AS s ON s.id = overlap.src "
        "CROSS JOIN main.result AS d ON d.id = overlap.dst CROSS JOIN series_map ON series_map.src = s.series CROSS "
        "JOIN source.series AS hash_s ON hash_s.id = s.series CROSS JOIN main.series AS hash_d ON hash_d.id = d.series "
        "WHERE NOT " SAME_RESULT,
    [MERGE_CONFLICTING_RESULTS] =
        "SELECT 'result', run.run || ' ' || device.device_id || ' ' || p.provider || ' ' || p.digest || ' ' || "
        "p.origin || ' ' || c.case_name || ' attempt ' || d.attempt, " STORY_OF("d") ", " STORY_OF("s") ", wins FROM "
        "different JOIN source.result AS s ON s.id = different.src JOIN main.result AS d ON d.id = different.dst JOIN "
        "main.run_provider AS p ON p.id = d.run_provider JOIN main.run AS run ON run.id = p.run JOIN main.run_device "
        "AS rd ON rd.id = d.run_device JOIN main.device AS device ON device.id = rd.device JOIN main.test_case AS c "
        "ON c.id = d.test_case WHERE conflict ORDER BY 2",
    [MERGE_ADD_RESULTS] =
        "INSERT INTO main.result (run_provider, run_device, test_case, series, attempt, promised, in_budget, starts, "
        "verdict, level, set_exact, repeats, wall_ms, kernel_us_p50, output_digest, set_digest, path, expected, "
        "reason) SELECT run_provider_map.dst, run_device_map.dst, case_map.dst, series_map.dst, attempt, promised, "
        "in_budget, starts, verdict, level, set_exact, repeats, wall_ms, kernel_us_p50, output_digest, set_digest, "
        "path, expected, reason FROM " MAPPED_RESULT "WHERE NOT (run_provider_map.known AND s.id IN (SELECT src FROM "
        "overlap))",
    [MERGE_TOUCH_REPLACED] = "INSERT OR IGNORE INTO touched SELECT d.series FROM different JOIN main.result AS d ON "
                             "d.id = different.dst WHERE wins AND conflict",
    [MERGE_DROP_FAILURES] = "DELETE FROM main.row_failure WHERE result IN (SELECT dst FROM different WHERE wins)",
    [MERGE_DROP_SAMPLES] = "DELETE FROM main.sample WHERE result IN (SELECT dst FROM different WHERE wins)",
    [MERGE_DROP_LOGS] = "DELETE FROM main.result_log WHERE result IN (SELECT dst FROM different WHERE wins)",
    [MERGE_RAISE_STARTS] =
        "UPDATE main.result SET starts = s.starts FROM overlap JOIN source.result AS s ON s.id = overlap.src LEFT JOIN "
        "different ON different.src = overlap.src WHERE result.id = overlap.dst AND s.starts > result.starts AND "
        "coalesce(different.same_rank, 1)",
    [MERGE_REPLACE_RESULTS] =
        "UPDATE main.result SET series = series_map.dst, promised = s.promised, in_budget = s.in_budget, starts = CASE "
        "WHEN same_rank THEN max(result.starts, s.starts) ELSE s.starts END, verdict = s.verdict, level = s.level, "
        "set_exact = s.set_exact, repeats = s.repeats, wall_ms = s.wall_ms, kernel_us_p50 = s.kernel_us_p50, "
        "output_digest = s.output_digest, set_digest = s.set_digest, path = s.path, expected = s.expected, reason = "
        "s.reason FROM different JOIN source.result AS s ON s.id = different.src JOIN series_map ON series_map.src = "
        "s.series WHERE result.id = different.dst AND wins",
    [MERGE_TOUCH_REPLACEMENTS] = "INSERT OR IGNORE INTO touched SELECT d.series FROM different JOIN main.result AS d "
                                 "ON d.id = different.dst WHERE wins AND conflict",
    [MERGE_ADD_FAILURES] =
        "INSERT INTO main.row_failure (result, row, length, topk, cut_value, cut_equal, n_missing, n_extra, missing, "
        "extra, explanation) SELECT d.id, t.row, t.length, t.topk, t.cut_value, t.cut_equal, t.n_missing, t.n_extra, "
        "t.missing, t.extra, t.explanation " TO_RESULT("row_failure") "ON CONFLICT DO NOTHING",
    [MERGE_ADD_SAMPLES] = "INSERT INTO main.sample (result, name, ordinal, value_us) SELECT d.id, t.name, t.ordinal, "
                          "t.value_us " TO_RESULT("sample") "ON CONFLICT DO NOTHING",
    [MERGE_ADD_LOGS] = "INSERT INTO main.result_log (result, log) SELECT d.id, t.log " TO_RESULT("result_log")
                       "ON CONFLICT (result) DO UPDATE SET log = excluded.log WHERE excluded.log > result_log.log",

    /* A session is named once among all machines and written by one process: what two files say of it is the same up to
     * where one was copied earlier. */
    [MERGE_DROP_PARTIAL_GUARDS] =
        "DELETE FROM main.guard_session WHERE session IN (SELECT s.session FROM source.guard_session AS s "
        "JOIN main.guard_session AS d ON d.session = s.session WHERE d.ended_at IS NULL AND (s.ended_at IS "
        "NOT NULL OR (SELECT count(*) FROM source.guard_leg AS l JOIN source.guard_cell AS c ON c.id = l.cell "
        "WHERE c.session = s.id) > (SELECT count(*) FROM main.guard_leg AS l JOIN main.guard_cell AS c ON "
        "c.id = l.cell WHERE c.session = d.id)))",
    [MERGE_ADD_GUARDS] =
        "INSERT INTO main.guard_session (session, guard, what, percent, declared_at, declared_reason, "
        "started_at, ended_at, label, host, argv, harness_version, registry_hash, source_commit, dirty, "
        "environment, device_id, backend, device, arch, driver, toolchain, base, base_version, base_digest, "
        "base_origin, base_file, candidate, candidate_version, candidate_digest, candidate_origin, "
        "candidate_file, cache, budget_seconds, seed, resamples, confidence, clock, control, rounds, ratio, "
        "ratio_low, ratio_high, control_ratio, control_low, control_high, drift, clock_mhz_low, "
        "clock_mhz_high, verdict, reason) SELECT session, guard, what, percent, declared_at, declared_reason, "
        "started_at, ended_at, label, host, argv, harness_version, registry_hash, source_commit, dirty, "
        "environment, device_id, backend, device, arch, driver, toolchain, base, base_version, base_digest, "
        "base_origin, base_file, candidate, candidate_version, candidate_digest, candidate_origin, "
        "candidate_file, cache, budget_seconds, seed, resamples, confidence, clock, control, rounds, ratio, "
        "ratio_low, ratio_high, control_ratio, control_low, control_high, drift, clock_mhz_low, "
        "clock_mhz_high, verdict, reason FROM source.guard_session WHERE true ON CONFLICT (session) DO "
        "NOTHING",
    [MERGE_ADD_GUARD_CELLS] =
        "INSERT INTO main.guard_cell (session, case_name, outputs, calls, base_us, candidate_us, copy_us, "
        "ratio, ratio_low, ratio_high, control_ratio, control_low, control_high, verdict, reason) SELECT "
        "d.id, c.case_name, c.outputs, c.calls, c.base_us, c.candidate_us, c.copy_us, c.ratio, c.ratio_low, "
        "c.ratio_high, c.control_ratio, c.control_low, c.control_high, c.verdict, c.reason FROM "
        "source.guard_cell AS c JOIN source.guard_session AS s ON s.id = c.session JOIN main.guard_session AS "
        "d ON d.session = s.session WHERE true ON CONFLICT (session, case_name, outputs) DO NOTHING",
    [MERGE_ADD_GUARD_LEGS] =
        "INSERT INTO main.guard_leg (cell, round, place, arm, samples_us, clock_mhz) SELECT dc.id, l.round, "
        "l.place, l.arm, l.samples_us, l.clock_mhz FROM source.guard_leg AS l JOIN source.guard_cell AS c ON "
        "c.id = l.cell JOIN source.guard_session AS s ON s.id = c.session JOIN main.guard_session AS d ON "
        "d.session = s.session JOIN main.guard_cell AS dc ON dc.session = d.id AND dc.case_name = c.case_name "
        "AND dc.outputs = c.outputs WHERE true ON CONFLICT DO NOTHING",

    /* Of two reasons the one that comes first as text, whoever comes first. */
    [MERGE_EXCLUDE_GUARDS] =
        "INSERT INTO main.guard_exclusion (session, reason) SELECT session, reason FROM source.guard_exclusion WHERE "
        "true ON CONFLICT (session) DO UPDATE SET reason = min(reason, excluded.reason)",

    [MERGE_DROP_LATEST] = "DELETE FROM main.latest_result WHERE series IN (SELECT series FROM touched)",
    [MERGE_REBUILD_LATEST] =
        "INSERT INTO main.latest_result (series, result) SELECT series, id FROM (SELECT result.series AS series, "
        "result.id AS id, row_number() OVER (PARTITION BY result.series ORDER BY " NEWEST_FIRST ") AS place FROM "
        "main." RUN_OF_RESULT "WHERE result.series IN (SELECT series FROM touched) AND run.ended_at IS NOT NULL AND "
        MAY_BE_LATEST ") WHERE place = 1",
    /* Compared with what is latest now only, so that the length of a history does not matter. */
    [MERGE_RAISE_LATEST] =
        "INSERT INTO main.latest_result (series, result) SELECT series, id FROM (SELECT result.series AS series, "
        "result.id AS id, row_number() OVER (PARTITION BY result.series ORDER BY " NEWEST_FIRST ") AS place FROM "
        "run_map CROSS JOIN main.run AS run ON run.id = run_map.dst CROSS JOIN main.run_provider AS run_provider ON "
        "run_provider.run = run.id CROSS JOIN main.result AS result ON result.run_provider = run_provider.id WHERE "
        "run.ended_at IS NOT NULL AND " MAY_BE_LATEST ") WHERE place = 1 ON CONFLICT (series) DO UPDATE SET result = "
        "excluded.result WHERE excluded.result <> latest_result.result AND " AGE_OF("excluded.result") "> "
        AGE_OF("latest_result.result"),
};
