-- SPDX-License-Identifier: Apache-2.0
--
-- Version 3 of the store: lean views, for questions that look through millions of results. They hold numbers where
-- `results` holds words, so that a row costs two look-ups instead of seven: aggregate these, then join the few series
-- that are left with `series_names`.

PRAGMA user_version = 3;

-- Every result of every run. The codes of verdict, level and promised are those of table result in schema.sql.
CREATE VIEW outcomes AS
SELECT result.series AS series, result.run_device AS run_device, run.run AS run, run.started_at AS started_at,
       run.excluded_reason IS NOT NULL AS excluded, result.attempt AS attempt, result.verdict AS verdict_code,
       result.level AS level_code, result.promised AS promised_code, result.kernel_us_p50 AS kernel_us_p50,
       result.output_digest AS output_digest, result.set_digest AS set_digest,
       run_provider.digest AS provider_digest, run_provider.source_commit AS source_commit
FROM result JOIN run_provider ON run_provider.id = result.run_provider JOIN run ON run.id = run_provider.run;

-- The same for what stands now: one row for each series.
CREATE VIEW standing_outcomes AS
SELECT latest_result.series AS series, result.verdict AS verdict_code, result.level AS level_code,
       result.promised AS promised_code, result.output_digest AS output_digest, result.set_digest AS set_digest,
       run_provider.run AS run_number
FROM latest_result CROSS JOIN result ON result.id = latest_result.result
     JOIN run_provider ON run_provider.id = result.run_provider;

-- What a series is of.
CREATE VIEW series_names AS
SELECT series.id AS series, series.test_case AS case_number, test_case.case_name AS case_name,
       device.device_id AS device_id, series.provider AS provider, series.origin AS origin,
       series.input_hash AS input_hash
FROM series JOIN device ON device.id = series.device JOIN test_case ON test_case.id = series.test_case;
