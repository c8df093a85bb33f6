#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What --resume does and refuses beyond going on: a case that kills its runner twice, changed providers and registries,
# unknown runs, runs under way, finished runs, retries that were due.
set -u
plugins=$BUILD/harness/tests/plugins
fail() { echo "FAILED: $*"; [ -f log ] && tail -5 log; exit 1; }
sql() { sqlite3 r.db "$1"; }
expect() { # code text command...
    code=$1 text=$2
    shift 2
    "$@" >log 2>&1
    got=$?
    [ "$got" = "$code" ] || fail "exit $got instead of $code: $*"
    grep -q -- "$text" log || fail "no '$text' in what it printed: $*"
}

# A case in which the runner dies twice is a crash; all others come out as ever.
cp "$plugins/kills_runner.so" mine.so
expect 137 cases "$TOPKCTS" run --suite smoke --provider ./mine.so --jobs 1 --db r.db --label deadly
run=$(sql "select run from runs")
n=$(sql "select count(*) from plan where run = '$run'")
rounds=0 code=137
while [ "$code" = 137 ] && [ "$rounds" -lt 60 ]; do
    rounds=$((rounds + 1))
    "$TOPKCTS" run --resume "$run" --db r.db >log 2>&1
    code=$?
done
[ "$code" = 1 ] || fail "the run that kills its runner ends with exit $code after $rounds resumes"
deadly=$(sql "select count(*) from plan where run = '$run' and verdict = 'crash' and reason like '%runner died%twice%' and starts = 2")
[ "$deadly" -ge 2 ] || fail "only $deadly cases that killed their runner twice are crashes: $(sql "select verdict, starts, reason, count(*) from plan group by 1, 2, 3")"
[ "$(sql "select count(*) from plan where run = '$run' and topk = 1 and verdict <> 'crash'")" = 0 ] || fail "a deadly case is no crash"
[ "$(sql "select count(*) from plan where run = '$run' and verdict = 'pass' and starts = 1")" = $((n - deadly)) ] ||
    fail "a case beside the deadly ones did not pass, or ran twice"

# A finished run has nothing left: the same answer again, and nothing written twice.
expect 1 "not ok: $n cases" "$TOPKCTS" run --resume "$run" --db r.db
[ "$(sql "select count(*) from plan where run = '$run'")" = "$n" ] || fail "resuming a finished run added results"

# A provider that was built anew is another one.
"$TOPKCTS" run --suite smoke --provider ./mine.so --jobs 1 --db r.db --label changed >/dev/null 2>&1
run=$(sql "select run from runs where label = 'changed'")
cp mine.so kept.so
printf x >>mine.so
expect 2 "provider 'kills_runner' changed since" "$TOPKCTS" run --resume "$run" --db r.db
mv kept.so mine.so

# A registry that changed plans other cases.
mkdir -p private/cases
cat >private/cases/private.yaml <<Y
- id: private-ties
  summary: a family of somebody's own
  fault: tie-break
  generator: ties
  matrix: {topk: [7], length: [1025]}
  suites: {smoke: all}
Y
expect 137 cases "$TOPKCTS" run --suite smoke --provider ./mine.so --jobs 1 --db r.db --label registry --registry private
run=$(sql "select run from runs where label = 'registry'")
echo '# another line' >>private/cases/private.yaml
expect 2 "the registry changed since" "$TOPKCTS" run --resume "$run" --db r.db

sed -i '$d' private/cases/private.yaml

# So does one in which an expectation, or a bound on skips, was written or edited meanwhile: rows before and after the
# kill would be held to different ones.
expect 137 cases "$TOPKCTS" run --suite smoke --provider ./mine.so --jobs 1 --db r.db --label expected --registry private
run=$(sql "select run from runs where label = 'expected'")
mkdir private/expected
cat >private/expected/mine.yaml <<Y
- {case: 'private-ties/*', device_id: '*', provider: kills_runner, verdict: fail, reason: somebody says so, issue: none, expires: 2999-01-01}
Y
expect 2 "the registry changed since" "$TOPKCTS" run --resume "$run" --db r.db
rm -r private/expected
echo "- {suite: smoke, device: host, provider: '*', reason: '*', at_most: 3}" >private/skips.yaml
expect 2 "the registry changed since" "$TOPKCTS" run --resume "$run" --db r.db
rm private/skips.yaml
expect 137 "" "$TOPKCTS" run --resume "$run" --db r.db

# Mistakes.
expect 2 "has no such run.*$run" "$TOPKCTS" run --resume nonsense --db r.db
expect 3 "no such file" "$TOPKCTS" run --resume nonsense --db nowhere.db
[ ! -e nowhere.db ] || fail "--resume made a database"
expect 2 "suite: a resumed run keeps its own arguments" "$TOPKCTS" run --resume "$run" --db r.db --suite smoke

# A run that is still under way is left alone.
"$TOPKCTS" run 'row-lengths' --jobs 1 --provider "$plugins/hang_in_launch.so" --timeout 3 --db r.db --label slow >/dev/null 2>&1 &
runner=$!
for i in 1 2 3 4 5 6 7 8 9 10; do
    run=$(sql "select run from runs where label = 'slow'")
    [ -n "$run" ] && break
    sleep 0.2
done
expect 3 "still under way" "$TOPKCTS" run --resume "$run" --db r.db
kill -9 $runner
wait $runner 2>/dev/null

# A retry that was due when the runner was killed is made by the resumed run.
"$TOPKCTS" run 'row-lengths' --jobs 1 --provider "$plugins/fails_first_launch.so" --retry 2 --db r.db --label retry >/dev/null 2>&1
run=$(sql "select run from runs where label = 'retry'")
sql "update run set ended_at = null, exit_code = null where run = '$run'; delete from latest_result; delete from result where attempt > 1"
expect 1 "flaky" "$TOPKCTS" run --resume "$run" --db r.db
[ "$(sql "select group_concat(verdict) from (select verdict from plan where run = '$run' and case_name = (select case_name from plan where run = '$run' and attempt = 3) order by attempt)")" = fail,fail,flaky ] ||
    fail "the retry was not made: $(sql "select attempt, verdict from plan where run = '$run' and verdict <> 'pass'")"
# Attempts that disagreed before the runner was killed still do: the last one is flaky though it is like the first.
case=$("$TOPKCTS" list boundary-ties | head -n 1)
expect 1 "not ok" "$TOPKCTS" run "$case" --jobs 1 --provider faulty/tie-highest --retry 2 --db r.db --label disagree
run=$(sql "select run from runs where label = 'disagree'")
[ "$(sql "select group_concat(verdict) from plan where run = '$run'")" = fail,fail,fail ] || fail "not three failures: $(sql "select verdict from plan where run = '$run'")"
sql "update run set ended_at = null, exit_code = null where run = '$run'; delete from latest_result;
    update result set verdict = 3 where attempt = 2 and id in (select result from plan where run = '$run');
    delete from result where attempt = 3 and id in (select result from plan where run = '$run')"
expect 1 "flaky" "$TOPKCTS" run --resume "$run" --db r.db
[ "$(sql "select group_concat(verdict) from (select verdict from plan where run = '$run' order by attempt)")" = fail,timeout,flaky ] ||
    fail "attempts that disagree are forgotten: $(sql "select attempt, verdict from plan where run = '$run'")"

# So are time-outs: a provider that was given up after three is given up.
expect 1 "not ok" "$TOPKCTS" run 'row-lengths' --jobs 1 --provider "$plugins/hang_in_launch.so" --timeout 1 --db r.db --label hangs
run=$(sql "select run from runs where label = 'hangs'")
hung="select count(*) from plan where run = '$run' and verdict = 'timeout'"
[ "$(sql "$hung")" = 3 ] || fail "not three time-outs before the resume"
sql "update run set ended_at = null, exit_code = null where run = '$run'"
expect 1 "not ok" "$TOPKCTS" run --resume "$run" --db r.db
[ "$(sql "$hung")" = 3 ] || fail "time-outs from before are forgotten: $(sql "$hung") in all"
[ "$(sql "select count(*) from plan where run = '$run' and verdict = 'notrun' and reason like 'gave up after 3 timeouts%'")" -ge 1 ] || fail "it was not given up"
echo "resume keeps its rules"
