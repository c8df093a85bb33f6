# SPDX-License-Identifier: Apache-2.0
# Two GPUs, one worker each; a device that does not give a known answer after a fault gets no more rows. On a double of
# the HIP run time: what it cannot show is a real card that hangs.
. "$(dirname "$0")/../expect.sh"
double=$BUILD/harness/tests/hip_double/libamdhip64.so
[ -e "$double" ] || { echo "no HIP double was built here: quarantine is not tested"; exit 77; }
with_hip() { env LD_PRELOAD="$double" XDG_CACHE_HOME="$PWD/cache" "$@"; }

expect 0 with_hip "$TOPKCTS" run 'ragged-rows/topk=512*' --device hip:0 --device hip:1 --db two.db
[ "$(query two.db "select count(distinct device_id) from results where verdict = 'pass'")" = 2 ] || fail "not both devices were used"
[ "$(query two.db "select count(*) from results where verdict <> 'pass'")" = 0 ] || fail "two devices at once do not pass"

# Every process faults at its first launch: the known answer that is asked for at the start does not come.
expect 1 with_hip env HIP_DOUBLE_FAULT=1 "$TOPKCTS" run 'ragged-rows/topk=512*' --device hip:0 --device hip:1 --db start.db
[ "$(query start.db "select count(*) from results where verdict <> 'notrun' or reason not like 'device ' || device_id || ' is quarantined: %'")" = 0 ] \
    || fail "rows went to a device that gave no known answer"
[ "$(query start.db "select count(*) from run_warnings where warning like '%is quarantined%'")" = 2 ] || fail "no warning of it"

# A fault in mid-run after which nothing works any more: one crash, and the rest is not run.
expect 1 with_hip env HIP_DOUBLE_FAULT=60 HIP_DOUBLE_DEAD="$PWD/dead" "$TOPKCTS" run 'ragged-rows/topk=512*' --device hip:0 --db q.db
[ "$(query q.db "select count(*) from results where verdict = 'crash'")" = 1 ] || fail "not one crash"
[ "$(query q.db "select count(*) from results where verdict = 'notrun' and reason like 'device ' || device_id || ' is quarantined: %'")" = \
    "$(query q.db "select count(*) from results where verdict not in ('pass', 'crash')")" ] || fail "rows went to a device in quarantine"
[ "$(query q.db "select count(*) from results where verdict = 'pass'")" -ge 1 ] || fail "nothing ran before the fault"
[ "$(query q.db "select count(*) from results where verdict = 'notrun'")" -ge 1 ] || fail "nothing was left when the device died"
# One fault in a while: the known answer comes, and the run goes on.
expect 1 with_hip env HIP_DOUBLE_FAULT=60 "$TOPKCTS" run 'ragged-rows/topk=512*' --device hip:0 --db once.db
[ "$(query once.db "select count(*) from results where verdict = 'crash'")" -ge 1 ] || fail "no fault was met"
[ "$(query once.db "select count(*) from results where verdict = 'pass'")" -ge 2 ] || fail "the run did not go on after a fault"
[ "$(query once.db "select count(*) from results where reason like '%quarantined%'")" = 0 ] || fail "a device that answers is in quarantine"
exit 0
