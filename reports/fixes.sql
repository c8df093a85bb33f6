-- fixes: what was bad and is good now, per device, provider and case; newest first
-- :arch      architecture, a glob (default: *)
-- :device    device_id, a glob (default: *)
-- :provider  provider, a glob (default: *)
-- :case      case_name, a glob (default: *)
-- :days      the last bad run is looked for in so many days before the newest run (default: 90)
-- :min_runs  it was bad in at least so many runs in a row; fewer is chance (default: 2)
--
-- SPDX-License-Identifier: Apache-2.0
--
-- The other half of regressions: starts from the bad results of the time looked at, keeps the series that `latest`
-- has as good. Declared failures (xfail) count as bad here: that one passes now is worth knowing.
WITH suspect AS MATERIALIZED (
    SELECT DISTINCT r.device_id, r.provider, r.origin, r.case_name, r.input_hash
    FROM runs AS n CROSS JOIN results AS r ON r.run = n.run
    WHERE NOT n.excluded
      AND n.started_at >= (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', max(started_at),
                                           '-' || CAST(COALESCE(:days, 90) AS INTEGER) || ' days') FROM runs)
      AND r.verdict IN ('fail', 'crash', 'timeout', 'xfail')
      AND r.device_id GLOB COALESCE(:device, '*') AND r.provider GLOB COALESCE(:provider, '*')
      AND r.case_name GLOB COALESCE(:case, '*')
      AND (COALESCE(r.arch, '') GLOB COALESCE(:arch, '*') OR r.arch GLOB :arch || ':*')
), mended AS MATERIALIZED (
    SELECT s.*, l.arch
    FROM suspect AS s
         CROSS JOIN latest AS l ON l.case_name = s.case_name AND l.device_id = s.device_id AND l.provider = s.provider
                         AND l.origin = s.origin AND l.input_hash IS s.input_hash
    WHERE l.verdict IN ('pass', 'xpass')
), night AS (
    -- The last attempt stands for its run: the columns beside max() are those of its row.
    SELECT m.*, r.started_at, r.run, r.verdict, r.source_commit, max(r.attempt),
           r.verdict IN ('pass', 'xpass') AS good
    FROM mended AS m
         CROSS JOIN results AS r ON r.case_name = m.case_name AND r.device_id = m.device_id AND r.provider = m.provider
                          AND r.origin = m.origin AND r.input_hash IS m.input_hash
    WHERE r.verdict IN ('pass', 'xpass', 'fail', 'crash', 'timeout', 'xfail', 'flaky')
      AND r.run NOT IN (SELECT run FROM runs WHERE excluded)
    GROUP BY m.device_id, m.provider, m.origin, m.case_name, m.input_hash, r.run, r.provider_digest
), placed AS (
    SELECT *, row_number() OVER nights AS place FROM night
    WINDOW nights AS (PARTITION BY device_id, provider, origin, case_name, input_hash ORDER BY started_at, run)
), ordered AS (
    SELECT *, lag(good) OVER nights AS good_before, lag(run) OVER nights AS run_before,
           lag(verdict) OVER nights AS verdict_before, lag(source_commit) OVER nights AS commit_before,
           max(place) FILTER (WHERE good) OVER (PARTITION BY device_id, provider, origin, case_name, input_hash
                                                ORDER BY started_at, run
                                                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS good_place
    FROM placed
    WINDOW nights AS (PARTITION BY device_id, provider, origin, case_name, input_hash ORDER BY started_at, run)
), edge AS (
    SELECT *, place - 1 - COALESCE(good_place, 0) AS bad_runs, max(place)
    FROM ordered WHERE good AND good_before = 0
    GROUP BY device_id, provider, origin, case_name, input_hash
)
SELECT case_name, arch, device_id, provider, origin, verdict_before AS was, bad_runs, started_at AS first_good_at,
       run AS first_good_run, run_before AS last_bad_run,
       COALESCE(commit_before, 'unknown') || '..' || COALESCE(source_commit, 'unknown') AS commits
FROM edge WHERE bad_runs >= CAST(COALESCE(:min_runs, 2) AS INTEGER)
ORDER BY first_good_at DESC, case_name, device_id, provider;
