-- regressions: what passed before and does not now, per device, provider and case; newest first
-- :arch           architecture, a glob; gfx942 also takes gfx942:sramecc+:xnack- (default: *)
-- :device         device_id, a glob (default: *)
-- :provider       provider, a glob (default: *)
-- :case           case_name, a glob (default: *)
-- :since          broke at or after this time, UTC: 2026-11-30 or 2026-11-30T13:00 (default: ever)
-- :include_flaky  1 lists known flakes, too (default: 0)
--
-- SPDX-License-Identifier: Apache-2.0
--
-- Starts from `latest` and seeks the past of the broken series alone, so that the length of the history hardly counts.
--
-- Bad is fail, crash or timeout; good is pass or xpass. A declared failure (xfail) is no news. Nights that judged
-- nothing and voided runs say nothing. A series that is bad now is a known flake, and left out, when its present bad
-- nights are no more than its longest bad time before and chance was seen in it: a `flaky` verdict, a recovery with
-- nothing changed (same build, driver and tool-chain), or an earlier single bad night.
--
-- also_bad_on, good_on: how the same case of the same provider stands on other devices now.
-- changed: what differs between the last good and the first bad run, as far as runs record it.
WITH standing AS MATERIALIZED (
    SELECT device_id, device, arch, provider, origin, case_name, input_hash, run, started_at, verdict, reason
    FROM latest
    WHERE provider GLOB COALESCE(:provider, '*') AND case_name GLOB COALESCE(:case, '*')
), broken AS MATERIALIZED (
    SELECT * FROM standing
    WHERE (verdict IN ('fail', 'crash', 'timeout')
           OR verdict = 'flaky' AND CAST(COALESCE(:include_flaky, 0) AS INTEGER) <> 0)
      AND device_id GLOB COALESCE(:device, '*')
      AND (COALESCE(arch, '') GLOB COALESCE(:arch, '*') OR arch GLOB :arch || ':*')
), past AS MATERIALIZED (
    -- `when_run` orders runs: times, then names.
    SELECT b.device_id, b.provider, b.origin, b.case_name, b.input_hash, r.started_at || ' ' || r.run AS when_run,
           r.verdict IN ('pass', 'xpass') AS good, r.verdict = 'flaky' AS by_chance, r.attempt,
           r.provider_digest || COALESCE(r.driver, '') || COALESCE(r.toolchain, '') AS build
    FROM broken AS b
         CROSS JOIN results AS r ON r.case_name = b.case_name AND r.device_id = b.device_id AND r.provider = b.provider
                          AND r.origin = b.origin AND r.input_hash IS b.input_hash
    WHERE r.verdict IN ('pass', 'xpass', 'fail', 'crash', 'timeout', 'flaky')
      AND r.run NOT IN (SELECT run FROM runs WHERE excluded)
), edge AS MATERIALIZED (
    SELECT device_id, provider, origin, case_name, input_hash, max(when_run) FILTER (WHERE good) AS last_good,
           min(when_run) FILTER (WHERE NOT good) AS ever_bad, sum(by_chance) AS n_flaky
    FROM past GROUP BY 1, 2, 3, 4, 5
), troubled AS (
    -- The few that were bad before they were last good: their nights in order.
    SELECT past.*, lag(good) OVER nights AS good_before, lag(build) OVER nights AS build_before,
           sum(good) OVER nights AS n_good_so_far, last_good
    FROM edge JOIN past USING (device_id, provider, origin, case_name)
    WHERE past.input_hash IS edge.input_hash AND last_good > ever_bad
    WINDOW nights AS (PARTITION BY past.device_id, past.provider, past.origin, past.case_name, past.input_hash
                      ORDER BY when_run, attempt)
), episode AS (
    -- Bad nights with the same number of good ones before them are one episode.
    SELECT device_id, provider, origin, case_name, input_hash, n_good_so_far,
           count(DISTINCT when_run) FILTER (WHERE NOT good) AS nights, max(when_run) > max(last_good) AS is_present,
           sum(good AND NOT good_before AND build = build_before) AS unexplained
    FROM troubled GROUP BY 1, 2, 3, 4, 5, 6
), flake AS (
    SELECT device_id, provider, origin, case_name, input_hash,
           max(nights) FILTER (WHERE is_present) <= max(nights) FILTER (WHERE NOT is_present)
           AND (sum(unexplained) > 0 OR sum(nights = 1 AND NOT is_present) > 0) AS is_flake
    FROM episode GROUP BY 1, 2, 3, 4, 5
), found AS MATERIALIZED (
    SELECT b.*, e.last_good, COALESCE(f.is_flake, 0) OR b.verdict = 'flaky' AS is_flake,
           (SELECT min(p.when_run) FROM past AS p
            WHERE p.device_id = e.device_id AND p.provider = e.provider AND p.origin = e.origin
              AND p.case_name = e.case_name AND p.input_hash IS e.input_hash AND p.when_run > e.last_good
           ) AS first_bad,
           (SELECT count(DISTINCT p.when_run) FROM past AS p
            WHERE p.device_id = e.device_id AND p.provider = e.provider AND p.origin = e.origin
              AND p.case_name = e.case_name AND p.input_hash IS e.input_hash AND p.when_run > e.last_good
           ) AS bad_runs
    FROM edge AS e
         JOIN broken AS b ON b.device_id = e.device_id AND b.provider = e.provider AND b.origin = e.origin
                         AND b.case_name = e.case_name AND b.input_hash IS e.input_hash
         LEFT JOIN flake AS f ON f.device_id = e.device_id AND f.provider = e.provider AND f.origin = e.origin
                             AND f.case_name = e.case_name AND f.input_hash IS e.input_hash
    WHERE e.last_good IS NOT NULL
), chosen AS MATERIALIZED (
    SELECT *, substr(first_bad, instr(first_bad, ' ') + 1) AS first_bad_run,
           substr(last_good, instr(last_good, ' ') + 1) AS last_good_run
    FROM found
    WHERE first_bad IS NOT NULL AND first_bad >= COALESCE(:since, '')
      AND (NOT is_flake OR CAST(COALESCE(:include_flaky, 0) AS INTEGER) <> 0)
), elsewhere AS (
    SELECT c.device_id, c.provider, c.case_name, c.input_hash,
           group_concat(DISTINCT CASE WHEN s.verdict IN ('fail', 'crash', 'timeout', 'xfail', 'flaky')
                                      THEN COALESCE(s.arch, s.device_id) END) AS also_bad_on,
           group_concat(DISTINCT CASE WHEN s.verdict IN ('pass', 'xpass') THEN COALESCE(s.arch, s.device_id) END)
               AS good_on
    FROM chosen AS c
         JOIN standing AS s ON s.case_name = c.case_name AND s.provider = c.provider AND s.device_id <> c.device_id
                           AND s.input_hash IS c.input_hash
    GROUP BY 1, 2, 3, 4
)
SELECT c.case_name, c.arch, c.device_id, c.provider, c.origin, c.verdict, c.bad_runs,
       substr(c.first_bad, 1, instr(c.first_bad, ' ') - 1) AS first_bad_at, c.first_bad_run,
       substr(c.last_good, 1, instr(c.last_good, ' ') - 1) AS last_good_at, c.last_good_run,
       CASE WHEN good.source_commit IS bad.source_commit THEN COALESCE(bad.source_commit, 'unknown')
            ELSE COALESCE(good.source_commit, 'unknown') || '..' || COALESCE(bad.source_commit, 'unknown')
       END AS commits,
       COALESCE(nullif(ltrim(
           CASE WHEN good.provider_digest IS NOT bad.provider_digest THEN ', build' ELSE '' END
           || CASE WHEN good.driver IS NOT bad.driver
                   THEN ', driver ' || COALESCE(good.driver, '?') || ' -> ' || COALESCE(bad.driver, '?') ELSE '' END
           || CASE WHEN good.toolchain IS NOT bad.toolchain
                   THEN ', compiler ' || COALESCE(good.toolchain, '?') || ' -> ' || COALESCE(bad.toolchain, '?')
                   ELSE '' END, ', '), ''), 'nothing on record') AS changed,
       e.also_bad_on, e.good_on, c.is_flake AS known_flake, c.reason
FROM chosen AS c
     JOIN results AS good ON good.run = c.last_good_run AND good.case_name = c.case_name
                         AND good.device_id = c.device_id AND good.provider = c.provider AND good.origin = c.origin
                         AND good.input_hash IS c.input_hash AND good.verdict IN ('pass', 'xpass')
     JOIN results AS bad ON bad.run = c.first_bad_run AND bad.case_name = c.case_name
                        AND bad.device_id = c.device_id AND bad.provider = c.provider AND bad.origin = c.origin
                        AND bad.input_hash IS c.input_hash AND bad.verdict IN ('fail', 'crash', 'timeout', 'flaky')
     LEFT JOIN elsewhere AS e ON e.device_id = c.device_id AND e.provider = c.provider
                             AND e.case_name = c.case_name AND e.input_hash IS c.input_hash
-- Two builds or attempts in one run would show a series twice.
GROUP BY c.device_id, c.provider, c.origin, c.case_name, c.input_hash
ORDER BY c.first_bad DESC, c.arch, c.case_name, c.device_id, c.provider;
