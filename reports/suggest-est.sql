-- SPDX-License-Identifier: Apache-2.0
-- suggest-est: how long each suite takes on each kind of machine, and the registration line for SGLang's CI
-- :suite  only this suite (default: all)
-- :runs   how many of the newest runs count (default: 30)
--
-- est_time is the 90th percentile of the wall time of complete runs, rounded up to the next 10 seconds: the registered
-- file then stays within its limit on nine nights of ten. Runs that were excluded, or did not end by themselves (exit
-- codes 0 and 1), say nothing about time; nor do runs that stop at the first failure.
--
-- A shard is a part of a night: shards of one number are a group of their own (column shards; 1: whole nights), and only
-- whole nights give a registration line.
WITH arguments AS (
    SELECT run,
           (SELECT CASE WHEN a.value LIKE '--shard=%' THEN substr(a.value, 9)
                   ELSE (SELECT b.value FROM json_each(runs.argv) AS b WHERE b.key = a.key + 1) END
            FROM json_each(runs.argv) AS a WHERE a.value = '--shard' OR a.value LIKE '--shard=%' LIMIT 1) AS shard,
           EXISTS (SELECT 1 FROM json_each(runs.argv) WHERE value = '--fail-fast') AS stops_early
    FROM runs WHERE json_valid(runs.argv)
), timed AS (
    SELECT runs.suite AS suite, run_devices.backend AS backend, run_devices.arch AS arch,
           max(COALESCE(CAST(substr(shard, instr(shard, '/') + 1) AS INTEGER), 1), 1) AS shards,
           (julianday(runs.ended_at) - julianday(runs.started_at)) * 86400 AS seconds,
           row_number() OVER (PARTITION BY runs.suite, run_devices.backend, run_devices.arch,
                                           COALESCE(substr(shard, instr(shard, '/') + 1), '1')
                              ORDER BY runs.started_at DESC) AS age
    FROM runs JOIN run_devices ON run_devices.run = runs.run LEFT JOIN arguments ON arguments.run = runs.run
    WHERE runs.suite IS NOT NULL AND runs.exit_code IN (0, 1) AND NOT runs.excluded
          AND NOT COALESCE(stops_early, 0)
          AND runs.suite = COALESCE(:suite, runs.suite)
), ranked AS (
    SELECT suite, backend, arch, shards, seconds,
           row_number() OVER (PARTITION BY suite, backend, arch, shards ORDER BY seconds) AS place,
           count(*) OVER (PARTITION BY suite, backend, arch, shards) AS n
    FROM timed WHERE age <= COALESCE(:runs, 30)
), estimated AS (
    -- The smallest time that at least 50 and 90 of 100 runs stay within.
    SELECT suite, backend, arch, shards, n AS runs,
           min(seconds) FILTER (WHERE place * 100 >= n * 50) AS p50,
           min(seconds) FILTER (WHERE place * 100 >= n * 90) AS p90,
           max(seconds) AS longest
    FROM ranked GROUP BY suite, backend, arch, shards
), rounded AS (
    SELECT *, 10 * (CAST(p90 / 10 AS INTEGER) + (p90 / 10 > CAST(p90 / 10 AS INTEGER))) AS est_time FROM estimated
)
SELECT suite, backend, arch, shards, runs, round(p50, 1) AS p50_s, round(p90, 1) AS p90_s, round(longest, 1) AS longest_s,
       est_time,
       CASE WHEN shards > 1 THEN NULL
            WHEN suite = 'jit-kernel-unit-test-amd'
            THEN 'register_amd_ci(est_time=' || est_time || ', suite="jit-kernel-unit-test-amd")'
            WHEN suite = 'nightly-amd'
            THEN 'register_amd_ci(est_time=' || est_time || ', suite="nightly-amd-kernel-1-gpu", nightly=True)'
       END AS registration
FROM rounded ORDER BY suite, backend, arch, shards;
