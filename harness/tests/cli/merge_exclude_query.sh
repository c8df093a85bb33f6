#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# merge, exclude and query as people use them: exit codes, messages, forms of answers, stale nights.
set -eu
home=$(cd "$(dirname "$0")/../../.." && pwd)
fail() { echo "$*"; exit 1; }
expect() { # expect CODE TEXT command..: the exit code, and a text in what was printed
    code=$1 text=$2
    shift 2
    status=0
    "$@" >out 2>&1 || status=$?
    [ $status = "$code" ] || { cat out; fail "exit $status, expected $code: $*"; }
    grep -qF -e "$text" out || { cat out; fail "no '$text' in the answer of: $*"; }
}
cases='few-winners/topk=512,*'

"$TOPKCTS" run "$cases" --provider reference --db one.db --label first >log 2>&1 || { cat log; fail "run"; }
"$TOPKCTS" run "$cases" --provider reference --db two.db --label second >log 2>&1 || { cat log; fail "run"; }
first=$(sqlite3 one.db 'SELECT run FROM runs')
second=$(sqlite3 two.db 'SELECT run FROM runs')
n=$(sqlite3 one.db 'SELECT count(*) FROM results')

# merge
expect 2 "merge needs" "$TOPKCTS" merge
expect 2 "merge needs" "$TOPKCTS" merge all.db
expect 3 "no such file" "$TOPKCTS" merge missing-only.db missing.db
grep -q "others" out && fail "others are told of where there are none"
[ ! -e missing-only.db ] || fail "merge made an empty database"
expect 0 "2 of 2 databases merged" "$TOPKCTS" merge all.db one.db two.db
expect 0 "$((2 * n)) known" "$TOPKCTS" merge all.db one.db two.db
expect 2 "the same file" "$TOPKCTS" merge all.db all.db
echo nonsense >bad.db
expect 3 "1 of 2 databases could not be merged; the others were" "$TOPKCTS" merge all.db bad.db one.db
expect 3 "1 of 1 databases could not be merged" "$TOPKCTS" merge all.db bad.db
grep -q "others" out && fail "others are told of where there are none"
expect 3 "missing.db" "$TOPKCTS" merge fresh.db missing.db one.db
[ "$(sqlite3 fresh.db 'SELECT count(*) FROM results')" = "$n" ] || fail "a missing source keeps others out of a new database"
cp one.db other.db
sqlite3 other.db "UPDATE result SET verdict = 1, reason = 'it differs' WHERE id = 1"
expect 1 "CONFLICT result $first" "$TOPKCTS" merge conflict.db one.db other.db
expect 1 "it differs" "$TOPKCTS" merge conflict.db one.db
"$TOPKCTS" merge json.db one.db other.db --json >out.json 2>/dev/null || true
[ "$(python3 -c 'import json; a = json.load(open("out.json")); print(a["conflicts"], len(a["shown_conflicts"]), a["added"])')" = "1 1 $n" ] || fail "merge --json"

# exclude
expect 2 "exclude needs --reason" "$TOPKCTS" exclude "$second" --db all.db
expect 2 "exclude needs one run" "$TOPKCTS" exclude --reason x --db all.db
expect 2 "there is no run nothing; \`topkcts query runs --db all.db\` lists the runs" "$TOPKCTS" exclude nothing --reason x --db all.db
expect 3 "no such file" "$TOPKCTS" exclude "$second" --reason x --db nowhere.db
[ ! -e nowhere.db ] || fail "exclude made a database"
[ "$(sqlite3 all.db 'SELECT DISTINCT run FROM latest')" = "$second" ] || fail "the newest run is not latest"
expect 0 "does not count any more" "$TOPKCTS" exclude "$second" --reason 'loose cable' --db all.db
[ "$(sqlite3 all.db 'SELECT DISTINCT run FROM latest')" = "$first" ] || fail "latest did not fall back to the first run"
expect 0 "known" "$TOPKCTS" merge all.db two.db
[ "$(sqlite3 all.db 'SELECT DISTINCT run FROM latest')" = "$first" ] || fail "merging again brought an excluded run back"

# query
expect 0 "stale" "$TOPKCTS" query
expect 2 "suggest-est" "$TOPKCTS" query no-such-query --db all.db
for sql in "$home"/reports/*.sql; do
    grep -qF "$(sed -n "s/^-- $(basename "$sql" .sql): //p" "$sql")" out || { cat out; fail "no summary of $sql"; }
done
expect 2 "--last" "$TOPKCTS" query runs --no-such 3 --db all.db
expect 3 "no such file" "$TOPKCTS" query runs --db nowhere.db
expect 2 "exclude each other" "$TOPKCTS" query runs --json --csv --db all.db
expect 0 "second" "$TOPKCTS" query runs --db all.db
expect 0 "runs: nothing" "$TOPKCTS" query runs --label third --db all.db
expect 1 "second" "$TOPKCTS" query runs --fail-on runs --db all.db
expect 0 "runs: nothing" "$TOPKCTS" query --fail-on runs --label=third --db all.db
expect 0 "| --- |" "$TOPKCTS" query runs --markdown --db all.db
"$TOPKCTS" query runs --last 1 --json --db all.db >out.json
[ "$(python3 -c 'import json; a = json.load(open("out.json")); print(len(a), a[0]["label"], a[0]["excluded"] == 1)')" = "1 second True" ] || fail "query --json"
"$TOPKCTS" query runs --csv --db all.db >out.csv
[ "$(python3 -c 'import csv; print([r["label"] for r in csv.DictReader(open("out.csv", newline=""))])')" = "['second', 'first']" ] || fail "query --csv"

# Every question also runs in plain sqlite3, which leaves parameters NULL.
for sql in "$home"/reports/*.sql; do
    sqlite3 -bail all.db ".read '$sql'" >out 2>&1 || { cat out; fail "$sql in plain sqlite3"; }
done

# A night that never came. Everything between quotes is a device, a suite and the hours it may be silent.
mkdir -p private/cases
cat >private/cases/mine.yaml <<'YAML'
- id: mine
  summary: a private registry has a family at least
  fault: tie-break
  generator: random
  matrix: {topk: [1], length: [9]}
YAML
fleet() { printf '%s\n' "- {device_id: \"$1\", suite: $2, every_hours: $3}" >private/fleet.yaml; }
"$TOPKCTS" run --suite smoke --provider reference --db night.db >log 2>&1 || { cat log; fail "run"; }
fleet 'host:*' smoke 1
expect 0 "stale: nothing" "$TOPKCTS" query stale --fail-on stale --registry private --db night.db
expect 1 "host:x86_64" "$TOPKCTS" query stale --fail-on stale --registry private --db night.db --now "$(date -u -d '+61 minutes' +%FT%TZ)"
expect 0 "host:x86_64" "$TOPKCTS" query stale --registry private --db night.db --now "$(date -u -d '+61 minutes' +%FT%TZ)"
fleet 'GPU-never-seen' smoke 24
expect 1 "GPU-never-seen" "$TOPKCTS" query --fail-on stale --registry private --db night.db
fleet 'host:*' race 24
expect 1 "race" "$TOPKCTS" query --fail-on stale --registry private --db night.db
# A night in which nothing was judged is none, and neither is one that was excluded.
fleet 'host:*' smoke 24
cp night.db empty-night.db
sqlite3 empty-night.db 'UPDATE result SET verdict = 8'
expect 1 "host:x86_64" "$TOPKCTS" query --fail-on stale --registry private --db empty-night.db
"$TOPKCTS" exclude "$(sqlite3 night.db 'SELECT run FROM runs')" --reason 'wrong kernel' --db night.db >log
expect 1 "host:x86_64" "$TOPKCTS" query --fail-on stale --registry private --db night.db

# fleet.yaml is checked with the rest of the registry.
fleet 'host:*' no-such-suite 24
expect 2 "nightly-amd" "$TOPKCTS" check --registry private
grep -qF "private/fleet.yaml:1" out || { cat out; fail "no file and line"; }
fleet 'host:*' smoke 0
expect 2 "every_hours" "$TOPKCTS" list smoke --registry private
printf '%s\n' '- {device_id: x, suite: smoke}' >private/fleet.yaml
expect 2 "lacks the required key 'every_hours'" "$TOPKCTS" list --registry private
printf '%s\n' '- {device_id: x, suite: smoke, every_hours: 2}' '- {device_id: x, suite: smoke, every_hours: 3}' >private/fleet.yaml
expect 2 "twice" "$TOPKCTS" list --registry private

# suggest-est: the 90th percentile of ten nights of 61 to 70 seconds is 69, rounded up to 70; a killed night says nothing.
rm -f est.db
sqlite3 est.db ".read $home/harness/schema.sql" "
INSERT INTO device VALUES (1, 'GPU-1');
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 11)
INSERT INTO run (id, run, started_at, ended_at, suite, exit_code, meta)
    SELECT i, 'r' || i, printf('2026-11-%02dT00:00:00Z', i),
           CASE WHEN i < 11 THEN printf('2026-11-%02dT00:01:%02dZ', i, i) ELSE '2026-11-12T00:00:00Z' END,
           'nightly-amd', CASE WHEN i < 11 THEN 0 ELSE 3 END, 0 FROM n;
INSERT INTO run_device SELECT id, id, 1, 'hip', 'x', 'gfx942', 64, 1, 1, NULL, NULL, NULL FROM run;"
expect 0 'register_amd_ci(est_time=70, suite="nightly-amd-kernel-1-gpu", nightly=True)' "$TOPKCTS" query suggest-est --db est.db
# An old database answers the questions that need newer views, too, and stays as it is.
for question in divergences level-drops time-shifts; do
    expect 0 "" "$TOPKCTS" query $question --db est.db
done
[ "$(sqlite3 est.db 'PRAGMA user_version')" = 1 ] || fail "a query migrated the database"

# Shards of nights, however said, and a night that stopped at its first failure leave that as it is.
sqlite3 est.db "
WITH RECURSIVE n(i) AS (SELECT 20 UNION ALL SELECT i + 1 FROM n WHERE i < 28)
INSERT INTO run (id, run, started_at, ended_at, suite, exit_code, meta, argv)
    SELECT i, 'r' || i, printf('2026-11-%02dT00:00:00Z', i), printf('2026-11-%02dT00:00:15Z', i), 'nightly-amd', 0, 0,
           CASE i WHEN 28 THEN '[\"topkcts\",\"run\",\"--fail-fast\"]' WHEN 27 THEN '[\"topkcts\",\"run\",\"--shard=2/4\"]'
                  ELSE '[\"topkcts\",\"run\",\"--shard\",\"1/4\"]' END FROM n;
INSERT INTO run_device SELECT id, id, 1, 'hip', 'x', 'gfx942', 64, 1, 1, NULL, NULL, NULL FROM run WHERE id >= 20;"
expect 0 'register_amd_ci(est_time=70, suite="nightly-amd-kernel-1-gpu", nightly=True)' "$TOPKCTS" query suggest-est --db est.db
"$TOPKCTS" query suggest-est --db est.db --csv >out
[ "$(grep -c 'nightly-amd,hip' out)" = 2 ] && grep -q '^nightly-amd,hip,gfx942,1,10,' out && grep -q '^nightly-amd,hip,gfx942,4,8,' out ||
    { cat out; fail "shards and whole nights are not told apart"; }

# A word is later than every time: it is refused, and not answered with nothing.
for when in monday 2026-11-99 2026-11 2026-11-30T; do
    expect 2 "--since $when: no time" "$TOPKCTS" query regressions --since $when --db all.db
done
expect 0 "" "$TOPKCTS" query regressions --since 2026-11-30T13:00 --db all.db

# Nothing is no answer to a name that no run of the database has: it would read as if all were well.
expect 2 "there are x86_64" "$TOPKCTS" query regressions --arch gfx1100 --db all.db
expect 2 "there are host:x86_64" "$TOPKCTS" query regressions history --device 'GPU-*' --fail-on regressions --db all.db
expect 2 "no run had this provider" "$TOPKCTS" query flaky --provider v11 --db all.db
expect 2 "no result has this case_name" "$TOPKCTS" query regressions --case boundary-ties --db all.db
expect 0 "regressions: nothing" "$TOPKCTS" query regressions --arch 'x86*' --device 'host*' --provider reference --db all.db
