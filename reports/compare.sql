-- SPDX-License-Identifier: Apache-2.0
-- compare: two runs, labels, devices or providers, case by case: SAME FIXED BROKEN NEW GONE DIFFERS
-- :a     a run, a label, a device (device_id or architecture) or a provider
-- :b     another of the same kind
-- :kind  run, label, device or provider (default: the first of these that both are)
--
-- Of a run, its own results count; of a label, the newest judged ones of all runs that carry it; of a device or a
-- provider, the latest. Results are matched by case and by whatever else the two sides share: device, provider, origin.
-- Where one side has several results for one such key, its worst stands.
--
--   SAME     both good with equal digests, or bad in the same way     FIXED    bad in A, good in B
--   DIFFERS  both good with other bytes, or bad in another way        BROKEN   good in A, bad in B
--   NEW      judged in B only                                         GONE     judged in A only
--
-- Good is pass or xpass; bad is fail, crash, timeout, flaky, or xfail, which counts as fail. Output digests are
-- compared where both promise level canonical, set digests where both promise ties to the lowest index, either only
-- under equal promises about zeroes, NaN, -inf, padding and lengths, and equal input bytes.
WITH kinds AS (
    SELECT COALESCE(:kind, CASE
        WHEN :a IN (SELECT run FROM runs) AND :b IN (SELECT run FROM runs) THEN 'run'
        WHEN :a IN (SELECT label FROM runs) AND :b IN (SELECT label FROM runs) THEN 'label'
        WHEN EXISTS (SELECT 1 FROM devices WHERE device_id = :a OR arch = :a OR arch GLOB :a || ':*')
             AND EXISTS (SELECT 1 FROM devices WHERE device_id = :b OR arch = :b OR arch GLOB :b || ':*') THEN 'device'
        WHEN :a IN (SELECT provider FROM run_providers) AND :b IN (SELECT provider FROM run_providers) THEN 'provider'
        END) AS kind
), promise AS MATERIALIZED (
    SELECT run, provider, provider_digest, origin, words LIKE '% tie=any %' AS tie_any,
           words LIKE '% nan=any %' AS nan_any,
           (words LIKE '% zero=bits %') || (words LIKE '% nan=any %') || (words LIKE '% nan=bits %')
           || (words LIKE '% nan=largest %') || (words LIKE '% nan=never %') || (words LIKE '% neg_inf=hole %')
           || (words LIKE '% padding=unspecified %') || (words LIKE '% negative_length=empty %')
           || (words LIKE '% overlong=clamped %') AS ranking
    FROM (SELECT *, ' ' || claims || ' ' AS words FROM run_providers)
), side AS MATERIALIZED (
    SELECT 0 AS is_b, :a AS word UNION ALL SELECT 1, :b
), raw AS MATERIALIZED (
    SELECT s.is_b, r.device_id, r.provider, r.origin, r.case_name, r.input_hash, r.run, r.started_at, r.attempt,
           r.provider_digest, r.verdict, r.promised, r.level, r.output_digest, r.set_digest, r.reason
    FROM kinds CROSS JOIN side AS s CROSS JOIN results AS r ON r.run = s.word
    WHERE kind = 'run'
    UNION ALL
    SELECT s.is_b, r.device_id, r.provider, r.origin, r.case_name, r.input_hash, r.run, r.started_at, r.attempt,
           r.provider_digest, r.verdict, r.promised, r.level, r.output_digest, r.set_digest, r.reason
    FROM kinds CROSS JOIN side AS s CROSS JOIN runs AS n ON n.label = s.word CROSS JOIN results AS r ON r.run = n.run
    WHERE kind = 'label' AND NOT n.excluded AND r.verdict NOT IN ('error', 'skip', 'notrun')
    UNION ALL
    SELECT s.is_b, r.device_id, r.provider, r.origin, r.case_name, r.input_hash, r.run, r.started_at, r.attempt,
           r.provider_digest, r.verdict, r.promised, r.level, r.output_digest, r.set_digest, r.reason
    FROM kinds CROSS JOIN latest AS r CROSS JOIN side AS s
    WHERE kind = 'device' AND (r.device_id = s.word OR r.arch = s.word OR r.arch GLOB s.word || ':*')
       OR kind = 'provider' AND r.provider = s.word
), shared AS (
    SELECT (SELECT kind FROM kinds) IN ('run', 'label', 'provider')
           AND EXISTS (SELECT device_id FROM raw WHERE NOT is_b INTERSECT SELECT device_id FROM raw WHERE is_b) AS device,
           (SELECT kind FROM kinds) IN ('run', 'label', 'device')
           AND EXISTS (SELECT provider FROM raw WHERE NOT is_b INTERSECT SELECT provider FROM raw WHERE is_b) AS provider,
           (SELECT kind FROM kinds) IN ('run', 'label')
           AND EXISTS (SELECT origin FROM raw WHERE NOT is_b INTERSECT SELECT origin FROM raw WHERE is_b) AS origin
), newest AS (
    -- The last attempt of the newest run of each series: the columns beside max() are those of its row.
    SELECT *, max(started_at || ' ' || run || printf(' %03d', attempt)) FROM raw
    GROUP BY is_b, device_id, provider, origin, case_name, input_hash
), worst AS MATERIALIZED (
    SELECT n.*, CASE WHEN shared.device THEN n.device_id ELSE '' END AS key_device,
           CASE WHEN shared.provider THEN n.provider ELSE '' END AS key_provider,
           CASE WHEN shared.origin THEN n.origin ELSE '' END AS key_origin,
           CASE n.verdict WHEN 'xfail' THEN 'fail' WHEN 'xpass' THEN 'pass' ELSE n.verdict END AS way,
           max(CASE WHEN n.verdict IN ('pass', 'xpass') THEN 1
                    WHEN n.verdict IN ('fail', 'crash', 'timeout', 'flaky', 'xfail') THEN 2 ELSE 0 END) AS standing
    FROM newest AS n CROSS JOIN shared
    GROUP BY is_b, case_name, key_device, key_provider, key_origin
), promised AS MATERIALIZED (
    SELECT w.*, p.tie_any, p.nan_any, p.ranking FROM worst AS w
         LEFT JOIN promise AS p ON p.run = w.run AND p.provider = w.provider AND p.provider_digest = w.provider_digest
                               AND p.origin = w.origin
    WHERE w.standing > 0
), met AS (
    SELECT a.case_name, a.device_id AS device_a, b.device_id AS device_b, a.provider AS provider_a,
           b.provider AS provider_b, a.verdict AS verdict_a, b.verdict AS verdict_b, a.run AS run_a, b.run AS run_b,
           COALESCE(b.reason, a.reason) AS reason,
           CASE WHEN b.case_name IS NULL THEN 'GONE'
                WHEN a.standing = 2 AND b.standing = 1 THEN 'FIXED'
                WHEN a.standing = 1 AND b.standing = 2 THEN 'BROKEN'
                WHEN a.standing = 2 THEN CASE WHEN a.way = b.way THEN 'SAME' ELSE 'DIFFERS' END
                WHEN a.input_hash IS NOT b.input_hash OR a.ranking IS NOT b.ranking THEN 'SAME'
                WHEN a.promised = 'canonical' AND b.promised = 'canonical' AND a.output_digest <> b.output_digest
                     THEN 'DIFFERS'
                WHEN a.tie_any = 0 AND b.tie_any = 0 AND a.set_digest <> b.set_digest
                     AND NOT (a.nan_any AND (a.promised = 'valid' OR b.promised = 'valid')) THEN 'DIFFERS'
                ELSE 'SAME' END AS answer,
           CASE WHEN b.case_name IS NULL THEN '' WHEN a.input_hash IS NOT b.input_hash THEN 'other input bytes'
                WHEN a.standing + b.standing > 2 THEN CASE WHEN a.verdict IS NOT b.verdict
                                                           THEN a.verdict || ' -> ' || b.verdict ELSE '' END
                WHEN a.ranking IS NOT b.ranking THEN 'other promises: digests not compared'
                WHEN a.promised = 'canonical' AND b.promised = 'canonical' AND a.output_digest <> b.output_digest
                     THEN 'output bytes'
                WHEN a.tie_any = 0 AND b.tie_any = 0 AND a.set_digest <> b.set_digest
                     AND NOT (a.nan_any AND (a.promised = 'valid' OR b.promised = 'valid')) THEN 'selected sets'
                ELSE '' END AS why
    FROM promised AS a
         LEFT JOIN promised AS b ON b.is_b AND b.case_name = a.case_name AND b.key_device = a.key_device
                                AND b.key_provider = a.key_provider AND b.key_origin = a.key_origin
    WHERE NOT a.is_b
    UNION ALL
    SELECT b.case_name, NULL, b.device_id, NULL, b.provider, NULL, b.verdict, NULL, b.run, b.reason, 'NEW', ''
    FROM promised AS b
         LEFT JOIN promised AS a ON NOT a.is_b AND a.case_name = b.case_name AND a.key_device = b.key_device
                                AND a.key_provider = b.key_provider AND a.key_origin = b.key_origin
    WHERE b.is_b AND a.case_name IS NULL
)
SELECT answer, case_name, verdict_a, verdict_b, why, device_a, device_b, provider_a, provider_b, run_a, run_b, reason,
       (SELECT kind FROM kinds) AS kind
FROM met
ORDER BY CASE answer WHEN 'BROKEN' THEN 1 WHEN 'DIFFERS' THEN 2 WHEN 'FIXED' THEN 3 WHEN 'NEW' THEN 4
                     WHEN 'GONE' THEN 5 ELSE 6 END, case_name, device_a, device_b, provider_a, provider_b;
