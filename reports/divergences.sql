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
    SELECT row_number() OVER () AS id, case_number, provider, input_hash FROM (
        SELECT case_number, provider, input_hash FROM digest_now WHERE suspect
        UNION
        -- What is at one now may not have been: a bad night (fail, crash, timeout, xfail), or other bytes than now. Asked
        -- in this form, the digests of a night are looked up in one set, which takes a tenth of the time that joining
        -- them by case takes.
        SELECT n.case_number, n.provider, n.input_hash FROM (
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
), calendar AS MATERIALIZED (
    -- From noon to noon; place: in the order of time.
    SELECT run, started_at, row_number() OVER (ORDER BY started_at, run) AS place,
           CAST(julianday(date(started_at, '-12 hours')) + 0.5 AS INTEGER) AS night
    FROM runs WHERE NOT excluded
), night AS MATERIALIZED (
    -- The last result of each night. The columns beside max() are those of its row. All in numbers, of which a busy year
    -- has hundreds of thousands; names come last.
    SELECT s.id AS topic, p.id AS place, c.night, max(c.place * 1000 + o.attempt) AS newest, c.place AS run_place,
           o.verdict_code, o.level_code, o.promised_code, o.source_commit, o.provider_digest, o.output_digest,
           o.set_digest,
           CASE WHEN o.verdict_code IN (0, 6) THEN 1 WHEN o.verdict_code <> 4 THEN 0 END AS good
    FROM suspect AS s
         CROSS JOIN series_names AS n ON n.case_number = s.case_number AND n.provider = s.provider
                                     AND n.input_hash IS s.input_hash
         CROSS JOIN place AS p ON p.device_id = n.device_id AND p.origin = n.origin
         CROSS JOIN outcomes AS o ON o.series = n.series
         CROSS JOIN calendar AS c ON c.run = o.run
    WHERE o.verdict_code < 7
    GROUP BY topic, p.id, c.night
), uneven AS (
    -- Most nights of most topics are at one: only what is not can be a divergence.
    SELECT topic, night FROM night GROUP BY topic, night
    HAVING min(good) <> max(good) OR min(output_digest) <> max(output_digest) OR min(set_digest) <> max(set_digest)
), compared AS MATERIALIZED (
    -- turns: how often the result went from good to bad or back so far. was, was_digest: the run and build before, where
    -- the result changed since then (NULL: it did not); 0 for the first.
    SELECT *, sum(turned) OVER (PARTITION BY topic, place ORDER BY night) AS turns
    FROM (SELECT *, COALESCE(good <> lag(good) OVER nights, 0) AS turned, lead(night) OVER nights IS NULL AS is_last,
                 CASE WHEN lag(night) OVER nights IS NULL THEN 0
                      WHEN good IS NOT lag(good) OVER nights OR good AND output_digest IS NOT lag(output_digest) OVER nights
                      THEN lag(run_place) OVER nights END AS was,
                 lag(provider_digest) OVER nights AS was_digest
          FROM night WINDOW nights AS (PARTITION BY topic, place ORDER BY night))
), promised AS MATERIALIZED (
    -- meet: what makes a pair, the night, or 0 for last ones.
    SELECT n.topic, n.place, n.night, n.good, n.turns, n.source_commit, n.output_digest, n.set_digest, n.meet, p.tie_any,
           p.nan_any, p.ranking, n.promised_code = 6 AS canonical, n.promised_code = 2 AS only_valid
    FROM (SELECT n.*, n.night AS meet FROM uneven AS u CROSS JOIN compared AS n ON n.topic = u.topic AND n.night = u.night
          UNION ALL SELECT *, 0 FROM compared WHERE is_last) AS n
         CROSS JOIN suspect AS s ON s.id = n.topic
         CROSS JOIN place AS at ON at.id = n.place
         CROSS JOIN calendar AS c ON c.place = n.run_place
         LEFT JOIN promise AS p ON p.run = c.run AND p.provider = s.provider
                               AND p.provider_digest = n.provider_digest AND p.origin = at.origin
    WHERE n.good IS NOT NULL
), kinds AS MATERIALIZED (
    SELECT * FROM (
        SELECT a.topic, a.place AS a, b.place AS b, a.meet, a.night AS night_a, b.night AS night_b, a.turns AS turns_a,
               b.turns AS turns_b,
               CASE WHEN a.good <> b.good THEN 'verdict'
                    WHEN a.good + b.good = 0 OR a.ranking IS NOT b.ranking THEN NULL
                    WHEN a.canonical AND b.canonical AND a.output_digest <> b.output_digest THEN 'bytes'
                    WHEN a.tie_any = 0 AND b.tie_any = 0 AND a.set_digest <> b.set_digest
                         AND NOT (a.nan_any AND (a.only_valid OR b.only_valid)) THEN 'set' END AS kind
        FROM promised AS a CROSS JOIN promised AS b ON b.topic = a.topic AND b.meet = a.meet
        WHERE b.place > a.place AND COALESCE(a.source_commit = b.source_commit, 1))
    WHERE kind IS NOT NULL
), meeting AS MATERIALIZED (
    -- Of those that ever were at odds, the nights on which they were not, too.
    SELECT o.topic, o.a, o.b, a.night AS night_a, a.night AS night_b, a.turns AS turns_a, b.turns AS turns_b
    FROM (SELECT DISTINCT topic, a, b FROM kinds) AS o
         CROSS JOIN compared AS a ON a.topic = o.topic AND a.place = o.a
         CROSS JOIN compared AS b ON b.topic = o.topic AND b.place = o.b AND b.night = a.night
    WHERE a.good IS NOT NULL AND b.good IS NOT NULL AND COALESCE(a.source_commit = b.source_commit, 1)
), ordered AS (
    SELECT *, lag(kind) OVER meetings AS kind_before, lead(met_on) OVER meetings IS NULL AS is_newest,
           row_number() OVER meetings AS meeting
    FROM (SELECT m.*, m.night_a AS met_on, k.kind
          FROM meeting AS m LEFT JOIN kinds AS k ON k.topic = m.topic AND k.a = m.a AND k.b = m.b AND k.meet = m.night_a
          UNION ALL
          SELECT topic, a, b, night_a, night_b, turns_a, turns_b, max(night_a, night_b), kind FROM kinds
          WHERE meet = 0 AND night_a <> night_b AND (topic, a, b) NOT IN (SELECT topic, a, b FROM meeting))
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
), began AS MATERIALIZED (
    -- What came with a change of either's result on the night on which the episode began.
    SELECT d.*, pa.device_id AS device_a, pb.device_id AS device_b, fa.good AS good_a,
           ra.started_at || ' ' || ra.run AS first_a, rb.started_at || ' ' || rb.run AS first_b,
           CASE WHEN fa.was IS NULL THEN '' WHEN fa.was = 0 THEN 'its first night'
                ELSE COALESCE(nullif(ltrim(
                     CASE WHEN fa.provider_digest IS NOT fa.was_digest THEN ', build' ELSE '' END
                     || CASE WHEN now_a.driver IS NOT was_a.driver THEN ', driver' ELSE '' END
                     || CASE WHEN now_a.toolchain IS NOT was_a.toolchain THEN ', compiler' ELSE '' END, ', '), ''),
                     'nothing on record') END AS began_a,
           CASE WHEN fb.was IS NULL THEN '' WHEN fb.was = 0 THEN 'its first night'
                ELSE COALESCE(nullif(ltrim(
                     CASE WHEN fb.provider_digest IS NOT fb.was_digest THEN ', build' ELSE '' END
                     || CASE WHEN now_b.driver IS NOT was_b.driver THEN ', driver' ELSE '' END
                     || CASE WHEN now_b.toolchain IS NOT was_b.toolchain THEN ', compiler' ELSE '' END, ', '), ''),
                     'nothing on record') END AS began_b
    FROM dated AS d
         JOIN compared AS fa ON fa.topic = d.topic AND fa.place = d.a AND fa.night = d.first_night_a
         JOIN compared AS fb ON fb.topic = d.topic AND fb.place = d.b AND fb.night = d.first_night_b
         JOIN place AS pa ON pa.id = d.a
         JOIN place AS pb ON pb.id = d.b
         JOIN calendar AS ra ON ra.place = fa.run_place
         JOIN calendar AS rb ON rb.place = fb.run_place
         LEFT JOIN run_devices AS now_a ON now_a.run = ra.run AND now_a.device_id = pa.device_id
         LEFT JOIN run_devices AS now_b ON now_b.run = rb.run AND now_b.device_id = pb.device_id
         LEFT JOIN calendar AS before_a ON before_a.place = fa.was
         LEFT JOIN calendar AS before_b ON before_b.place = fb.was
         LEFT JOIN run_devices AS was_a ON was_a.run = before_a.run AND was_a.device_id = pa.device_id
         LEFT JOIN run_devices AS was_b ON was_b.run = before_b.run AND was_b.device_id = pb.device_id
), told AS MATERIALIZED (
    SELECT *, CASE WHEN began_a <> '' AND began_b <> ''
                   THEN CASE first_meeting WHEN 1 THEN 'since both are known' ELSE 'both' END
                   WHEN began_a <> '' THEN device_a
                   WHEN began_b <> '' THEN device_b
                   WHEN kind = 'verdict' THEN CASE WHEN good_a THEN device_b ELSE device_a END
                   ELSE 'unknown' END AS mover,
           is_open AND nights = 1
           AND COALESCE(min(CASE nights WHEN 1 THEN last_night END) OVER (PARTITION BY topic, a, b) < first_night, 0)
           AS is_chance
    FROM began
), company AS (
    SELECT mover, first_night, count(DISTINCT topic) AS with_it FROM told WHERE is_open GROUP BY 1, 2
), word(code, verdict, next_level) AS (
    -- The codes of schema.sql: what a verdict is called, and the first level that one who reached this level misses.
    VALUES (0, 'pass', 'safe'), (1, 'fail', 'valid'), (2, 'crash', 'set-repeatable'), (3, 'timeout', 'repeatable'),
           (4, 'flaky', 'invariant'), (5, 'xfail', 'canonical'), (6, 'xpass', 'canonical')
)
SELECT name.case_name, s.provider, t.device_a, da.arch AS arch_a, t.device_b, db.arch AS arch_b, t.kind,
       CASE t.kind WHEN 'bytes' THEN 'canonical' WHEN 'set' THEN 'valid' ELSE missed.next_level END AS level,
       CASE t.is_open WHEN 1 THEN 'open' ELSE 'closed' END AS state, va.verdict AS verdict_a, vb.verdict AS verdict_b,
       t.nights, substr(min(t.first_a, t.first_b), 1, 24) AS first_seen_at,
       substr(t.first_a, instr(t.first_a, ' ') + 1) AS first_run_a,
       substr(t.first_b, instr(t.first_b, ' ') + 1) AS first_run_b,
       max(ra.started_at, rb.started_at) AS last_seen_at, ra.run AS last_run_a, rb.run AS last_run_b,
       t.mover || CASE WHEN t.mover = t.device_a AND began_a <> '' THEN ' (' || began_a || ')'
                       WHEN t.mover = t.device_b AND began_b <> '' THEN ' (' || began_b || ')' ELSE '' END AS moved,
       CASE WHEN t.is_open THEN c.with_it ELSE 1 END AS with_it
FROM told AS t
     CROSS JOIN suspect AS s ON s.id = t.topic
     CROSS JOIN (SELECT DISTINCT case_number, case_name FROM series_names) AS name ON name.case_number = s.case_number
     CROSS JOIN compared AS la ON la.topic = t.topic AND la.place = t.a AND la.night = t.last_night_a
     CROSS JOIN compared AS lb ON lb.topic = t.topic AND lb.place = t.b AND lb.night = t.last_night_b
     CROSS JOIN calendar AS ra ON ra.place = la.run_place
     CROSS JOIN calendar AS rb ON rb.place = lb.run_place
     CROSS JOIN word AS va ON va.code = la.verdict_code
     CROSS JOIN word AS vb ON vb.code = lb.verdict_code
     CROSS JOIN word AS missed ON missed.code = COALESCE(CASE WHEN la.good THEN lb.level_code ELSE la.level_code END, 0)
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
ORDER BY t.is_open DESC, first_seen_at DESC, name.case_name, t.device_a, t.device_b;
