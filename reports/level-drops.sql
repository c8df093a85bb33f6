-- level-drops: what still passes, yet reaches a lower level than it used to
-- :arch      architecture, a glob (default: *)
-- :device    device_id, a glob (default: *)
-- :provider  provider, a glob (default: *)
-- :case      case_name, a glob (default: *)
-- :held      the higher level was reached in so many runs in a row right before the drop (default: 3)
-- :since     dropped at or after this time, UTC (default: ever)
--
-- SPDX-License-Identifier: Apache-2.0
--
-- Starts from what stands now; only what passes there and promises less than `canonical` can have dropped, and of that
-- only what ever reached a higher level: those series alone are looked at run by run. A level that comes and goes by
-- chance is not news: hence :held, and every run since the drop must have stayed below the old level.
WITH passing AS MATERIALIZED (
    -- Codes of schema.sql: verdicts 0 pass, 6 xpass; level 6 canonical.
    SELECT s.series, s.level_code FROM standing_outcomes AS s CROSS JOIN series_names AS n ON n.series = s.series
    WHERE s.verdict_code IN (0, 6) AND s.promised_code < 6 AND s.level_code < 6
      AND n.device_id GLOB COALESCE(:device, '*') AND n.provider GLOB COALESCE(:provider, '*')
      AND n.case_name GLOB COALESCE(:case, '*')
), lowered AS MATERIALIZED (
    SELECT p.series FROM passing AS p CROSS JOIN outcomes AS r ON r.series = p.series
    WHERE r.verdict_code IN (0, 6) AND r.level_code > p.level_code GROUP BY p.series
), ordered AS MATERIALIZED (
    SELECT r.series, r.started_at, r.run, r.run_device, r.source_commit, r.level_code AS rank,
           lag(r.run) OVER nights AS run_before, lag(r.level_code) OVER nights AS rank_before,
           lag(r.source_commit) OVER nights AS commit_before,
           -- The highest level of this and all later runs.
           max(r.level_code) OVER (PARTITION BY r.series ORDER BY r.started_at, r.run, r.attempt
                                   ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS best_since,
           row_number() OVER nights AS place
    FROM lowered AS l CROSS JOIN outcomes AS r ON r.series = l.series
    WHERE r.verdict_code IN (0, 6) AND NOT r.excluded
    WINDOW nights AS (PARTITION BY r.series ORDER BY r.started_at, r.run, r.attempt)
), edge AS MATERIALIZED (
    SELECT *, max(place) AS newest_edge FROM ordered
    WHERE rank < rank_before AND best_since < rank_before
    GROUP BY series
), steady AS (
    SELECT e.series, count(*) AS held
    FROM edge AS e
         JOIN ordered AS o ON o.series = e.series AND o.place < e.place AND o.rank >= e.rank_before
                          AND o.place >= e.place - CAST(COALESCE(:held, 3) AS INTEGER)
    GROUP BY 1
)
SELECT n.case_name, l.arch, n.device_id, n.provider, n.origin,
       CASE e.rank_before WHEN 0 THEN 'none' WHEN 1 THEN 'safe' WHEN 2 THEN 'valid' WHEN 3 THEN 'set-repeatable'
            WHEN 4 THEN 'repeatable' WHEN 5 THEN 'invariant' ELSE 'canonical' END AS level_was,
       l.level AS level_now, l.promised, e.started_at AS dropped_at, e.run AS first_lower_run,
       e.run_before AS last_higher_run,
       COALESCE(e.commit_before, 'unknown') || '..' || COALESCE(e.source_commit, 'unknown') AS commits
FROM edge AS e JOIN steady AS s ON s.series = e.series
     CROSS JOIN series_names AS n ON n.series = e.series
     CROSS JOIN latest AS l ON l.case_name = n.case_name AND l.device_id = n.device_id AND l.provider = n.provider
                           AND l.origin = n.origin AND l.input_hash IS n.input_hash
WHERE s.held >= CAST(COALESCE(:held, 3) AS INTEGER) AND e.started_at >= COALESCE(:since, '')
  AND (COALESCE(l.arch, '') GLOB COALESCE(:arch, '*') OR l.arch GLOB :arch || ':*')
ORDER BY dropped_at DESC, n.case_name, n.device_id;
