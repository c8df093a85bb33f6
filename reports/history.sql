-- history: night by night what a case did, per device and provider; newest first
-- :case      case_name, a glob; without one, the worst standing series are shown (default: *)
-- :arch      architecture, a glob (default: *)
-- :device    device_id, a glob (default: *)
-- :provider  provider, a glob (default: *)
-- :since     from this time on, UTC: 2026-11-30 or 2026-11-30T13:00 (default: ever)
-- :changes   1 shows only results whose verdict, level or output differ from the one before (default: 0)
-- :series    at most so many series, bad ones first (default: 20)
--
-- SPDX-License-Identifier: Apache-2.0
--
-- Starts from `latest` and seeks the chosen series. Every attempt is a row, judged or not; rows of voided runs are
-- marked. A series that was never judged is not in `latest`: see coverage.
WITH chosen AS MATERIALIZED (
    SELECT device_id, provider, origin, case_name, input_hash FROM latest
    WHERE case_name GLOB COALESCE(:case, '*') AND device_id GLOB COALESCE(:device, '*')
      AND provider GLOB COALESCE(:provider, '*')
      AND (COALESCE(arch, '') GLOB COALESCE(:arch, '*') OR arch GLOB :arch || ':*')
    ORDER BY verdict IN ('pass', 'xpass', 'xfail'), case_name, device_id, provider
    LIMIT COALESCE(:series, 20)
), night AS (
    SELECT r.*, n.excluded,
           CASE WHEN lag(r.run) OVER nights IS NULL THEN 'first'
                ELSE ltrim(CASE WHEN r.verdict IS NOT lag(r.verdict) OVER nights
                                THEN ', ' || lag(r.verdict) OVER nights || ' -> ' || r.verdict ELSE '' END
                        || CASE WHEN r.level IS NOT lag(r.level) OVER nights
                                THEN ', level ' || COALESCE(lag(r.level) OVER nights, '-') || ' -> '
                                     || COALESCE(r.level, '-') ELSE '' END
                        || CASE WHEN r.output_digest IS NOT lag(r.output_digest) OVER nights THEN ', output' ELSE '' END,
                           ', ') END AS change,
           ltrim(CASE WHEN r.provider_digest IS NOT lag(r.provider_digest) OVER nights THEN ', build' ELSE '' END
              || CASE WHEN r.driver IS NOT lag(r.driver) OVER nights THEN ', driver' ELSE '' END
              || CASE WHEN r.toolchain IS NOT lag(r.toolchain) OVER nights THEN ', compiler' ELSE '' END, ', ') AS with_new
    -- CROSS JOIN: the planner would rather start from all runs.
    FROM chosen AS c
         CROSS JOIN results AS r ON r.case_name = c.case_name AND r.device_id = c.device_id AND r.provider = c.provider
                          AND r.origin = c.origin AND r.input_hash IS c.input_hash
         CROSS JOIN runs AS n ON n.run = r.run
    WINDOW nights AS (PARTITION BY r.device_id, r.provider, r.origin, r.case_name, r.input_hash
                      ORDER BY r.started_at, r.run, r.attempt)
)
SELECT case_name, arch, device_id, provider, origin, started_at, run, attempt, verdict, level, change, with_new,
       output_digest, kernel_us_p50, driver, toolchain, source_commit, excluded, reason
FROM night
WHERE started_at >= COALESCE(:since, '') AND (CAST(COALESCE(:changes, 0) AS INTEGER) = 0 OR change <> '')
ORDER BY case_name, device_id, provider, origin, input_hash, started_at DESC, run DESC, attempt DESC;
