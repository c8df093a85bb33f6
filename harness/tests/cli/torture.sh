#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Providers that do what providers must not: every planned row gets a verdict, the exit code is the promised one, and
# nothing that they started is left.
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

torture crash_on_launch 1 "verdict = 'crash' and reason like '%signal 11%'" 10
torture abort 1 "verdict = 'crash' and reason like '%signal 6%'" 10
torture corrupts_heap 1 "verdict = 'crash'" 10
torture exit_zero 1 "verdict = 'crash' and reason like '%left by itself with exit code 0%'" 10
torture closes_all_descriptors 1 "verdict = 'fail' and reason like '%closed file descriptor 3, which is not its own%'" all
torture crash_at_load 1 "verdict = 'crash'" 10
torture crash_in_open 1 "verdict = 'crash'" 10
torture open_fails 1 "verdict = 'fail'" all
torture prints_a_lot 0 "verdict = 'pass'" all
torture forks_and_leaves 0 "verdict = 'pass'" all
torture daemonizes 0 "verdict = 'pass'" all
torture supports_nothing 3 "verdict = 'skip'" all
# Breaking in close is a verdict too: of the case that the worker judged last.
torture crash_in_close 1 "verdict = 'crash' and reason like '%in the provider''s close: signal 11%'" 1 --jobs 1
[ "$(count "verdict = 'pass'")" = "$(count "verdict <> 'crash'")" ] || fail "crash_in_close: other cases suffer"

# Memory: bounded, and over for the case that asked for it, not for those after it.
timeout 60 "$TOPKCTS" run row-lengths --suite smoke --provider "$plugins/eats_memory.so" --db m.db --timeout 5 >log 2>&1
[ $? = 1 ] || fail "eats_memory: not exit 1"
[ "$(sqlite3 m.db "select count(*) from results where verdict in ('pass', 'notrun', 'skip')")" = 0 ] || fail "eats_memory: rows without a fault"
[ "$(sqlite3 m.db "select count(*) from results where verdict in ('fail', 'crash')")" -ge 1 ] || fail "eats_memory: no row is a fault"

left=$(grep -lsz "^TOPKCTS_WORKER=" /proc/[0-9]*/environ | grep -c .)
mine=0
for environment in $(grep -lsz "^TOPKCTS_WORKER=" /proc/[0-9]*/environ); do
    process=${environment%/environ}
    case $(readlink "$process/cwd") in "$PWD"*) mine=$((mine + 1)) ;; esac
done
[ "$mine" = 0 ] || fail "$mine of $left processes with the mark of a worker are left"
echo "every tortured run kept its books"
