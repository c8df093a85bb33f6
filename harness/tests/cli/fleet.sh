#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A fleet on a real Slurm: one slurmctld and two slurmds of Debian's packages on loopback, as two nodes with a feature
# each. A run is shared out, one node is killed in the middle of its shard, and the shard it took along comes back
# from the other node; the merged books hold every case exactly as often as one machine would have judged it.
set -eu
here=$(pwd)
fail() {
    echo "$*"
    for log in "$here"/shared/*/*.log "$here"/slurmctld.log; do [ -e "$log" ] && echo "== $log" && tail -8 "$log"; done
    exit 1
}
PATH=$PATH:/usr/sbin:/sbin
export PATH
for program in slurmctld slurmd sbatch scontrol munged sqlite3; do
    command -v $program >/dev/null || fail "$program is missing; Debian: apt-get install slurmctld slurmd slurm-client munge sqlite3"
done

# ---- what needs no Slurm -----------------------------------------------------------------------------------------
expect() { # expect CODE TEXT command..
    code=$1 text=$2
    shift 2
    status=0
    "$@" >out 2>&1 || status=$?
    [ $status = "$code" ] || { cat out; fail "exit $status, expected $code: $*"; }
    grep -qF -e "$text" out || { cat out; fail "no '$text' in the answer of: $*"; }
}
mkdir shared
expect 2 "fleet needs --shared" "$TOPKCTS" fleet --shards 2
expect 2 "no such folder" "$TOPKCTS" fleet --shards 2 --shared nowhere
expect 2 "nightly-amd" "$TOPKCTS" fleet --shards 2 --shared shared --suite no-such-suite
expect 2 "nothing is selected" "$TOPKCTS" fleet no-such-family --shards 2 --shared shared
expect 2 "no shard may be empty" "$TOPKCTS" fleet --suite smoke --shards 900 --shared shared
expect 2 "no plan of a fleet" "$TOPKCTS" fleet --collect shared
expect 0 "nothing was submitted" "$TOPKCTS" fleet --shards 2 --shared shared --dry-run --label "it's"
sh -n shared/fleet-*/shard.sh || fail "shard.sh is no shell script"
grep -qF "'it'\\''s'" shared/fleet-*/shard.sh || fail "a quote in an argument is lost"
expect 3 "sbatch cannot be started" env PATH=/nowhere "$TOPKCTS" fleet --shards 2 --shared shared
rm -rf shared/fleet-*

# ---- a cluster of two nodes on this machine ----------------------------------------------------------------------
# munge wants a short path for its socket, and folders that nobody else may write to.
run=$(mktemp -d /tmp/topkcts-slurm-XXXXXX)
chmod 755 "$run"
name=$(hostname -s)
port=$((20000 + $$ % 20000))
stop() {
    for pid in "$run"/*.pid; do [ -e "$pid" ] && kill -KILL "$(cat "$pid")" 2>/dev/null; done
    for pid in $(pgrep -f "$run/" || true); do kill -KILL "$pid" 2>/dev/null; done
    rm -rf "$run"
}
trap stop EXIT
mkdir "$run/munge" "$run/state" "$run/alpha" "$run/beta"
chmod 755 "$run/munge"
head -c 64 /dev/urandom >"$run/munge/key"
chmod 600 "$run/munge/key"
munged --force --key-file="$run/munge/key" --socket="$run/munge/socket" --pid-file="$run/munge.pid" \
    --log-file="$run/munge/log" --seed-file="$run/munge/seed" || fail "munged"
cat >"$run/slurm.conf" <<CONF
ClusterName=topkcts
SlurmctldHost=$name(127.0.0.1)
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$run/munge/socket
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
StateSaveLocation=$run/state
SlurmdSpoolDir=$run/%n
SlurmctldPidFile=$run/slurmctld.pid
SlurmdPidFile=$run/slurmd-%n.pid
SlurmctldLogFile=$here/slurmctld.log
SlurmdLogFile=$here/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=1
SlurmdTimeout=4
MessageTimeout=5
KillWait=2
ReturnToService=1
MpiDefault=none
SwitchType=switch/none
NodeName=alpha NodeHostname=$name NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=1 Features=gfx1100 State=UNKNOWN
NodeName=beta NodeHostname=$name NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=1 Features=gfx1100,spare State=UNKNOWN
PartitionName=gpus Nodes=ALL Default=YES MaxTime=60 State=UP
CONF
export SLURM_CONF="$run/slurm.conf"
slurmctld -c || fail "slurmctld"
slurmd -N alpha || fail "slurmd alpha"
slurmd -N beta || fail "slurmd beta"
for i in $(seq 100); do
    [ "$(sinfo -h -N -o %T 2>/dev/null | sort | uniq -c | tr -s ' ')" = " 2 idle" ] && break
    [ "$i" = 100 ] && fail "the nodes do not come up: $(sinfo -N 2>&1)"
    sleep 0.2
done

# ---- a run on both nodes, in the node's own folder, one of which dies ----------------------------------------------
# A plugin that takes its time, so that there is a middle to be killed in.
slow=$BUILD/harness/tests/plugins/slow.so
[ -e "$slow" ] || fail "$slow is missing"
cases='few-winners/topk=512,*'
total=$("$TOPKCTS" list "$cases" --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')
mkdir own
export TMPDIR="$here/own"
"$TOPKCTS" fleet "$cases" --provider "$slow" --device host --jobs 1 --shards 3 --shared shared --db all.db \
    --constraint gfx1100 --minutes 5 >out 2>&1 || { cat out; fail "fleet"; }
folder=$(echo "$here"/shared/fleet-*)

# Wait until alpha is inside a shard, then take its power: daemon, step and everything below.
for i in $(seq 150); do
    [ -n "$(squeue -h -w alpha -t R -o %A 2>/dev/null)" ] && ls own/topkcts-*/running.db >/dev/null 2>&1 && break
    [ "$i" = 150 ] && fail "no shard came to alpha: $(squeue 2>&1)"
    sleep 0.2
done
lost=$(squeue -h -w alpha -t R -o %K)
daemon=$(cat "$run/slurmd-alpha.pid")
job=$(squeue -h -w alpha -t R -o %A)
script=
for process in $(pgrep -f "$run/alpha/job"); do
    script="$script $process $(pgrep -g "$(ps -o pgid= -p "$process" | tr -d ' ')" | tr '\n' ' ')"
done
[ -n "$script" ] || fail "the shard of job $job on alpha has no process"
kill -KILL "$daemon"
for process in $script; do
    parent=$(ps -o ppid= -p "$process" 2>/dev/null | tr -d ' ' || true)
    case "$(ps -o args= -p "${parent:-0}" 2>/dev/null)" in slurmstepd*) kill -KILL "$parent" 2>/dev/null || true ;; esac
    kill -KILL "$process" 2>/dev/null || true
done
rm -f "$run/slurmd-alpha.pid"

for i in $(seq 300); do
    [ -e "$folder/summary.json" ] && break
    [ "$i" = 300 ] && fail "no summary: $(squeue 2>&1; sinfo -N 2>&1; ls "$folder")"
    sleep 0.2
done
cat >look.py <<'PY'
import json, sys
summary = json.load(open(sys.argv[1]))
lost = int(sys.argv[2])
assert summary["exit_code"] == 0, summary
assert summary["lost"] == 0 and summary["resubmitted"] >= 1, summary
assert [s["exit_code"] for s in summary["shards"]] == [0, 0, 0], summary
assert summary["shards"][lost - 1]["node"] == "beta", summary
PY
python3 look.py "$folder/summary.json" "$lost" || fail "the summary"
[ "$(sqlite3 all.db 'SELECT count(*), count(DISTINCT case_name) FROM latest')" = "$total|$total" ] || fail "latest: $(sqlite3 all.db 'SELECT count(*), count(DISTINCT case_name) FROM latest'), expected $total"
[ "$(sqlite3 all.db "SELECT count(*) FROM results WHERE verdict = 'pass'")" = "$total" ] || fail "results: $(sqlite3 all.db 'SELECT verdict, count(*) FROM results GROUP BY verdict')"
[ ! -e all.db-wal ] || fail "the collected database is not at rest"

# ---- a shard that stays lost is told, and nothing is green -------------------------------------------------------
cp -r "$folder" shared/again
sed -i "s|$folder|$here/shared/again|" shared/again/collect.sh
rm shared/again/summary.json shared/again/shard-2.done shared/again/shard-2-*.db
python3 - shared/again/plan.json <<'PY'
import json, sys
plan = json.load(open(sys.argv[1]))
plan["round"] = plan["resubmits"]
plan["database"] += "2"
json.dump(plan, open(sys.argv[1], "w"))
PY
expect 1 "shard 2: LOST" "$TOPKCTS" fleet --collect "$here/shared/again"
# Nor when Slurm does not take the lost shard again: what there is comes together all the same.
rm shared/again/summary.json
sed -i 's/"round": [0-9]*/"round": 0/' shared/again/plan.json
expect 1 "cannot be submitted again" env PATH=/nowhere "$TOPKCTS" fleet --collect "$here/shared/again"
[ -e shared/again/summary.json ] || fail "nobody collected"
expect 1 "NOT OK: 3 shards, 1 lost" env PATH=/nowhere "$TOPKCTS" fleet --collect "$here/shared/again"
