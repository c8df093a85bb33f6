-- SPDX-License-Identifier: Apache-2.0
-- runs: every run with its counts, newest first; the names that `exclude` and `compare` take
-- :label  only runs with this label (default: all)
-- :last   how many (default: 30)
SELECT runs.run AS run, started_at, label, suite, host, exit_code, excluded,
       (SELECT group_concat(device_id, ' ') FROM run_devices WHERE run_devices.run = runs.run) AS devices,
       (SELECT group_concat(provider, ' ') FROM run_providers WHERE run_providers.run = runs.run) AS providers,
       (SELECT count(*) FROM results WHERE results.run = runs.run) AS results,
       (SELECT count(*) FROM results WHERE results.run = runs.run AND verdict IN ('pass', 'xfail', 'xpass')) AS good,
       (SELECT count(*) FROM results
        WHERE results.run = runs.run AND verdict IN ('fail', 'crash', 'timeout', 'flaky')) AS bad,
       (SELECT count(*) FROM results
        WHERE results.run = runs.run AND verdict IN ('error', 'skip', 'notrun')) AS not_judged
FROM runs
WHERE :label IS NULL OR label = :label
ORDER BY started_at DESC, run DESC
LIMIT COALESCE(:last, 30);
