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
-- Starts from `latest`; only what passes there and promises less than `canonical` can have dropped. A level that comes
-- and goes by chance is not news: hence :held, and every run since the drop must have stayed below the old level.
WITH passing AS MATERIALIZED (
    SELECT device_id, provider, origin, case_name, input_hash, arch, level, promised FROM latest
    WHERE verdict IN ('pass', 'xpass') AND promised <> 'canonical' AND level <> 'canonical'
      AND device_id GLOB COALESCE(:device, '*') AND provider GLOB COALESCE(:provider, '*')
      AND case_name GLOB COALESCE(:case, '*')
      AND (COALESCE(arch, '') GLOB COALESCE(:arch, '*') OR arch GLOB :arch || ':*')
), night AS (
    SELECT p.*, r.started_at, r.run, r.source_commit, r.driver, r.level AS level_then,
           CASE r.level WHEN 'none' THEN 0 WHEN 'safe' THEN 1 WHEN 'valid' THEN 2 WHEN 'set-repeatable' THEN 3
                        WHEN 'repeatable' THEN 4 WHEN 'invariant' THEN 5 WHEN 'canonical' THEN 6 END AS rank
    FROM passing AS p
         CROSS JOIN results AS r ON r.case_name = p.case_name AND r.device_id = p.device_id AND r.provider = p.provider
                          AND r.origin = p.origin AND r.input_hash IS p.input_hash
    WHERE r.verdict IN ('pass', 'xpass') AND r.run NOT IN (SELECT run FROM runs WHERE excluded)
), ordered AS (
    SELECT *, lag(run) OVER nights AS run_before, lag(level_then) OVER nights AS level_before,
           lag(rank) OVER nights AS rank_before, lag(source_commit) OVER nights AS commit_before,
           -- The lowest level of the :held runs before, and the highest of this and all later ones.
           max(rank) OVER (PARTITION BY device_id, provider, origin, case_name, input_hash ORDER BY started_at, run
                           ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS best_since,
           row_number() OVER nights AS place
    FROM night
    WINDOW nights AS (PARTITION BY device_id, provider, origin, case_name, input_hash ORDER BY started_at, run)
), edge AS MATERIALIZED (
    SELECT *, max(place) AS newest_edge FROM ordered
    WHERE rank < rank_before AND best_since < rank_before
    GROUP BY device_id, provider, origin, case_name, input_hash
), steady AS (
    SELECT e.device_id, e.provider, e.origin, e.case_name, e.input_hash, count(*) AS held
    FROM edge AS e
         JOIN ordered AS o ON o.device_id = e.device_id AND o.provider = e.provider AND o.origin = e.origin
                          AND o.case_name = e.case_name AND o.input_hash IS e.input_hash
                          AND o.place < e.place AND o.rank >= e.rank_before
                          AND o.place >= e.place - CAST(COALESCE(:held, 3) AS INTEGER)
    GROUP BY 1, 2, 3, 4, 5
)
SELECT e.case_name, e.arch, e.device_id, e.provider, e.origin, e.level_before AS level_was, e.level AS level_now,
       e.promised, e.started_at AS dropped_at, e.run AS first_lower_run, e.run_before AS last_higher_run,
       COALESCE(e.commit_before, 'unknown') || '..' || COALESCE(e.source_commit, 'unknown') AS commits
FROM edge AS e JOIN steady AS s ON s.device_id = e.device_id AND s.provider = e.provider AND s.origin = e.origin
                               AND s.case_name = e.case_name AND s.input_hash IS e.input_hash
WHERE s.held >= CAST(COALESCE(:held, 3) AS INTEGER) AND e.started_at >= COALESCE(:since, '')
ORDER BY dropped_at DESC, e.case_name, e.device_id;
