-- SPDX-License-Identifier: Apache-2.0
-- stale: devices that owe a night (registry/fleet.yaml) and sent none in time, or one in which nothing was judged
-- :fleet  who owes what, JSON: [{"device_id": glob, "suite": name, "every_hours": n}] (default: registry/fleet.yaml; in plain sqlite3: [])
-- :now    the moment to judge from, as ISO 8601 (default: now)
--
-- A night counts when its run has ended, is not excluded and judged something on the device. A device that the fleet
-- names and the database has never seen is listed with an empty last_night.
WITH duty AS (
    SELECT json_extract(value, '$.device_id') AS glob, json_extract(value, '$.suite') AS suite,
           json_extract(value, '$.every_hours') AS every_hours
    FROM json_each(COALESCE(:fleet, '[]'))
), owed AS (
    -- Several entries may name one device and suite: the strictest holds.
    SELECT devices.device_id AS device_id, devices.device AS device, devices.arch AS arch, suite,
           min(every_hours) AS every_hours
    FROM duty JOIN devices ON devices.device_id GLOB duty.glob
    GROUP BY devices.device_id, suite
    UNION ALL
    SELECT glob, NULL, NULL, suite, every_hours
    FROM duty WHERE NOT EXISTS (SELECT 1 FROM devices WHERE devices.device_id GLOB duty.glob)
), night AS (
    SELECT owed.*, (
        SELECT runs.run FROM run_devices JOIN runs ON runs.run = run_devices.run
        WHERE run_devices.device_id = owed.device_id AND runs.suite = owed.suite AND runs.ended_at IS NOT NULL
              AND NOT runs.excluded
              AND EXISTS (SELECT 1 FROM results
                          WHERE results.run = runs.run AND results.device_id = owed.device_id
                                AND results.verdict IN ('pass', 'fail', 'crash', 'timeout', 'flaky', 'xfail', 'xpass'))
        ORDER BY runs.ended_at DESC LIMIT 1) AS run
    FROM owed
)
SELECT night.device_id AS device_id, night.device AS device, night.arch AS arch, night.suite AS suite,
       night.every_hours AS every_hours, runs.ended_at AS last_night, night.run AS run,
       round((julianday(COALESCE(:now, 'now')) - julianday(runs.ended_at)) * 24, 1) AS hours_ago
FROM night LEFT JOIN runs ON runs.run = night.run
WHERE night.run IS NULL
      OR (julianday(COALESCE(:now, 'now')) - julianday(runs.ended_at)) * 24 > night.every_hours
ORDER BY night.device_id, night.suite;
