-- SPDX-License-Identifier: Apache-2.0
--
-- Version 2 of the store: what `topkcts guard` measured. Runs after schema.sql in a new file, alone in one of version 1.
--
-- A session times a base and a candidate side by side against a limit that was declared before (registry/guards.yaml).
-- It has cells (one case, one kind of output) and rounds; in a round every cell has six legs, in palindromic order of
-- the three arms base, candidate and copy (the base as a copy of its bytes, in a process of its own: the control). A leg
-- is some launches in a row by one process. harness/guard_statistics.h says how ratios and intervals come from these.
--
-- Session and cells are written before anything is timed, legs round by round, the verdict last: a session without a
-- verdict was killed, and judged nothing.

PRAGMA user_version = 2;

CREATE TABLE guard_session (
    id               INTEGER PRIMARY KEY,
    session          TEXT NOT NULL UNIQUE,              -- its name, unique among all machines, as of a run
    guard            TEXT NOT NULL CHECK (guard <> ''), -- id in registry/guards.yaml
    what             TEXT NOT NULL,                     -- as declared, like the next three
    percent          REAL NOT NULL CHECK (percent > 0), -- the candidate may take up to 1 + percent/100 of the base's time
    declared_at      TEXT NOT NULL,                     -- a day; never after started_at
    declared_reason  TEXT NOT NULL,
    started_at       TEXT NOT NULL,
    ended_at         TEXT,                              -- NULL: still running, or killed
    label            TEXT,
    host             TEXT,
    argv             TEXT,                              -- a JSON array
    harness_version  TEXT,
    registry_hash    TEXT,
    source_commit    TEXT,                              -- of the harness
    dirty            INTEGER CHECK (dirty IN (0, 1)),
    environment      TEXT,                              -- a JSON object, see provenance.h
    device_id        TEXT NOT NULL,
    backend          TEXT NOT NULL CHECK (backend IN ('host', 'sim', 'hip', 'cuda')),
    device           TEXT,                              -- product name
    arch             TEXT,
    driver           TEXT,
    toolchain        TEXT,
    base             TEXT NOT NULL,                     -- provider
    base_version     TEXT,
    base_digest      TEXT NOT NULL CHECK (length(base_digest) = 32),
    base_origin      TEXT NOT NULL,
    base_file        TEXT,                              -- as named on the command line
    candidate        TEXT NOT NULL,
    candidate_version TEXT,
    candidate_digest TEXT NOT NULL CHECK (length(candidate_digest) = 32),
    candidate_origin TEXT NOT NULL,
    candidate_file   TEXT,
    cache            TEXT NOT NULL CHECK (cache IN ('warm', 'cold')),
    budget_seconds   REAL NOT NULL,                     -- --seconds
    seed             INTEGER NOT NULL,                  -- of the bootstrap
    resamples        INTEGER NOT NULL,
    confidence       REAL NOT NULL,
    -- From here on NULL until it has ended.
    clock            TEXT CHECK (clock IN ('kernel', 'wall')), -- kernel: the device's events; wall: around the launch call,
                                                               -- on host and sim, and never the time of a GPU kernel
    control          TEXT,                              -- what the control arm was: a copied file, another process
    rounds           INTEGER,
    ratio            REAL,                              -- candidate / base, geometric mean over cells; 1.05: 5 % slower
    ratio_low        REAL,
    ratio_high       REAL,
    control_ratio    REAL,                              -- copy / base
    control_low      REAL,
    control_high     REAL,
    drift            REAL,                              -- base in the last third of rounds / in the first
    clock_mhz_low    INTEGER,                           -- of the device's multiprocessors, over all legs; NULL: unknown
    clock_mhz_high   INTEGER,
    verdict          TEXT CHECK (verdict IN ('within', 'exceeds', 'cannot tell', 'failed')),
    reason           TEXT                               -- one line
) STRICT;
CREATE INDEX guard_session_of_guard ON guard_session (guard, started_at);

-- One case with one kind of output.
CREATE TABLE guard_cell (
    id            INTEGER PRIMARY KEY,
    session       INTEGER NOT NULL REFERENCES guard_session ON DELETE CASCADE,
    case_name     TEXT NOT NULL, -- the inputs; timed with `outputs`, whatever stands in the name
    outputs       TEXT NOT NULL CHECK (outputs IN ('page', 'page+raw', 'raw')),
    calls         INTEGER,       -- launches that share one sample
    base_us       REAL,          -- medians of all samples
    candidate_us  REAL,
    copy_us       REAL,
    ratio         REAL,
    ratio_low     REAL,
    ratio_high    REAL,
    control_ratio REAL,
    control_low   REAL,
    control_high  REAL,
    verdict       TEXT CHECK (verdict IN ('within', 'exceeds', 'cannot tell', 'failed')),
    reason        TEXT,
    UNIQUE (session, case_name, outputs)
) STRICT;

-- One process, some launches in a row.
CREATE TABLE guard_leg (
    cell       INTEGER NOT NULL REFERENCES guard_cell ON DELETE CASCADE,
    round      INTEGER NOT NULL,                            -- from 0
    place      INTEGER NOT NULL CHECK (place BETWEEN 0 AND 5), -- in the order of the round
    arm        TEXT NOT NULL CHECK (arm IN ('base', 'candidate', 'copy')),
    samples_us TEXT NOT NULL,                               -- microseconds of one launch each, a JSON array
    clock_mhz  INTEGER,
    PRIMARY KEY (cell, round, place)
) STRICT, WITHOUT ROWID;

-- One row for each session. A session that was killed, or still runs, has the verdict NULL and state 'unfinished'.
CREATE VIEW guards AS
SELECT session, guard, what, percent, declared_at, declared_reason, started_at, ended_at, label, host, argv,
       harness_version, registry_hash, source_commit, dirty, environment, device_id, backend, device, arch, driver,
       toolchain, base, base_version, base_digest, base_origin, base_file, candidate, candidate_version,
       candidate_digest, candidate_origin, candidate_file, base_digest = candidate_digest AS same_build, cache,
       budget_seconds, seed, resamples, confidence, clock, control, rounds, ratio, ratio_low, ratio_high, control_ratio,
       control_low, control_high, drift, clock_mhz_low, clock_mhz_high,
       CASE WHEN ended_at IS NULL THEN 'unfinished' ELSE 'ended' END AS state, verdict, reason
FROM guard_session;

-- The cells, each with its session.
CREATE VIEW guard_cases AS
SELECT s.session AS session, s.guard AS guard, s.started_at AS started_at, s.device_id AS device_id, s.arch AS arch,
       s.clock AS clock, c.case_name AS case_name, c.outputs AS outputs, c.calls AS calls, c.base_us AS base_us,
       c.candidate_us AS candidate_us, c.copy_us AS copy_us, c.ratio AS ratio, c.ratio_low AS ratio_low,
       c.ratio_high AS ratio_high, c.control_ratio AS control_ratio, c.control_low AS control_low,
       c.control_high AS control_high, c.verdict AS verdict, c.reason AS reason
FROM guard_session AS s JOIN guard_cell AS c ON c.session = s.id;

-- Single measurements, in the order in which they were taken within a leg.
CREATE VIEW guard_samples AS
SELECT s.session AS session, c.case_name AS case_name, c.outputs AS outputs, l.round AS round, l.place AS place,
       l.arm AS arm, one.key AS ordinal, one.value AS value_us, l.clock_mhz AS clock_mhz
FROM guard_session AS s JOIN guard_cell AS c ON c.session = s.id JOIN guard_leg AS l ON l.cell = c.id,
     json_each(l.samples_us) AS one;
