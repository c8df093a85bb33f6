-- guards: what each guard found, newest first: is a kernel slower than another by more than was declared beforehand?
-- :guard      id of the guard, a glob (default: *)
-- :arch       architecture, a glob (default: *)
-- :device     device_id, a glob (default: *)
-- :candidate  provider that had to keep the limit, a glob (default: *)
-- :verdict    within, exceeds, cannot tell, failed or unfinished, a glob (default: *)
-- :since      started at or after this time, UTC (default: ever)
-- :last       how many (default: 30)
-- :include_excluded  1 lists sessions that `topkcts exclude` voided, too (default: 0)
--
-- SPDX-License-Identifier: Apache-2.0
--
-- percents are of the base's time, +5 is five percent slower; intervals as told by harness/guard_statistics.h. clock:
-- `kernel` is the device's events, `wall` the time around the launch call on host and sim, never a GPU's kernel time.
-- resolves: by how much the base strayed from its own copy, interval included: no limit below it can be told.
-- worst_case: of the cells that decided the verdict, the one whose interval lies highest.
-- excluded: why the session does not count; only asked for by :include_excluded.
-- limit_changed: an earlier session of the guard, excluded or not, was held to another limit that was declared no earlier than this one:
-- then the declared day was not changed along with the percent, and the limit may have followed the measurement.
WITH chosen AS (
    SELECT g.*, x.reason AS excluded FROM guards AS g LEFT JOIN guard_exclusions AS x ON x.session = g.session
    WHERE (x.session IS NULL OR CAST(COALESCE(:include_excluded, 0) AS INTEGER) <> 0) AND guard GLOB COALESCE(:guard, '*') AND device_id GLOB COALESCE(:device, '*')
      AND (COALESCE(arch, '') GLOB COALESCE(:arch, '*') OR arch GLOB :arch || ':*')
      AND candidate GLOB COALESCE(:candidate, '*') AND started_at >= COALESCE(:since, '')
      AND COALESCE(verdict, state) GLOB COALESCE(:verdict, '*')
    ORDER BY started_at DESC, g.session DESC LIMIT COALESCE(:last, 30)
), worst AS (
    SELECT c.session, c.case_name || ' outputs ' || c.outputs AS cell,
           row_number() OVER (PARTITION BY c.session ORDER BY c.ratio_low DESC, c.case_name, c.outputs) AS place
    FROM guard_cases AS c JOIN chosen ON chosen.session = c.session AND chosen.verdict = c.verdict
)
SELECT c.guard, COALESCE(c.verdict, c.state) AS verdict, c.arch, c.device_id, c.base, c.base_version, c.candidate,
       c.candidate_version, c.same_build, c.percent AS limit_percent, round(100 * (c.ratio - 1), 2) AS percent,
       round(100 * (c.ratio_low - 1), 2) AS percent_low, round(100 * (c.ratio_high - 1), 2) AS percent_high,
       round(100 * (max(c.control_high, 1 / c.control_low) - 1), 2) AS resolves, c.clock, c.cache, c.rounds,
       (SELECT count(*) FROM guard_cases AS g WHERE g.session = c.session) AS cells, w.cell AS worst_case,
       c.declared_at, c.started_at, c.session, c.label,
       EXISTS (SELECT 1 FROM guards AS e WHERE e.guard = c.guard AND e.started_at < c.started_at
                                           AND e.percent <> c.percent AND e.declared_at >= c.declared_at) AS limit_changed,
       c.reason, c.excluded
FROM chosen AS c LEFT JOIN worst AS w ON w.session = c.session AND w.place = 1
ORDER BY c.started_at DESC, c.session DESC;
