-- time-shifts: kernels that got slower or faster, against the same device's own history; may answer AMBIGUOUS
-- :arch      architecture, a glob (default: *)
-- :device    device_id, a glob (default: *)
-- :provider  provider, a glob (default: *)
-- :case      case_name, a glob (default: *)
-- :percent   smaller steps are not reported (default: 5)
-- :days      so many days before the newest run count (default: 90)
--
-- SPDX-License-Identifier: Apache-2.0
--
-- Method. Per series, in order of time, x = ln(kernel_us_p50) of good results. Lone outliers are taken out first: x is
-- replaced by the median of itself and its two neighbours. Noise s is the median of |x - x before| over the series,
-- divided by 0.954 (which makes it the standard deviation of normal noise); at least 0.2 %. It knows steps and drift of
-- the machine only as what one night differs from the next, so one step does not inflate it. At each run, the mean of
-- up to 10 runs before it is set against the mean of it and up to 9 after: step = their difference,
-- z = |step| / (s * sqrt(1/n_before + 1/n_after)). A shift stands where z is the largest within 10 runs.
--   SLOWER, FASTER   step >= :percent, z >= 6, at least 3 runs before and 3 from the step on
--   AMBIGUOUS        step >= :percent, but 3 <= z < 6, or fewer than 3 runs from the step on: wait, or measure again
-- A step is looked for from the fourth run on: before that there is no history to be set against.
-- Several steps of one series are several rows. still: whether the newest runs are at the level after the step.
WITH start AS MATERIALIZED (
    SELECT strftime('%Y-%m-%dT%H:%M:%fZ', max(started_at), '-' || CAST(COALESCE(:days, 90) AS INTEGER) || ' days') AS at
    FROM runs
), moving AS MATERIALIZED (
    -- What never left a band of :percent cannot have made such a step: half of all series end here.
    SELECT r.series AS id, max(r.kernel_us_p50) AS highest, min(r.kernel_us_p50) AS lowest,
           max(r.started_at) AS newest, min(r.started_at) AS oldest
    FROM runs AS n CROSS JOIN outcomes AS r ON r.run = n.run
    WHERE NOT n.excluded AND n.started_at >= (SELECT at FROM start) AND r.kernel_us_p50 > 0
      AND r.verdict_code IN (0, 6) -- pass, xpass
    GROUP BY r.series
    HAVING max(r.kernel_us_p50) >= min(r.kernel_us_p50) * (1 + COALESCE(:percent, 5) / 100.0) AND count(*) >= 4
), stepping AS MATERIALIZED (
    -- Nor can what left it once on either side: one value that no neighbour shares is taken out below, unless it is the
    -- first or the last. Six of seven that were left end here.
    -- Read run by run again: by series it would jump about the file.
    SELECT m.id FROM runs AS n CROSS JOIN outcomes AS r ON r.run = n.run CROSS JOIN moving AS m ON m.id = r.series
    WHERE NOT n.excluded AND n.started_at >= (SELECT at FROM start) AND r.kernel_us_p50 > 0
      AND r.verdict_code IN (0, 6)
    GROUP BY m.id
    HAVING CASE WHEN sum(r.kernel_us_p50 = highest) > 1 THEN highest
                ELSE max(CASE WHEN r.kernel_us_p50 < highest OR r.started_at IN (newest, oldest) THEN r.kernel_us_p50 END) END
           >= (1 + COALESCE(:percent, 5) / 100.0)
              * CASE WHEN sum(r.kernel_us_p50 = lowest) > 1 THEN lowest
                ELSE min(CASE WHEN r.kernel_us_p50 > lowest OR r.started_at IN (newest, oldest) THEN r.kernel_us_p50 END) END
), night AS MATERIALIZED (
    -- From here to the end by the number of the series alone: its five names come last.
    SELECT m.id, r.run_device, r.run, ln(r.kernel_us_p50) AS x,
           row_number() OVER (PARTITION BY m.id ORDER BY r.started_at, r.run, r.attempt) AS place
    FROM stepping AS m CROSS JOIN outcomes AS r ON r.series = m.id
    WHERE r.kernel_us_p50 > 0 AND r.verdict_code IN (0, 6) AND r.started_at >= (SELECT at FROM start)
      AND NOT r.excluded
), smooth AS (
    SELECT *, abs(x - lag(x) OVER nights) AS hop,
           max(min(x, COALESCE(lag(x) OVER nights, x)),
               min(max(x, COALESCE(lag(x) OVER nights, x)), COALESCE(lead(x) OVER nights, x))) AS y
    FROM night WINDOW nights AS (PARTITION BY id ORDER BY place)
), noisy AS (
    -- Windows throughout, no joins: the planner would read one side of a join of such tables for each row of the other.
    SELECT *, max(avg(CASE WHEN hop_place IN ((n_hops + 1) / 2, (n_hops + 2) / 2) THEN hop END) OVER (PARTITION BY id)
                  / 0.954, 0.002) AS s
    FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY hop NULLS LAST) AS hop_place,
                 count(hop) OVER (PARTITION BY id) AS n_hops FROM smooth)
), step AS (
    SELECT *, avg(y) OVER before AS y_before, count(*) OVER before AS n_before,
           avg(y) OVER after AS y_after, count(*) OVER after AS n_after
    FROM noisy
    WINDOW before AS (PARTITION BY id ORDER BY place ROWS BETWEEN 10 PRECEDING AND 1 PRECEDING),
           after AS (PARTITION BY id ORDER BY place ROWS BETWEEN CURRENT ROW AND 9 FOLLOWING)
), scored AS (
    SELECT *, y_after - y_before AS size, abs(y_after - y_before) / (s * sqrt(1.0 / n_before + 1.0 / n_after)) AS z
    FROM step WHERE n_before >= 3
), peak AS (
    SELECT *, max(z) OVER (PARTITION BY id ORDER BY place ROWS BETWEEN 10 PRECEDING AND 10 FOLLOWING) AS highest,
           last_value(y) OVER (PARTITION BY id ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING
                                                                   AND UNBOUNDED FOLLOWING) AS y_newest
    FROM scored
), found AS MATERIALIZED (
    SELECT * FROM peak WHERE z = highest AND z >= 3 AND abs(size) >= ln(1 + COALESCE(:percent, 5) / 100.0)
), named AS (
    -- What the run of the step and the one before it were made with.
    SELECT f.*, n.case_name, d.arch, n.device_id, n.provider, n.origin, now.started_at, b.run AS run_before,
           now.source_commit, was.source_commit AS commit_before, now.provider_digest, was.provider_digest AS digest_before,
           d.driver, e.driver AS driver_before, d.toolchain, e.toolchain AS toolchain_before
    FROM found AS f
         CROSS JOIN series_names AS n ON n.series = f.id
         CROSS JOIN night AS b ON b.id = f.id AND b.place = f.place - 1
         CROSS JOIN outcomes AS now ON now.series = f.id AND now.run = f.run AND now.verdict_code IN (0, 6)
         CROSS JOIN outcomes AS was ON was.series = f.id AND was.run = b.run AND was.verdict_code IN (0, 6)
         CROSS JOIN run_devices AS d ON d.run = f.run AND d.device_id = n.device_id
         CROSS JOIN run_devices AS e ON e.run = b.run AND e.device_id = n.device_id
    -- Two attempts or builds in one run would show a step twice.
    GROUP BY f.id, f.place
)
SELECT CASE WHEN z < 6 OR n_after < 3 THEN 'AMBIGUOUS'
            WHEN size > 0 THEN 'SLOWER' ELSE 'FASTER' END AS answer,
       case_name, arch, device_id, provider, origin, round(100 * (exp(size) - 1), 1) AS percent,
       round(exp(y_before), 2) AS us_before, round(exp(y_after), 2) AS us_after, round(z, 1) AS z,
       round(100 * s, 2) AS noise_percent, n_before, n_after, started_at AS shifted_at, run AS first_run,
       run_before AS last_run_before,
       COALESCE(commit_before, 'unknown') || '..' || COALESCE(source_commit, 'unknown') AS commits,
       COALESCE(nullif(ltrim(CASE WHEN provider_digest IS NOT digest_before THEN ', build' ELSE '' END
           || CASE WHEN driver IS NOT driver_before THEN ', driver' ELSE '' END
           || CASE WHEN toolchain IS NOT toolchain_before THEN ', compiler' ELSE '' END, ', '), ''),
           'nothing on record') AS changed,
       CASE WHEN abs(y_newest - y_after) < abs(size) / 2 THEN 'still' ELSE 'no longer' END AS still
FROM named
WHERE device_id GLOB COALESCE(:device, '*') AND provider GLOB COALESCE(:provider, '*')
  AND case_name GLOB COALESCE(:case, '*')
  AND (COALESCE(arch, '') GLOB COALESCE(:arch, '*') OR arch GLOB :arch || ':*')
ORDER BY answer = 'AMBIGUOUS', abs(size) DESC, case_name, device_id;
