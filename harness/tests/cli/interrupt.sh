#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The first Ctrl-C finishes the case in flight, closes the books and prints the summary; a second one does not wait for
# the case; --resume goes on from either.
set -u
plugins=$BUILD/harness/tests/plugins
fail() { echo "FAILED: $*"; tail -5 log; exit 1; }
sql() { sqlite3 i.db "$1"; }
started() { [ "$(sql "select count(*) from plan where run = (select max(run) from runs) and starts > 0 and verdict = 'notrun'" 2>/dev/null)" -ge 1 ]; }
await_case() {
    for i in $(seq 100); do
        started 2>/dev/null && return
        sleep 0.05
    done
    fail "no case was started"
}

"$TOPKCTS" run row-lengths --jobs 1 --provider "$plugins/hang_in_launch.so" --timeout 2 --db i.db >log 2>&1 &
runner=$!
await_case
kill -INT $runner
wait $runner
code=$?
[ $code = 1 ] || fail "interrupted once: exit $code instead of 1"
run=$(sql "select run from runs where ended_at is not null")
[ -n "$run" ] || fail "interrupted once: the books are not closed"
[ "$(sql "select count(*) from plan where verdict = 'timeout'")" = 1 ] || fail "the case in flight was not finished"
[ "$(sql "select count(*) from plan where verdict = 'notrun' and reason = 'interrupted'")" = "$(sql "select count(*) - 1 from plan")" ] ||
    fail "rows are something else than interrupted"
tail -1 log | grep -q "interrupted; run $run" || fail "no summary after an interrupt"

begin=$(date +%s)
"$TOPKCTS" run row-lengths --jobs 1 --provider "$plugins/ignores_sigterm_and_hangs.so" --timeout 30 --db i.db >log 2>&1 &
runner=$!
sleep 0.2
await_case
kill -INT $runner
sleep 0.3
kill -TERM $runner
wait $runner
code=$?
[ $code = 1 ] || fail "interrupted twice: exit $code instead of 1"
[ $(($(date +%s) - begin)) -lt 15 ] || fail "interrupted twice: it waited for the case"
"$TOPKCTS" run row-lengths --provider reference --db i.db --fail-fast >/dev/null 2>&1 || fail "the database is not usable any more"

# What was interrupted can be resumed.
"$TOPKCTS" run 'overflow-bins' 'boundary-ties' --provider reference --suite conformance --jobs 1 --db i.db --label long >log 2>&1 &
runner=$!
started=0
for i in $(seq 50); do
    [ "$(sql "select count(*) from plan where run = (select run from runs where label = 'long') and verdict = 'pass'")" -ge 3 ] && break
    sleep 0.05
done
kill -TERM $runner
wait $runner
run=$(sql "select run from runs where label = 'long'")
before=$(sql "select count(*) from plan where run = '$run' and verdict = 'pass'")
"$TOPKCTS" run --resume "$run" --db i.db >log 2>&1 || fail "resuming the interrupted run: exit $?"
[ "$(sql "select count(*) from plan where run = '$run' and verdict = 'pass'")" = "$(sql "select count(*) from plan where run = '$run'")" ] || fail "the resumed run is not whole"
[ "$(sql "select max(starts) from plan where run = '$run'")" = 1 ] || fail "a case ran twice ($before were done)"
echo "interrupts finish what they should"
