#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Providers that never come back: three time-outs each, then the rest is given up; see torture.sh for the other kinds.
set -u
plugins=$BUILD/harness/tests/plugins
fail() { echo "FAILED: $*"; tail -5 log; exit 1; }
sql() { sqlite3 t.db "$1"; }
count() { sql "select count(*) from results where run = (select run from runs order by started_at desc limit 1) and $1"; }

# name, exit code, then an SQL condition with the number of rows that must meet it ("all" for all).
torture() {
    name=$1 code=$2 condition=$3 rows=$4
    shift 4
    rm -f t.db t.db-wal t.db-shm
    timeout 60 "$TOPKCTS" run --suite smoke --provider "$plugins/$name.so" --db t.db --timeout 1 "$@" >log 2>&1
    got=$?
    [ "$got" = "$code" ] || fail "$name: exit $got instead of $code"
    all=$(count "1")
    [ "$all" -ge 100 ] || fail "$name: only $all rows were planned"
    [ "$rows" = all ] && rows=$all
    [ "$(count "$condition")" = "$rows" ] ||
        fail "$name: $(count "$condition") rows instead of $rows are $condition: $(sql "select verdict, count(*), max(reason) from results group by 1")"
    [ "$(count "verdict = 'notrun' and reason = 'not reached'")" = 0 ] || fail "$name: rows were never reached"
    [ "$(sql "select count(*) from runs where ended_at is not null and exit_code = $code")" = 1 ] || fail "$name: the books are not closed"
    tail -1 log | grep -q '^\(not \)\?ok: ' || fail "$name: the last line is no digest: $(tail -1 log)"
}

torture hang_in_launch 1 "verdict = 'timeout' and reason like '%no end after 1 s%'" 3
torture hang_in_open 1 "verdict = 'timeout' and reason like '%open%'" 3
torture ignores_sigterm_and_hangs 1 "verdict = 'timeout'" 3
torture prints_without_end 1 "verdict = 'timeout'" 3
[ "$(sql "select max(length(log)) from logs")" -le 4096 ] || fail "prints_without_end: the kept output is not bounded"
torture hang_at_load 1 "verdict = 'timeout' and reason like '%load%'" 3

left=$(grep -lsz "^TOPKCTS_WORKER=" /proc/[0-9]*/environ | grep -c .)
mine=0
for environment in $(grep -lsz "^TOPKCTS_WORKER=" /proc/[0-9]*/environ); do
    process=${environment%/environ}
    case $(readlink "$process/cwd") in "$PWD"*) mine=$((mine + 1)) ;; esac
done
[ "$mine" = 0 ] || fail "$mine of $left processes with the mark of a worker are left"
echo "every hanging provider was ended"
