#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# compare: two real runs of which one has a planted fault; every outcome in made results; wrong words; exit codes.
set -u
fail() { echo "$*"; exit 1; }

"$TOPKCTS" run 'boundary-ties/*topk=512,length=4096*' --provider reference --db t.db --label before >/dev/null 2>&1 ||
    fail "the good run ended with $?"
"$TOPKCTS" compare before before --db t.db >out || fail "before with itself ended with $?"
grep -q '0 FIXED, 0 BROKEN, 0 NEW, 0 GONE, 0 DIFFERS' out || fail "a run differs from itself: $(cat out)"

# Every outcome, made from the good run: a copy of it, changed in one result each.
sqlite3 t.db "
CREATE TEMP TABLE pick AS SELECT result.id, row_number() OVER (ORDER BY result.id) AS n FROM result;
INSERT INTO run (run, started_at, ended_at, label, meta, exit_code)
    SELECT 'after-1', '2099-01-01T00:00:00.000Z', '2099-01-01T00:00:01.000Z', 'after', 0, 1;
INSERT INTO run_device (run, device, backend, wave_size, lds_bytes, memory_bytes)
    SELECT (SELECT max(id) FROM run), device, backend, wave_size, lds_bytes, memory_bytes FROM run_device;
INSERT INTO run_provider (run, provider, digest, origin, claims)
    SELECT (SELECT max(id) FROM run), provider, digest, origin, claims FROM run_provider;
INSERT INTO result (run_provider, run_device, test_case, series, attempt, promised, in_budget, verdict, output_digest)
    SELECT (SELECT max(id) FROM run_provider), (SELECT max(id) FROM run_device), test_case, series, 1, promised, 1,
           CASE n WHEN 1 THEN 1 WHEN 2 THEN 2 WHEN 3 THEN 8 ELSE 0 END,
           CASE n WHEN 4 THEN zeroblob(16) ELSE output_digest END FROM result JOIN pick USING (id);" || fail "sqlite3"
n=$(sqlite3 t.db "SELECT count(*) FROM result WHERE run_provider = 1")
[ "$n" -ge 5 ] || fail "too few cases: $n"
"$TOPKCTS" compare before after --db t.db >out || fail "compare ended with $?: $(cat out)"
grep -q "$((n - 4)) SAME, 0 FIXED, 2 BROKEN, 0 NEW, 1 GONE, 1 DIFFERS" out || fail "forward: $(cat out)"
"$TOPKCTS" compare after before --db t.db >out || fail "compare ended with $?"
grep -q "$((n - 4)) SAME, 2 FIXED, 0 BROKEN, 1 NEW, 0 GONE, 1 DIFFERS" out || fail "backward: $(cat out)"
"$TOPKCTS" compare before after --db t.db --json | python3 -c '
import json, sys
got = json.load(sys.stdin)
assert got["kind"] == "label" and got["counts"]["BROKEN"] == 2, got["counts"]
assert {c["answer"] for c in got["cases"]} == {"BROKEN", "GONE", "DIFFERS"}, got["cases"]
' || fail "the JSON is not right"

"$TOPKCTS" compare before after --db t.db --fail-on NEW >/dev/null || fail "--fail-on NEW ended with $?"
"$TOPKCTS" compare before after --db t.db --fail-on NEW --fail-on BROKEN >/dev/null; rc=$?
[ $rc = 1 ] || fail "--fail-on BROKEN ended with $rc, not 1"
"$TOPKCTS" compare before nothing --db t.db >/dev/null 2>err; rc=$?
[ $rc = 2 ] || fail "an unknown word ended with $rc, not 2"
grep -q "after, before" err || fail "the message lists no labels: $(cat err)"
"$TOPKCTS" compare before --db t.db >/dev/null 2>&1; rc=$?
[ $rc = 2 ] || fail "one word ended with $rc, not 2"
"$TOPKCTS" compare before after --db t.db --fail-on SOME >/dev/null 2>err; rc=$?
[ $rc = 2 ] && grep -q 'DIFFERS' err || fail "--fail-on SOME: $rc, $(cat err)"
"$TOPKCTS" compare before after --db missing.db >/dev/null 2>&1; rc=$?
[ $rc = 3 ] || fail "a missing database ended with $rc, not 3"
exit 0
