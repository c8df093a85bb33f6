#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of the runner at random moments, fifty times: each time the run goes on where it was, and its books end equal
# to those of a run that nobody disturbed. What may differ is time alone.
set -u
kills=${KILLS:-50}
columns="device_id, provider, provider_digest, origin, case_name, input_hash, promised, level, set_exact, verdict, expected, reason, output_digest, set_digest, repeats, attempt"
fail() { echo "FAILED: $*"; exit 1; }

now() { echo $(($(date +%s%N) / 1000000)); }

"$TOPKCTS" run --provider reference --db k.db --label undisturbed >/dev/null 2>&1 || fail "the undisturbed run: exit $?"
begin=$(now)
"$TOPKCTS" run --provider reference --jobs 1 --db k.db --label measured >/dev/null 2>&1 || fail "the measured run: exit $?"
takes=$(($(now) - begin))
books() { sqlite3 k.db "select $columns from results where run = (select run from runs where label = '$1') order by case_name, attempt"; }
books undisturbed >expected
[ "$(wc -l <expected)" -ge 100 ] || fail "the undisturbed run has only $(wc -l <expected) results"

tries=0 killed=0 in_the_middle=0
while [ "$killed" -lt "$kills" ] && [ "$tries" -lt $((kills * 6)) ]; do
    tries=$((tries + 1))
    "$TOPKCTS" run --provider reference --jobs 1 --db k.db --label "try$tries" >log 2>&1 &
    runner=$!
    wait_ms=$(($(od -An -N2 -tu2 /dev/urandom) % takes + takes / 8))
    sleep "$((wait_ms / 1000)).$(printf %03d $((wait_ms % 1000)))"
    kill -9 "$runner" 2>/dev/null
    wait "$runner" 2>/dev/null
    run=$(sqlite3 k.db "select run from runs where label = 'try$tries' and ended_at is null")
    if [ -z "$run" ]; then # before the plan was written, or after the end: the time depends on who else is busy
        [ -n "$(sqlite3 k.db "select run from runs where label = 'try$tries'")" ] && takes=$((takes * 9 / 10 + 20))
        continue
    fi
    killed=$((killed + 1))
    done=$(sqlite3 k.db "select count(*) from results where run = '$run' and verdict <> 'notrun'")
    [ "$done" -gt 0 ] && in_the_middle=$((in_the_middle + 1))
    "$TOPKCTS" run --resume "$run" --db k.db >log 2>&1 || fail "resuming run $run after $done verdicts: exit $?: $(tail -3 log)"
    books "try$tries" >got
    cmp -s expected got || fail "run $run, killed after $done verdicts, differs: $(diff expected got | head -5)"
    [ "$(sqlite3 k.db "select count(*) from runs where run = '$run' and ended_at is not null and exit_code = 0")" = 1 ] ||
        fail "the books of run $run are not closed"
    [ "$(sqlite3 k.db "select count(*) from plan where run = '$run' and (starts < 1 or starts > 2)")" = 0 ] ||
        fail "run $run took up a case other than once or twice"
    again=$(sqlite3 k.db "select count(*) from plan where run = '$run' and starts = 2")
    [ "$again" -le "$(nproc)" ] || fail "run $run lost $again cases, more than were in flight"
done
[ "$killed" -ge "$kills" ] || fail "only $killed of $tries runs could be killed under way"
[ "$in_the_middle" -ge 3 ] || fail "no run was killed in the middle ($in_the_middle of $killed)"
# The same where the provider is at fault: what was counted before the kill counts after it, so that it is given up after
# ten crashes in all.
crashing=$BUILD/harness/tests/plugins/crash_on_launch.so
"$TOPKCTS" run --provider "$crashing" --jobs 1 --db k.db --label crashes >/dev/null 2>&1
[ $? = 1 ] || fail "the crashing run is not exit 1"
books crashes >expected
for round in 1 2 3; do
    "$TOPKCTS" run --provider "$crashing" --jobs 1 --db k.db --label "crashes$round" >log 2>&1 &
    runner=$!
    run="run = (select run from runs where label = 'crashes$round')"
    while [ "$(sqlite3 k.db "select count(*) from results where $run and verdict = 'crash'")" -lt $((round * 2)) ]; do sleep 0.02; done
    kill -9 "$runner" 2>/dev/null
    wait "$runner" 2>/dev/null
    "$TOPKCTS" run --resume "$(sqlite3 k.db "select run from runs where label = 'crashes$round'")" --db k.db >log 2>&1
    [ $? = 1 ] || fail "the resumed crashing run is not exit 1"
    books "crashes$round" >got
    cmp -s expected got || fail "the crashing run differs: $(diff expected got | head -5)"
done
echo "$killed runs killed, $in_the_middle of them in the middle; all books equal"
