-- slow: where the time of a run goes: the cases that take longest, and what share of their device's time that is
-- :arch      architecture, a glob (default: *)
-- :device    device_id, a glob (default: *)
-- :provider  provider, a glob (default: *)
-- :case      case_name, a glob (default: *)
-- :limit     so many for each device and provider (default: 10)
--
-- SPDX-License-Identifier: Apache-2.0
--
-- The newest judged result of each series counts. wall_ms is the whole case: inputs, launches, judging.
WITH timed AS (
    SELECT *, sum(wall_ms) OVER (PARTITION BY device_id, provider) AS all_ms,
           row_number() OVER (PARTITION BY device_id, provider ORDER BY wall_ms DESC, case_name) AS place
    FROM latest
    WHERE wall_ms IS NOT NULL AND device_id GLOB COALESCE(:device, '*') AND provider GLOB COALESCE(:provider, '*')
      AND case_name GLOB COALESCE(:case, '*')
      AND (COALESCE(arch, '') GLOB COALESCE(:arch, '*') OR arch GLOB :arch || ':*')
)
SELECT device_id, arch, provider, origin, place, case_name, round(wall_ms, 1) AS wall_ms,
       round(100.0 * wall_ms / nullif(all_ms, 0), 2) AS percent, kernel_us_p50, repeats, verdict, run
FROM timed
WHERE place <= COALESCE(:limit, 10)
ORDER BY device_id, provider, place;
