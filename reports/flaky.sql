-- flaky: what is now good, now bad, with nothing to explain it; with the rate and what a bad night means
-- :arch         architecture, a glob (default: *)
-- :device       device_id, a glob (default: *)
-- :provider     provider, a glob (default: *)
-- :case         case_name, a glob (default: *)
-- :days         so many days before the newest run count (default: 90)
--
-- SPDX-License-Identifier: Apache-2.0
--
-- Starts from the bad results of the time looked at, and seeks the series they belong to. A series is flaky when
--   retried       a retry disagreed: verdict `flaky`, or
--   unexplained   it recovered with nothing changed (same build, driver and tool-chain) after one or two bad runs, or
--                 more than once after any number of them, or
--   blinked       it was bad on two or more nights with good nights before, between and after (the newest bad one may
--                 still stand alone at the end).
-- rate: bad runs in all judged runs; from, to: the 95 % Wilson interval of that rate.
WITH span AS (
    SELECT strftime('%Y-%m-%dT%H:%M:%fZ', max(started_at), '-' || CAST(COALESCE(:days, 90) AS INTEGER) || ' days')
           AS start FROM runs
), suspect AS MATERIALIZED (
    SELECT DISTINCT r.device_id, r.provider, r.origin, r.case_name, r.input_hash
    FROM runs AS n CROSS JOIN results AS r ON r.run = n.run
    WHERE NOT n.excluded AND n.started_at >= (SELECT start FROM span)
      AND r.verdict IN ('fail', 'crash', 'timeout', 'flaky')
      AND r.device_id GLOB COALESCE(:device, '*') AND r.provider GLOB COALESCE(:provider, '*')
      AND r.case_name GLOB COALESCE(:case, '*')
      AND (COALESCE(r.arch, '') GLOB COALESCE(:arch, '*') OR r.arch GLOB :arch || ':*')
), night AS (
    -- One row a run: bad where any attempt was. The other columns are those of the last attempt.
    SELECT s.*, r.arch, r.started_at, r.run, max(r.attempt) AS attempts, r.reason,
           max(r.verdict NOT IN ('pass', 'xpass')) AS bad, max(r.verdict = 'flaky') AS retried,
           r.provider_digest || COALESCE(r.driver, '') || COALESCE(r.toolchain, '') AS build
    FROM suspect AS s
         CROSS JOIN results AS r ON r.case_name = s.case_name AND r.device_id = s.device_id AND r.provider = s.provider
                          AND r.origin = s.origin AND r.input_hash IS s.input_hash
    WHERE r.verdict IN ('pass', 'xpass', 'fail', 'crash', 'timeout', 'flaky')
      AND r.started_at >= (SELECT start FROM span) AND r.run NOT IN (SELECT run FROM runs WHERE excluded)
    GROUP BY s.device_id, s.provider, s.origin, s.case_name, s.input_hash, r.run, r.provider_digest
), ordered AS (
    SELECT *, lag(bad) OVER nights AS bad_before, lead(bad) OVER nights AS bad_after, lag(build) OVER nights AS build_before,
           lag(bad, 2) OVER nights = 0 OR lag(bad, 3) OVER nights = 0 AS was_short
    FROM night
    WINDOW nights AS (PARTITION BY device_id, provider, origin, case_name, input_hash ORDER BY started_at, run, build)
), counted AS (
    SELECT case_name, arch, device_id, provider, origin, input_hash, count(*) AS n_runs, sum(bad) AS n_bad,
           sum(retried) AS n_retried, sum(NOT bad AND bad_before AND build = build_before AND COALESCE(was_short, 0)) AS n_short,
           sum(NOT bad AND bad_before AND build = build_before) AS n_unexplained,
           sum(bad AND bad_before = 0 AND COALESCE(bad_after, 0) = 0) AS n_blinks,
           max(started_at) FILTER (WHERE bad) AS last_bad_at, min(started_at) FILTER (WHERE bad) AS first_bad_at,
           max(run) FILTER (WHERE bad) AS last_bad_run
    FROM ordered GROUP BY device_id, provider, origin, case_name, input_hash
)
SELECT case_name, arch, device_id, provider, origin, n_bad, n_runs, round(1.0 * n_bad / n_runs, 4) AS rate,
       round((1.0 * n_bad / n_runs + 1.9208 / n_runs
              - 1.96 * sqrt(1.0 * n_bad * (n_runs - n_bad) / n_runs / n_runs / n_runs + 0.9604 / n_runs / n_runs))
             / (1 + 3.8416 / n_runs), 4) AS "from",
       round((1.0 * n_bad / n_runs + 1.9208 / n_runs
              + 1.96 * sqrt(1.0 * n_bad * (n_runs - n_bad) / n_runs / n_runs / n_runs + 0.9604 / n_runs / n_runs))
             / (1 + 3.8416 / n_runs), 4) AS "to",
       ltrim(CASE WHEN n_retried THEN ', retried ' || n_retried ELSE '' END
             || CASE WHEN n_unexplained THEN ', unexplained ' || n_unexplained ELSE '' END
             || CASE WHEN n_blinks > 1 THEN ', blinked ' || n_blinks ELSE '' END, ', ') AS evidence,
       first_bad_at, last_bad_at, last_bad_run
FROM counted
WHERE n_retried > 0 OR n_short > 0 OR n_unexplained > 1 OR n_blinks > 1
ORDER BY rate DESC, case_name, device_id, provider;
