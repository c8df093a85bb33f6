# SPDX-License-Identifier: Apache-2.0
# HIP without a GPU: the real backend, worker and judge against a libamdhip64 that runs on the simulator.
. "$(dirname "$0")/../expect.sh"
double=$BUILD/harness/tests/hip_double/libamdhip64.so
[ -e "$double" ] || { echo "no HIP headers on this machine: the double was not built, and nothing of it is tested"; exit 77; }

with_hip() { env LD_PRELOAD="$double" XDG_CACHE_HOME="$PWD/cache" "$@"; }

# Two cards, told apart by uuid, also when the visibility variable renumbers them.
expect 0 with_hip "$TOPKCTS" devices
prints "hip:0"
prints "hip:1"
prints "GPU-d0ub1e0000000001"
prints "gfx1100"
expect 0 with_hip env ROCR_VISIBLE_DEVICES=1 "$TOPKCTS" devices
prints "hip:0    HIP test double (simulator) gfx1100    id GPU-d0ub1e0000000001"
case $out in *hip:1*) fail "one visible card, two listed" ;; esac
expect 3 with_hip env ROCR_VISIBLE_DEVICES=1 "$TOPKCTS" run 'wave-widths/*' --device hip:1
says "there is no hip:1: 1 device found"

# v1 from the code object that was built ahead of time, all levels, in two histories.
cases='ragged-rows/topk=512*'
for card in 0 1; do
    expect 0 with_hip env ROCR_VISIBLE_DEVICES=$card "$TOPKCTS" run "$cases" 'graph-replays/topk=512*' --device hip:0 --db hip.db
done
[ "$(query hip.db "select count(distinct device_id) from latest")" = 2 ] || fail "two cards are not two histories"
[ "$(query hip.db "select count(*) from results where verdict <> 'pass' or origin <> 'aot'")" = 0 ] || fail "not all pass ahead of time"
[ "$(query hip.db "select min(level) from results")" = canonical ] || fail "canonical is not reached"
[ "$(query hip.db "select count(*) from results where kernel_us_p50 is null")" = 0 ] || fail "a case without kernel time"
[ "$(query hip.db "select count(distinct name) from samples where name like 'kernel-%'")" = 2 ] || fail "warm and cold are not told apart"
# The same bytes as on the simulator itself.
expect 0 "$TOPKCTS" run "$cases" --device sim --db hip.db
[ "$(query hip.db "select count(*) from results a join results b using (case_name) where a.output_digest <> b.output_digest")" = 0 ] ||
    fail "digests differ between devices"

# A target that nothing was built for, and a machine without a compiler that works: rows end in error, with the reason.
expect 3 with_hip env HIP_DOUBLE_ARCH=gfx9999 "$TOPKCTS" run 'forced-fallback/*' --device hip:0 --db none.db
[ "$(query none.db "select count(*) from results where verdict = 'error' and reason like '%gfx9999%'")" -ge 1 ] || fail "no error names the target"
# The family that demands both origins cannot have one here: a skip that says so.
expect 3 with_hip "$TOPKCTS" run 'forced-fallback/*' --device hip:0 --db skip.db
[ "$(query skip.db "select count(*) from results where verdict = 'skip' and reason like '%both ahead of time and just in time%'")" -ge 1 ] ||
    fail "no skip names the missing origin"

# More LDS than the device has: refused, and explained.
expect 1 with_hip env HIP_DOUBLE_LDS=8192 "$TOPKCTS" run 'wave-widths/topk=33,length=160*' --device hip:0 --db lds.db --fail-fast
[ "$(query lds.db "select count(*) from results where verdict = 'fail' and reason like '%needs 14000 bytes of LDS (14000 static + 0 dynamic)%'")" -ge 1 ] ||
    fail "the refusal does not explain itself"

# A device fault is a crash; the process is replaced and the run goes on; the device is asked for a known answer.
expect 1 with_hip env HIP_DOUBLE_FAULT=60 "$TOPKCTS" run 'ragged-rows/topk=512*' --device hip:0 --db fault.db
[ "$(query fault.db "select count(*) from results where verdict = 'crash' and reason like '%device fault%hipErrorIllegalAddress%'")" -ge 1 ] ||
    fail "no crash names the fault"

# A kernel that ignores the stream it is given: right as long as nothing is on its way there.
if [ -e "$BUILD/harness/tests/hip_double/wrong_stream.so" ]; then
    expect 1 with_hip "$TOPKCTS" run 'boundary-ties/topk=512,length=4096*' --provider "$BUILD/harness/tests/hip_double/wrong_stream.so" --db stream.db
    [ "$(query stream.db "select count(*) from results where verdict = 'fail' and reason like '%scores that arrive on the stream behind other work%'")" -ge 1 ] ||
        fail "a launch on another stream is not noticed"
fi

# A guard there takes the device's own times, warm and cold, of v1 against itself: never beyond the limit.
mkdir -p guarded/cases
cat >guarded/cases/guarded.yaml <<'END'
- {id: guarded, summary: what is timed here, fault: tie-break, generator: random, matrix: {topk: [4], length: [40]}, seed: 1}
END
printf -- '- {id: double, what: v1, providers: [v1, v1], percent: 500, declared: 2026-01-02, reason: r, cases: [guarded], outputs: [page], cache: cold}\n' >guarded/guards.yaml
with_hip "$TOPKCTS" guard double --registry guarded --device hip:0 --seconds 12 --db guard.db >guard.out 2>guard.err; code=$?
{ [ $code = 0 ] || [ $code = 3 ]; } && grep -q "kernel time by the device's events; cache cold" guard.out || fail "guard: $code, $(cat guard.out guard.err)"
[ "$(query guard.db "select clock, device_id like 'GPU-%' from guards")" = "kernel|1" ] || fail "not the device's clock: $(cat guard.out)"
exit 0
