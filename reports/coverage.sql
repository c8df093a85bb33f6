-- coverage: which case was never judged on which architecture, and which inner path never served there
-- :arch      architecture, a glob (default: *)
-- :provider  provider, a glob (default: *)
-- :case      case_name, a glob (default: *)
-- :by        `case` names every missing case, `family` counts them (default: family)
--
-- SPDX-License-Identifier: Apache-2.0
--
-- A case belongs to a provider on an architecture when that provider has it on any: planned or judged in any run of
-- the newest 30 days before the newest run, or judged ever. `never judged` is what nothing but skips, errors and
-- notrun is known of, or nothing at all; the newest reason says why, where there is one.
-- `one-read` is the yardstick of `topkcts bench`: nothing of it is ever judged.
-- `path never served` compares what providers say of their inner paths: seen on one architecture, not on another.
WITH tried AS MATERIALIZED (
    SELECT r.provider, COALESCE(r.arch, r.device_id) AS arch, r.case_name, r.family,
           max(r.started_at || ' ' || r.verdict || COALESCE(': ' || r.reason, '')) AS newest
    FROM runs AS n CROSS JOIN results AS r ON r.run = n.run
    WHERE NOT n.excluded AND r.verdict IN ('error', 'skip', 'notrun') AND r.provider <> 'one-read'
      AND n.started_at >= (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', max(started_at), '-30 days') FROM runs)
      AND r.provider GLOB COALESCE(:provider, '*') AND r.case_name GLOB COALESCE(:case, '*')
    GROUP BY 1, 2, 3
), judged AS MATERIALIZED (
    SELECT DISTINCT provider, COALESCE(arch, device_id) AS arch, case_name, family, path FROM latest
    WHERE provider GLOB COALESCE(:provider, '*') AND case_name GLOB COALESCE(:case, '*')
), known AS (
    SELECT provider, case_name, family FROM judged UNION SELECT provider, case_name, family FROM tried
), place AS (
    SELECT provider, arch FROM judged UNION SELECT provider, arch FROM tried
), missing AS (
    SELECT k.provider, p.arch, k.family, k.case_name, substr(t.newest, 26) AS why
    FROM known AS k JOIN place AS p ON p.provider = k.provider
         LEFT JOIN tried AS t ON t.provider = k.provider AND t.arch = p.arch AND t.case_name = k.case_name
    WHERE (p.arch GLOB COALESCE(:arch, '*') OR p.arch GLOB :arch || ':*')
      AND NOT EXISTS (SELECT 1 FROM judged AS j
                      WHERE j.provider = k.provider AND j.arch = p.arch AND j.case_name = k.case_name)
), path AS (
    SELECT DISTINCT provider, path FROM judged WHERE path IS NOT NULL
)
SELECT 'never judged' AS gap, provider, arch, family, case_name AS what, 1 AS n, COALESCE(why, 'never planned there') AS why
FROM missing WHERE COALESCE(:by, 'family') = 'case'
UNION ALL
SELECT 'never judged', provider, arch, family, min(case_name), count(*), COALESCE(max(why), 'never planned there')
FROM missing WHERE COALESCE(:by, 'family') <> 'case'
GROUP BY provider, arch, family
UNION ALL
SELECT 'path never served', q.provider, p.arch, NULL, q.path, 1, 'served elsewhere'
FROM path AS q JOIN place AS p ON p.provider = q.provider
WHERE (p.arch GLOB COALESCE(:arch, '*') OR p.arch GLOB :arch || ':*')
  AND NOT EXISTS (SELECT 1 FROM judged AS j WHERE j.provider = q.provider AND j.arch = p.arch AND j.path = q.path)
ORDER BY 1, 2, 3, 4, 5;
