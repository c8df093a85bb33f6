-- divergences: cases on which two devices disagree, as dated objects; open ones first
-- :arch           one of the two has this architecture, a glob (default: *)
-- :device         one of the two has this device_id, a glob (default: *)
-- :provider       provider, a glob (default: *)
-- :case           case_name, a glob (default: *)
-- :days           digests that differed once are looked for in so many days before the newest run (default: 90)
-- :min_nights     a closed one lasted at least so many common nights; fewer is chance (default: 2)
-- :include_flaky  1 lists what came and went by chance, too (default: 0)
--
-- SPDX-License-Identifier: Apache-2.0
--
-- Devices are compared night by night, from noon to noon UTC, each by the last result of that night, and only where
-- both tested the same source commit (or it is unknown). Two devices that never met on a night are compared by their
-- latest results. The same case, provider and input bytes are compared, whatever the origin of the code.
--
-- kind: `verdict`: good on one, bad on the other. `bytes`: both good and both promise level canonical, yet the output
-- digests differ. `set`: both good and both promise ties to the lowest index, yet the set digests differ. Digests are
-- only compared under equal promises about zeroes, NaN, -inf, padding and lengths; `set` not for what `nan=any` leaves
-- unranked. level: the first level that the one holds and the other does not.
--
-- moved: the device whose result changed when it began, and what changed there; with_it: how many open divergences
-- began on the same night with the same device moving. Many that all point one way speak of the device's surroundings
-- (driver, cooling, a build for it) rather than of a case.
WITH promise AS MATERIALIZED (
    SELECT run, provider, provider_digest, origin, words LIKE '% tie=any %' AS tie_any,
           words LIKE '% nan=any %' AS nan_any,
           (words LIKE '% zero=bits %') || (words LIKE '% nan=any %') || (words LIKE '% nan=bits %')
           || (words LIKE '% nan=largest %') || (words LIKE '% nan=never %') || (words LIKE '% neg_inf=hole %')
           || (words LIKE '% padding=unspecified %') || (words LIKE '% negative_length=empty %')
           || (words LIKE '% overlong=clamped %') AS ranking
    FROM (SELECT *, ' ' || claims || ' ' AS words FROM run_providers)
), digest_now AS MATERIALIZED (
    -- By numbers, not names: the codes are those of schema.sql, 0 pass, 6 xpass.
    SELECT n.case_number, n.provider, n.input_hash,
           max(o.verdict_code NOT IN (0, 6)) OR min(o.output_digest) IS NOT max(o.output_digest)
           OR min(o.set_digest) IS NOT max(o.set_digest) AS suspect,
           min(o.output_digest) AS output_digest, min(o.set_digest) AS set_digest
    FROM standing_outcomes AS o CROSS JOIN series_names AS n ON n.series = o.series
    WHERE n.provider GLOB COALESCE(:provider, '*') AND n.case_name GLOB COALESCE(:case, '*')
    GROUP BY 1, 2, 3 HAVING count(*) > 1
), output_now AS MATERIALIZED (
    SELECT DISTINCT output_digest AS digest FROM digest_now WHERE output_digest IS NOT NULL
), set_now AS MATERIALIZED (
    SELECT DISTINCT set_digest AS digest FROM digest_now WHERE set_digest IS NOT NULL
), suspect AS MATERIALIZED (
    SELECT row_number() OVER () AS id, case_name, provider, input_hash FROM (
        SELECT c.case_name, d.provider, d.input_hash
        FROM digest_now AS d JOIN (SELECT DISTINCT case_number, case_name FROM series_names) AS c
             ON c.case_number = d.case_number WHERE d.suspect
        UNION
        -- What is at one now may not have been: a bad night (fail, crash, timeout, xfail), or other bytes than now. Asked
        -- in this form, the digests of a night are looked up in one set, which takes a tenth of the time that joining
        -- them by case takes.
        SELECT n.case_name, n.provider, n.input_hash FROM (
            SELECT DISTINCT r.series AS series
            FROM runs AS n CROSS JOIN outcomes AS r ON r.run = n.run
            WHERE NOT n.excluded
              AND (r.verdict_code IN (1, 2, 3, 5)
                   OR r.verdict_code = 0
                      AND n.started_at >= (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', max(started_at),
                                                           '-' || CAST(COALESCE(:days, 90) AS INTEGER) || ' days') FROM runs)
                      AND CASE r.promised_code WHEN 6 THEN r.output_digest NOT IN (SELECT digest FROM output_now)
                                               ELSE r.set_digest NOT IN (SELECT digest FROM set_now) END)
        ) AS odd CROSS JOIN series_names AS n ON n.series = odd.series
        WHERE n.provider GLOB COALESCE(:provider, '*') AND n.case_name GLOB COALESCE(:case, '*')
    )
), place AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY device_id, origin) AS id, device_id, origin
    FROM (SELECT DISTINCT device_id, origin FROM latest)
), night AS MATERIALIZED (
    -- The last result of each night. The columns beside max() are those of its row.
    SELECT s.id AS topic, p.id AS place, CAST(julianday(date(r.started_at, '-12 hours')) + 0.5 AS INTEGER) AS night,
           max(r.started_at || ' ' || r.run || printf(' %03d', r.attempt)) AS newest, r.started_at || ' ' || r.run AS at,
           r.run, r.verdict, r.level, r.promised, r.source_commit, r.driver, r.toolchain, r.provider_digest, r.origin,
           r.output_digest, r.set_digest,
           CASE WHEN r.verdict IN ('pass', 'xpass') THEN 1 WHEN r.verdict = 'flaky' THEN NULL ELSE 0 END AS good
    FROM suspect AS s
         CROSS JOIN results AS r ON r.case_name = s.case_name AND r.provider = s.provider AND r.input_hash IS s.input_hash
         JOIN place AS p ON p.device_id = r.device_id AND p.origin = r.origin
    WHERE r.verdict IN ('pass', 'xpass', 'fail', 'crash', 'timeout', 'flaky', 'xfail')
      AND r.run NOT IN (SELECT run FROM runs WHERE excluded)
    GROUP BY topic, place, night
), compared AS MATERIALIZED (
    -- turns: how often the result went from good to bad or back so far. move: what came with a change of the result.
    SELECT n.topic, n.place, n.night, n.at, n.good, n.source_commit, n.promised = 'canonical' AS canonical,
           n.promised = 'valid' AS only_valid, n.output_digest, n.set_digest, p.tie_any, p.nan_any, p.ranking, n.move,
           sum(n.turned) OVER nights AS turns, n.night = max(n.night) OVER (PARTITION BY n.topic, n.place) AS is_last
    FROM (SELECT *, COALESCE(good <> lag(good) OVER nights, 0) AS turned,
                 CASE WHEN lag(night) OVER nights IS NULL THEN 'its first night'
                      WHEN good IS NOT lag(good) OVER nights OR good AND output_digest IS NOT lag(output_digest) OVER nights
                      THEN COALESCE(nullif(ltrim(
                           CASE WHEN provider_digest IS NOT lag(provider_digest) OVER nights THEN ', build' ELSE '' END
                           || CASE WHEN driver IS NOT lag(driver) OVER nights THEN ', driver' ELSE '' END
                           || CASE WHEN toolchain IS NOT lag(toolchain) OVER nights THEN ', compiler' ELSE '' END, ', '),
                           ''), 'nothing on record') ELSE '' END AS move
          FROM night WINDOW nights AS (PARTITION BY topic, place ORDER BY night)) AS n
         JOIN suspect AS s ON s.id = n.topic
         LEFT JOIN promise AS p ON p.run = n.run AND p.provider = s.provider
                               AND p.provider_digest = n.provider_digest AND p.origin = n.origin
    WINDOW nights AS (PARTITION BY n.topic, n.place ORDER BY n.night)
), pair AS (
    SELECT a.topic, a.place AS a, b.place AS b, a.night AS night_a, b.night AS night_b, a.night AS met_on,
           a.turns AS turns_a, b.turns AS turns_b, a.move AS move_a, b.move AS move_b, a.at AS at_a, b.at AS at_b,
           CASE WHEN a.good <> b.good THEN 'verdict'
                WHEN a.good + b.good = 0 OR a.ranking IS NOT b.ranking THEN NULL
                WHEN a.canonical AND b.canonical AND a.output_digest <> b.output_digest THEN 'bytes'
                WHEN a.tie_any = 0 AND b.tie_any = 0 AND a.set_digest <> b.set_digest
                     AND NOT (a.nan_any AND (a.only_valid OR b.only_valid)) THEN 'set' END AS kind
    FROM compared AS a JOIN compared AS b ON b.topic = a.topic AND b.night = a.night AND b.place > a.place
    WHERE a.good IS NOT NULL AND b.good IS NOT NULL
      AND COALESCE(a.source_commit = b.source_commit, 1)
), never_met AS (
    SELECT a.topic, a.place, b.place, a.night, b.night, max(a.night, b.night), a.turns, b.turns, a.move, b.move,
           a.at, b.at,
           CASE WHEN a.good <> b.good THEN 'verdict'
                WHEN a.good + b.good = 0 OR a.ranking IS NOT b.ranking THEN NULL
                WHEN a.canonical AND b.canonical AND a.output_digest <> b.output_digest THEN 'bytes'
                WHEN a.tie_any = 0 AND b.tie_any = 0 AND a.set_digest <> b.set_digest
                     AND NOT (a.nan_any AND (a.only_valid OR b.only_valid)) THEN 'set' END
    FROM compared AS a JOIN compared AS b ON b.topic = a.topic AND b.place > a.place
    WHERE a.is_last AND b.is_last AND a.night <> b.night AND COALESCE(a.source_commit = b.source_commit, 1)
      AND (a.topic, a.place, b.place) NOT IN (SELECT topic, a, b FROM pair)
), ordered AS (
    SELECT *, lag(kind) OVER meetings AS kind_before, lead(met_on) OVER meetings IS NULL AS is_newest,
           row_number() OVER meetings AS meeting
    FROM (SELECT * FROM pair UNION ALL SELECT * FROM never_met)
    WINDOW meetings AS (PARTITION BY topic, a, b ORDER BY met_on)
), dated AS MATERIALIZED (
    -- One episode is as many meetings of one kind as follow each other without a turn of either: bad, good unseen by
    -- the other, bad again are two.
    SELECT topic, a, b, kind, count(*) AS nights, max(is_newest) AS is_open, min(meeting) AS first_meeting,
           min(met_on) AS first_night, max(met_on) AS last_night, min(night_a) AS first_night_a,
           min(night_b) AS first_night_b, max(night_a) AS last_night_a, max(night_b) AS last_night_b
    FROM (SELECT *, sum(kind IS NOT kind_before) OVER (PARTITION BY topic, a, b ORDER BY met_on) AS episode
          FROM ordered)
    WHERE kind IS NOT NULL
    GROUP BY topic, a, b, episode, turns_a, turns_b
), told AS MATERIALIZED (
    SELECT d.*, s.case_name, s.provider, pa.device_id AS device_a, pb.device_id AS device_b,
           fa.move AS began_a, fb.move AS began_b, fa.at AS first_a, fb.at AS first_b,
           CASE WHEN fa.move <> '' AND fb.move <> ''
                THEN CASE first_meeting WHEN 1 THEN 'since both are known' ELSE 'both' END
                WHEN fa.move <> '' THEN pa.device_id
                WHEN fb.move <> '' THEN pb.device_id
                WHEN d.kind = 'verdict' THEN CASE WHEN fa.good THEN pb.device_id ELSE pa.device_id END
                ELSE 'unknown' END AS mover,
           is_open AND nights = 1
           AND EXISTS (SELECT 1 FROM dated AS e WHERE e.topic = d.topic AND e.a = d.a AND e.b = d.b AND e.nights = 1
                                                  AND e.last_night < d.first_night) AS is_chance
    FROM dated AS d
         JOIN suspect AS s ON s.id = d.topic
         JOIN place AS pa ON pa.id = d.a
         JOIN place AS pb ON pb.id = d.b
         JOIN compared AS fa ON fa.topic = d.topic AND fa.place = d.a AND fa.night = d.first_night_a
         JOIN compared AS fb ON fb.topic = d.topic AND fb.place = d.b AND fb.night = d.first_night_b
), company AS (
    SELECT mover, first_night, count(DISTINCT topic) AS with_it FROM told WHERE is_open GROUP BY 1, 2
)
SELECT t.case_name, t.provider, t.device_a, da.arch AS arch_a, t.device_b, db.arch AS arch_b, t.kind,
       CASE t.kind WHEN 'bytes' THEN 'canonical' WHEN 'set' THEN 'valid'
       ELSE CASE COALESCE(CASE WHEN la.good THEN lb.level ELSE la.level END, 'none')
            WHEN 'none' THEN 'safe' WHEN 'safe' THEN 'valid' WHEN 'valid' THEN 'set-repeatable'
            WHEN 'set-repeatable' THEN 'repeatable' WHEN 'repeatable' THEN 'invariant' ELSE 'canonical' END END AS level,
       CASE t.is_open WHEN 1 THEN 'open' ELSE 'closed' END AS state, la.verdict AS verdict_a, lb.verdict AS verdict_b,
       t.nights, substr(min(t.first_a, t.first_b), 1, 24) AS first_seen_at,
       substr(t.first_a, instr(t.first_a, ' ') + 1) AS first_run_a,
       substr(t.first_b, instr(t.first_b, ' ') + 1) AS first_run_b,
       substr(max(la.at, lb.at), 1, 24) AS last_seen_at, la.run AS last_run_a, lb.run AS last_run_b,
       t.mover || CASE WHEN t.mover = t.device_a AND began_a <> '' THEN ' (' || began_a || ')'
                       WHEN t.mover = t.device_b AND began_b <> '' THEN ' (' || began_b || ')' ELSE '' END AS moved,
       CASE WHEN t.is_open THEN c.with_it ELSE 1 END AS with_it
FROM told AS t
     JOIN night AS la ON la.topic = t.topic AND la.place = t.a AND la.night = t.last_night_a
     JOIN night AS lb ON lb.topic = t.topic AND lb.place = t.b AND lb.night = t.last_night_b
     JOIN devices AS da ON da.device_id = t.device_a
     JOIN devices AS db ON db.device_id = t.device_b
     LEFT JOIN company AS c ON c.mover = t.mover AND c.first_night = t.first_night
WHERE t.device_a <> t.device_b
  AND (t.is_open OR t.nights >= CAST(COALESCE(:min_nights, 2) AS INTEGER)
       OR CAST(COALESCE(:include_flaky, 0) AS INTEGER) <> 0)
  AND (NOT t.is_chance OR CAST(COALESCE(:include_flaky, 0) AS INTEGER) <> 0)
  AND (t.device_a GLOB COALESCE(:device, '*') OR t.device_b GLOB :device)
  AND (COALESCE(da.arch, '') GLOB COALESCE(:arch, '*') OR da.arch GLOB :arch || ':*' OR db.arch GLOB :arch
       OR db.arch GLOB :arch || ':*')
ORDER BY t.is_open DESC, first_seen_at DESC, t.case_name, t.device_a, t.device_b;
