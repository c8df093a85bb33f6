# SPDX-License-Identifier: Apache-2.0
# `topkcts bench` with providers: the grid, the table, the books, and what becomes of providers that are wrong, crash or
# hang. On the host, where its times are wall time; and on the HIP double, for graphs and events.
. "$(dirname "$0")/../expect.sh"
so=$BUILD/harness/tests/plugins
small='--batch 1,3 --length 2048 --topk 64,512 --device host'

# Every cell of every provider is measured, its answer checked, its samples stored.
# shellcheck disable=SC2086
expect 0 "$TOPKCTS" bench --provider reference --provider "$so/correct.so" $small --pattern normal,plateau --db right.db
prints "A = reference"
prints "B = correct"
prints "microseconds of wall time on the CPU"
[ "$(echo "$out" | grep -c '^normal  .* cold \|^plateau .* cold \|^normal  .* warm \|^plateau .* warm ')" -ge 16 ] || fail "a line for each of 8 cells, cold and warm"
[ "$(echo "$out" | grep -v '^run ' | awk '{ if (length($0) > n) n = length($0) } END { print (n > 100) }')" = 0 ] || fail "a line is too long"
[ "$(query right.db "select count(*) from results where verdict = 'pass' and level = 'valid' and suite = 'bench'")" = 16 ] || fail "16 answers"
[ "$(query right.db "select count(distinct case_name) from results")" = 8 ] || fail "8 cases"
[ "$(query right.db "select count(*) from results where kernel_us_p50 is not null")" = 0 ] || fail "wall time passes for a kernel's"
[ "$(query right.db "select count(*) from (select 1 from samples where value_us > 0 group by provider, case_name, name having count(*) >= 5)")" = 48 ] ||
    fail "at least 5 samples of 3 in 8 cells, cold and warm: $(query right.db "select name, count(*) from samples group by 1")"
[ "$(query right.db "select group_concat(name) from (select distinct name from samples order by 1)")" = bench-wall-cold,bench-wall-warm ] || fail "names of samples"
[ "$(query right.db "select group_concat(distinct verdict) from results where provider = 'one-read'")" = skip ] || fail "the yardstick is judged"
[ "$(query right.db "select exit_code from runs")" = 0 ] || fail "the books are not closed"

# JSON is an array of cells, whatever is asked for; --cold leaves warm out.
# shellcheck disable=SC2086
expect 0 "$TOPKCTS" bench --provider reference $small --pattern huge --cold --json --db json.db
echo "$out" | python3 -c '
import json, sys
cells = json.load(sys.stdin)
assert len(cells) == 8, len(cells)
assert {c["provider"].split()[0] for c in cells} == {"reference", "one-read"}
assert all(c["cold_us_p50"] > 0 and 5 <= len(c["cold_us"]) <= 11 and c["warm_us"] == [] and c["clock"] == "wall" for c in cells)
assert {(c["batch"], c["length"], c["topk"], c["pattern"]) for c in cells} == {(b, 2048, k, "huge") for b in (1, 3) for k in (64, 512)}
' || fail "the JSON is not as promised"

# A fast wrong answer is marked and makes it red: this one keeps 2048 candidates of a coarse bin.
expect 1 "$TOPKCTS" bench --provider reference --provider faulty/overflow-2048 --batch 2 --length 8192 --topk 512 --pattern one-bin --device host --db wrong.db
prints "wrong answer: row 0"
[ "$(query wrong.db "select provider from results where verdict = 'fail'")" = faulty/overflow-2048 ] || fail "who was wrong"
echo "$out" | grep -q '^one-bin .* cold .*!$' || fail "no mark"

# Every pattern can be made, and the reference is right on all of them.
expect 0 "$TOPKCTS" bench --provider reference --pattern all --batch 2 --length 2500 --topk 1,700 --device host --warm --db all.db
[ "$(query all.db "select count(*) from results where provider = 'reference' and verdict <> 'pass'")" = 0 ] || fail "the reference is wrong"

# A provider that breaks: its cell says so, the books are closed, and what was measured stays.
broken() {
    # shellcheck disable=SC2086
    expect 1 "$TOPKCTS" bench --provider reference --provider "$so/$1.so" --batch 1 --length 2048 --topk 64 --pattern normal,huge --device host --timeout 2 --db "$1.db"
    [ "$(query "$1.db" "select count(*) from results where provider = '$1' and verdict = '$2' and instr(reason, '$3') > 0")" -ge 1 ] ||
        fail "$1: $(query "$1.db" "select verdict, reason from results")"
    [ "$(query "$1.db" "select exit_code from runs")" = 1 ] || fail "$1: the books are not closed"
}
broken crash_on_launch crash 'signal 11'
broken exit_zero crash 'exit code 0'
broken hang_in_launch timeout 'after 2 s (--timeout)'
broken launch_fails_sometimes fail 'launch:'

# Who cannot run a cell is left out of it, and that is no failure.
# shellcheck disable=SC2086
expect 0 "$TOPKCTS" bench --provider reference --provider "$so/supports_nothing.so" $small --pattern normal --db skip.db
[ "$(query skip.db "select count(*) from results where provider = 'supports_nothing' and verdict = 'skip'")" = 4 ] || fail "no skips"

# --seconds leaves cells out, and says which.
expect 0 "$TOPKCTS" bench --provider reference --pattern all --batch 64 --length 8192,32768 --topk 512 --device host --seconds 1 --db short.db
prints "left out by --seconds"
case $out in *"without a right answer"*) fail "what is left out counts as not right" ;; esac
[ "$(query short.db "select count(*) from results where verdict = 'skip' and reason = 'left out by --seconds'")" -ge 2 ] || fail "nothing is left out"
[ "$(query short.db "select count(*) from results where verdict = 'notrun'")" = 0 ] || fail "planned and never reached"

# What makes no sense is refused before anything runs.
refused() {
    expect 2 "$TOPKCTS" bench --db none.db "$@"
    [ ! -s none.db ] || [ "$(query none.db "select count(*) from runs")" = 0 ] || fail "a run was begun"
}
refused --provider reference --batch 0
says "numbers from 1 to"
refused --provider reference --length 2048, --device host
refused --provider reference --pattern nonsense
says "there are normal, plateau"
refused --provider reference --topk 512,512
says "given twice"
refused --provider v1 --device sim
says "simulator"
refused --provider 'process:true' --device host
says "a plugin can"
refused --provider "$so/correct.so"
says "--device"
refused --batch 1
says "--provider"
refused --provider "$so/level_none.so" --device host
says "level"

# Interrupted, it closes the books.
"$TOPKCTS" bench --provider "$so/slow.so" --device host --batch 1 --length 2048 --topk 64 --pattern all --db stop.db >stop.out 2>&1 &
pid=$!
sleep 2
kill -INT $pid
wait $pid
[ "$(query stop.db "select count(*) from runs where ended_at is not null and exit_code <> 0")" = 1 ] || fail "interrupted, and the books are open"

# Graphs, events and the cache of a device with streams.
double=$BUILD/harness/tests/hip_double/libamdhip64.so
[ -e "$double" ] || exit 0
expect 0 env LD_PRELOAD="$double" XDG_CACHE_HOME="$PWD/cache" "$TOPKCTS" bench --provider v1 --device hip:0 --batch 1 --length 2048 --topk 64 --pattern plateau --db hip.db
prints "microseconds of a launch on the device"
[ "$(query hip.db "select count(*) from results where provider = 'v1' and verdict = 'pass' and kernel_us_p50 > 0 and path = 'topk_v1_narrow'")" = 1 ] || fail "v1 on the double"
exit 0
