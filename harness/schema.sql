-- SPDX-License-Identifier: Apache-2.0
--
-- The store: what topkcts remembers. This file is both the documentation and the script that makes the tables.
--
-- Read the views at the end (plural names, and `latest`); they are stable. The tables (singular names) are the store's
-- own business: small integers for words, one row for each thing that repeats, so that ten million results stay small.
--
-- A run has devices (run_device) and providers (run_provider) as they were that night: driver, tool-chain, digest and
-- commit change while the device and the provider keep their names. A result is one attempt at one case by one of the
-- run's providers on one of the run's devices. A series is what is compared over time: device, provider, origin, case
-- and input bytes; builds come and go within it.
--
-- Times are UTC, ISO 8601 ("2026-11-30T13:24:55.123Z"), so that text order is time order. Digests are xxh3-128: 32
-- lower-case hex digits, 16-byte blobs where there is one for each result.
--
-- Version 1. A later version is a script of its own that starts from this one (schema_2.sql: what `topkcts guard`
-- measured; schema_3.sql: lean views; schema_4.sql: sessions of guards that do not count); see store_schema.c.

PRAGMA application_id = 1953194867; -- 0x746b6373, "tkcs"
PRAGMA user_version = 1;

-- One invocation of `topkcts run`.
CREATE TABLE run (
    id              INTEGER PRIMARY KEY,
    run             TEXT NOT NULL UNIQUE,                            -- its name, unique among all machines
    started_at      TEXT NOT NULL,                                   -- before the plan was written
    ended_at        TEXT,                                            -- NULL: still running, or killed
    label           TEXT,                                            -- --label
    suite           TEXT,                                            -- --suite; NULL: selected by patterns alone
    host            TEXT,                                            -- the machine's name
    argv            TEXT,                                            -- the command line, a JSON array of strings
    harness_version TEXT,
    registry_hash   TEXT,                                            -- xxh3-128 of the registry's files
    source_commit   TEXT,                                            -- git commit of the harness
    source_tree     TEXT,                                            -- git tree of that commit
    dirty           INTEGER CHECK (dirty IN (0, 1)),                 -- files differ from the commit; NULL: unknown
    patch_id        TEXT,                                            -- stable patch id of what is not committed
    environment     TEXT,                                            -- a JSON object, see provenance.h
    meta            INTEGER NOT NULL CHECK (meta IN (0, 1)),         -- the run tests the harness, not kernels
    exit_code       INTEGER,                                         -- NULL until the run has ended
    excluded_reason TEXT CHECK (excluded_reason <> '')               -- `exclude --reason`; NULL: the run counts
) STRICT;

-- Something that went wrong beside the cases: an expired expectation, an OOM kill.
CREATE TABLE run_warning (
    id      INTEGER PRIMARY KEY,
    run     INTEGER NOT NULL REFERENCES run,
    at      TEXT NOT NULL,
    warning TEXT NOT NULL -- one line
) STRICT;
CREATE INDEX run_warning_of_run ON run_warning (run);

-- A device by its identity, never by its ordinal.
CREATE TABLE device (
    id        INTEGER PRIMARY KEY,
    device_id TEXT NOT NULL UNIQUE CHECK (device_id <> '') -- uuid; host:x86_64, sim, sim:32, sim:64 for the CPU ones
) STRICT;

-- A device as one run found it.
CREATE TABLE run_device (
    id           INTEGER PRIMARY KEY,
    run          INTEGER NOT NULL REFERENCES run,
    device       INTEGER NOT NULL REFERENCES device,
    backend      TEXT NOT NULL CHECK (backend IN ('host', 'sim', 'hip', 'cuda')),
    name         TEXT,             -- product name
    arch         TEXT,             -- full target id: x86_64, gfx1100, gfx90a:sramecc+:xnack-, sm_90
    wave_size    INTEGER NOT NULL, -- lanes; 0 where it has no meaning
    lds_bytes    INTEGER NOT NULL, -- LDS or shared memory per block
    memory_bytes INTEGER NOT NULL,
    driver       TEXT,
    runtime      TEXT,
    toolchain    TEXT,             -- compilers that made what ran there
    UNIQUE (run, device)
) STRICT;
CREATE INDEX run_device_of_device ON run_device (device);

-- A build of a provider as one run used it.
CREATE TABLE run_provider (
    id            INTEGER PRIMARY KEY,
    run           INTEGER NOT NULL REFERENCES run,
    provider      TEXT NOT NULL CHECK (provider <> ''), -- who implements the operation: v1, reference, faulty/NAME, ...
    version       TEXT,                                 -- as the provider says
    digest        TEXT NOT NULL,                        -- of the file, or of source and flags: identifies the build
    origin        TEXT NOT NULL, -- how its code arrived
    claims        TEXT, -- what it promises: "level=canonical tie=any ..."
    file          TEXT, -- where it came from; NULL for built-ins
    source_commit TEXT, -- of the kernels under test (--source), or of the harness for built-ins
    CONSTRAINT "provider digest is 32 hex digits" CHECK (length(digest) = 32),
    CONSTRAINT "origin is scalar, sim, aot, jit, plugin, source or process"
        CHECK (origin IN ('scalar', 'sim', 'aot', 'jit', 'plugin', 'source', 'process')),
    UNIQUE (run, provider, origin, digest)
) STRICT;

-- A concrete case, as the newest run that planned it describes it. The name determines everything but `fault`.
CREATE TABLE test_case (
    id        INTEGER PRIMARY KEY,
    case_name TEXT NOT NULL UNIQUE CHECK (case_name <> ''), -- family/topk=..,length=..,page_size=..,batch=..,outputs=..
    family    TEXT NOT NULL,                                -- the registry's id
    fault     TEXT,                                         -- the kind of fault it is made to find
    topk      INTEGER NOT NULL,
    length    INTEGER NOT NULL,                             -- elements of the longest row
    page_size INTEGER NOT NULL,
    batch     INTEGER NOT NULL,                             -- rows
    outputs   TEXT NOT NULL,
    stated_at TEXT NOT NULL,                                -- start of the newest run that planned it
    CONSTRAINT "outputs is page, page+raw or raw" CHECK (outputs IN ('page', 'page+raw', 'raw'))
) STRICT;

-- What is compared over time.
CREATE TABLE series (
    id         INTEGER PRIMARY KEY,
    test_case  INTEGER NOT NULL REFERENCES test_case,
    device     INTEGER NOT NULL REFERENCES device,
    provider   TEXT NOT NULL,
    origin     TEXT NOT NULL,
    input_hash TEXT, -- of the input bytes; NULL: not known, since the inputs were never made
    CONSTRAINT "input_hash is 32 hex digits" CHECK (length(input_hash) = 32),
    UNIQUE (test_case, device, provider, origin, input_hash)
) STRICT;
-- NULLs are distinct to UNIQUE, yet there is one series without inputs, not many.
CREATE UNIQUE INDEX series_without_input ON series (test_case, device, provider, origin) WHERE input_hash IS NULL;
CREATE INDEX series_of_device ON series (device);

-- One attempt at one case. Planned rows are `notrun` until their verdict replaces that.
-- UNIQUE spells the key (run, device_id, provider, provider_digest, origin, case_name, attempt): run_provider implies
-- run, provider, digest and origin. It also finds the results of a run.
CREATE TABLE result (
    id            INTEGER PRIMARY KEY,
    run_provider  INTEGER NOT NULL REFERENCES run_provider,
    run_device    INTEGER NOT NULL REFERENCES run_device,
    test_case     INTEGER NOT NULL REFERENCES test_case,
    series        INTEGER NOT NULL REFERENCES series,
    attempt       INTEGER NOT NULL CHECK (attempt >= 1),             -- 1, then one more for each retry
    promised      INTEGER NOT NULL CHECK (promised BETWEEN 0 AND 6), -- level promised for this case
    in_budget     INTEGER NOT NULL CHECK (in_budget IN (0, 1)),      -- 0: left out by --budget, never fails a run
    starts        INTEGER NOT NULL DEFAULT 0, -- how often a runner took it up; above 0 with no verdict: it died in it
    verdict       INTEGER NOT NULL CHECK (verdict BETWEEN 0 AND 9),
    -- judged: 0 pass, 1 fail, 2 crash, 3 timeout, 4 flaky, 5 xfail, 6 xpass; not judged: 7 error, 8 skip, 9 notrun
    level         INTEGER CHECK (level BETWEEN 0 AND 6), -- level reached; NULL: nothing was judged
    -- 0 none, 1 safe, 2 valid, 3 set-repeatable, 4 repeatable, 5 invariant, 6 canonical; `promised` likewise
    set_exact     INTEGER CHECK (set_exact IN (0, 1)),   -- whether the set is the reference's; NULL: unknown
    repeats       INTEGER,                               -- launches of the repeat check
    wall_ms       REAL,                                  -- of the whole case: inputs, launches, judging
    kernel_us_p50 REAL CHECK (kernel_us_p50 >= 0),       -- median time of a launch; NULL: not measured
    output_digest BLOB CHECK (length(output_digest) = 16), -- of page, then raw output of the first launch
    set_digest    BLOB CHECK (length(set_digest) = 16),    -- of the sorted raw indices, row by row
    path          TEXT,                                  -- inner path, as the provider says
    expected      TEXT,                                  -- issue or reason of the expectation that applied
    reason        TEXT,                                  -- one line; NULL for a pass
    UNIQUE (run_provider, run_device, test_case, attempt)
) STRICT;
CREATE INDEX result_of_series ON result (series);

-- The newest judged result of each series, brought up to date when a run ends. Never in here: notrun, skip, error,
-- excluded runs, and the planted faults (faulty/...) of meta runs.
CREATE TABLE latest_result (
    series INTEGER PRIMARY KEY REFERENCES series,
    result INTEGER NOT NULL REFERENCES result
) STRICT;

-- The first failing rows of a failing case.
CREATE TABLE row_failure (
    result      INTEGER NOT NULL REFERENCES result,
    row         INTEGER NOT NULL, -- within the batch
    length      INTEGER NOT NULL,
    topk        INTEGER NOT NULL,
    cut_value   TEXT,             -- the score at the cut: "1.25 (0x3fa00000)"
    cut_equal   INTEGER NOT NULL, -- how many scores of the row equal it
    n_missing   INTEGER NOT NULL,
    n_extra     INTEGER NOT NULL,
    missing     TEXT,             -- the first missing indices, a JSON array
    extra       TEXT,             -- the first extra indices, a JSON array
    explanation TEXT,             -- one line for people
    PRIMARY KEY (result, row)
) STRICT, WITHOUT ROWID;

-- Single measurements behind a time.
CREATE TABLE sample (
    result   INTEGER NOT NULL REFERENCES result,
    name     TEXT NOT NULL,    -- what was measured: "kernel", ...
    ordinal  INTEGER NOT NULL, -- 0, 1, ... in the order of measuring
    value_us REAL NOT NULL,
    PRIMARY KEY (result, name, ordinal)
) STRICT, WITHOUT ROWID;

-- The tail of what a worker printed, for results that have something to say.
CREATE TABLE result_log (
    result INTEGER PRIMARY KEY REFERENCES result,
    log    TEXT NOT NULL
) STRICT;

-- Everything known of each planned result, with its row id: what `run --resume` and the other views start from.
CREATE VIEW plan AS
SELECT result.id AS result, result.series AS series, run.run AS run, run.started_at AS started_at,
       run.label AS label, run.suite AS suite, run.host AS host, device.device_id AS device_id,
       run_device.backend AS backend, run_device.name AS device, run_device.arch AS arch, run_device.driver AS driver,
       run_device.toolchain AS toolchain,
       run_provider.provider AS provider, run_provider.version AS provider_version,
       run_provider.digest AS provider_digest, run_provider.source_commit AS source_commit,
       run_provider.origin AS origin, result.path AS path, test_case.case_name AS case_name,
       test_case.family AS family, test_case.fault AS fault, test_case.topk AS topk, test_case.length AS length,
       test_case.page_size AS page_size, test_case.batch AS batch, test_case.outputs AS outputs,
       series.input_hash AS input_hash,
       CASE result.promised WHEN 0 THEN 'none' WHEN 1 THEN 'safe' WHEN 2 THEN 'valid' WHEN 3 THEN 'set-repeatable'
            WHEN 4 THEN 'repeatable' WHEN 5 THEN 'invariant' WHEN 6 THEN 'canonical' END AS promised,
       CASE result.level WHEN 0 THEN 'none' WHEN 1 THEN 'safe' WHEN 2 THEN 'valid' WHEN 3 THEN 'set-repeatable'
            WHEN 4 THEN 'repeatable' WHEN 5 THEN 'invariant' WHEN 6 THEN 'canonical' END AS level,
       result.set_exact AS set_exact,
       CASE result.verdict WHEN 0 THEN 'pass' WHEN 1 THEN 'fail' WHEN 2 THEN 'crash' WHEN 3 THEN 'timeout'
            WHEN 4 THEN 'flaky' WHEN 5 THEN 'xfail' WHEN 6 THEN 'xpass' WHEN 7 THEN 'error' WHEN 8 THEN 'skip'
            WHEN 9 THEN 'notrun' END AS verdict,
       result.expected AS expected, result.reason AS reason,
       nullif(lower(hex(result.output_digest)), '') AS output_digest,
       nullif(lower(hex(result.set_digest)), '') AS set_digest, result.repeats AS repeats, result.attempt AS attempt,
       result.wall_ms AS wall_ms, result.kernel_us_p50 AS kernel_us_p50, result.in_budget AS in_budget,
       result.starts AS starts
FROM result
     JOIN run_provider ON run_provider.id = result.run_provider
     JOIN run ON run.id = run_provider.run
     JOIN run_device ON run_device.id = result.run_device
     -- Device and case are the result's own, too. Through the series they find their results with an index.
     JOIN series ON series.id = result.series
     JOIN device ON device.id = series.device
     JOIN test_case ON test_case.id = series.test_case;

-- Every result of every run, excluded runs included.
CREATE VIEW results AS
SELECT run, started_at, label, suite, host, device_id, backend, device, arch, driver, toolchain, provider,
       provider_version, provider_digest, source_commit, origin, path, case_name, family, fault, topk, length,
       page_size, batch, outputs, input_hash, promised, level, set_exact, verdict, expected, reason, output_digest,
       set_digest, repeats, attempt, wall_ms, kernel_us_p50
FROM plan;

-- How things stand: one row for each series, the same columns. Queries start here.
CREATE VIEW latest AS
SELECT run, started_at, label, suite, host, device_id, backend, device, arch, driver, toolchain, provider,
       provider_version, provider_digest, source_commit, origin, path, case_name, family, fault, topk, length,
       page_size, batch, outputs, input_hash, promised, level, set_exact, verdict, expected, reason, output_digest,
       set_digest, repeats, attempt, wall_ms, kernel_us_p50
-- CROSS JOIN is SQLite's way to say that latest_result comes before result, never the other way round. The second
-- condition is true anyway; it lets a case or a device find its latest results.
FROM latest_result CROSS JOIN plan ON plan.result = latest_result.result AND plan.series = latest_result.series;

-- One row for each run; excluded is 1 where `topkcts exclude` voided it.
CREATE VIEW runs AS
SELECT run, started_at, ended_at, label, suite, host, argv, source_commit, dirty, exit_code,
       excluded_reason IS NOT NULL AS excluded
FROM run;

-- The rest of what a run is made of.
CREATE VIEW run_details AS
SELECT run, harness_version, registry_hash, source_commit, source_tree, dirty, patch_id, environment, meta,
       excluded_reason
FROM run;

CREATE VIEW run_warnings AS
SELECT run.run AS run, run_warning.at AS at, run_warning.warning AS warning
FROM run JOIN run_warning ON run_warning.run = run.id;

-- The providers of each run.
CREATE VIEW run_providers AS
SELECT run.run AS run, provider, version AS provider_version, digest AS provider_digest, origin, claims, file,
       run_provider.source_commit AS source_commit
FROM run JOIN run_provider ON run_provider.run = run.id;

-- The devices of each run, as they were then.
CREATE VIEW run_devices AS
SELECT run.run AS run, run.started_at AS started_at, device.device_id AS device_id, backend, name AS device, arch,
       wave_size, lds_bytes, memory_bytes, driver, runtime, toolchain
FROM run JOIN run_device ON run_device.run = run.id JOIN device ON device.id = run_device.device;

-- One row for each device, as its newest run found it.
CREATE VIEW devices AS
SELECT device.device_id AS device_id, backend, name AS device, arch, wave_size, lds_bytes, memory_bytes, driver,
       runtime, toolchain
FROM device JOIN run_device ON run_device.id = (
    SELECT seen.id FROM run_device AS seen JOIN run ON run.id = seen.run
    WHERE seen.device = device.id ORDER BY run.started_at DESC, run.run DESC LIMIT 1);

-- The failing rows, each with the key of its result.
CREATE VIEW row_failures AS
SELECT plan.run AS run, device_id, provider, provider_digest, origin, case_name, input_hash, attempt,
       row_failure.row AS row, row_failure.length AS length, row_failure.topk AS topk, cut_value, cut_equal,
       n_missing, n_extra, missing, extra, explanation
FROM row_failure JOIN plan ON plan.result = row_failure.result;

-- The measurements, each with the key of its result.
CREATE VIEW samples AS
SELECT plan.run AS run, device_id, provider, provider_digest, origin, case_name, input_hash, attempt,
       sample.name AS name, ordinal, value_us
FROM sample JOIN plan ON plan.result = sample.result;

-- What workers printed, each with the key of its result.
CREATE VIEW logs AS
SELECT plan.run AS run, device_id, provider, provider_digest, origin, case_name, input_hash, attempt, log
FROM result_log JOIN plan ON plan.result = result_log.result;
