#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# kill -9 of a runner takes its workers along, and what they started, daemons of other sessions included; kill -9 of a
# worker costs the case in flight and no other.
set -u
plugins=$BUILD/harness/tests/plugins
fail() { echo "FAILED: $*"; tail -5 log; exit 1; }
mine() { # processes with the mark of a worker that run here
    for environment in $(grep -lsz "^TOPKCTS_WORKER=$1" /proc/[0-9]*/environ); do
        process=${environment%/environ}
        [ "$(readlink "$process/cwd")" = "$(pwd -P)" ] && echo "${process#/proc/}"
    done
}
await() { # text command...: until the command says so
    text=$1
    shift
    for i in $(seq 50); do
        "$@" && return
        sleep 0.1
    done
    fail "$text"
}
has() { [ "$(mine "$1" | grep -c .)" -ge "$2" ]; }
none() { [ -z "$(mine "$1")" ]; }

"$TOPKCTS" run row-lengths --jobs 1 --provider "$plugins/daemonizes.so" --provider "$plugins/hang_in_launch.so" --timeout 30 --db c.db >log 2>&1 &
runner=$!
await "no worker came up" has "$runner\\." 1
sleep 0.5
kill -9 $runner
wait $runner 2>/dev/null
await "processes outlive a killed runner: $(mine "$runner\\.")" none "$runner\\."

# The worker of a hanging provider is killed by somebody else: one crash, and the rest goes on.
"$TOPKCTS" run row-lengths --jobs 1 --provider "$plugins/hang_in_launch.so" --timeout 2 --db w.db >log 2>&1 &
runner=$!
await "no worker came up" has "$runner\\." 1
started() { [ "$(sqlite3 w.db "select count(*) from plan where starts = 1" 2>/dev/null)" = 1 ]; }
await "no case was started" started
kill -9 $(mine "$runner\\.")
wait $runner
[ "$(sqlite3 w.db "select count(*) from results where verdict = 'crash' and reason like '%signal 9%'")" = 1 ] ||
    fail "the killed worker: $(sqlite3 w.db "select verdict, reason from results")"
[ "$(sqlite3 w.db "select count(*) from results where verdict = 'timeout'")" -ge 1 ] || fail "nothing ran after the killed worker"
echo "no process outlives its parent"
