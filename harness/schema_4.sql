-- SPDX-License-Identifier: Apache-2.0
--
-- Version 4 of the store: sessions of guards that do not count, as `topkcts exclude SESSION --reason TEXT` says. A table
-- of its own, by name: a merge may replace an unfinished session by the whole one, and what was said of it stays.

PRAGMA user_version = 4;

CREATE TABLE guard_exclusion (
    session TEXT PRIMARY KEY,                  -- its name
    reason  TEXT NOT NULL CHECK (reason <> '')
) STRICT;

-- One row for each session of a guard that does not count.
CREATE VIEW guard_exclusions AS SELECT session, reason FROM guard_exclusion;
