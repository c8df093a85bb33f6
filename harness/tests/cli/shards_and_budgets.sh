# SPDX-License-Identifier: Apache-2.0
# Shards are disjoint and complete for any N, the same on every machine, and about equally long; a budget is spent on
# what is worth most, and what it leaves out is stored, never run, never red.
. "$(dirname "$0")/../expect.sh"

names() { query "$1" "select case_name || ' ' || provider from results $2 order by 1"; }

expect 0 "$TOPKCTS" run --provider reference --db whole.db
names whole.db >whole
for n in 2 3 7; do
    : >parts
    for i in $(seq $n); do
        expect 0 "$TOPKCTS" run --provider reference --shard $i/$n --db shard$n-$i.db
        names shard$n-$i.db >>parts
        [ -n "$(names shard$n-$i.db)" ] || fail "shard $i/$n is empty"
    done
    [ "$(sort parts | uniq -d | wc -l)" = 0 ] || fail "$n shards share a case"
    sort parts | cmp -s - whole || fail "$n shards are not the whole"
done
# Deterministic: a store full of times, and another number of workers, change nothing.
cp whole.db again.db
expect 0 "$TOPKCTS" run --provider reference --shard 2/3 --db again.db --jobs 1
names again.db "where run = (select max(run) from runs)" >again
names shard3-2.db | cmp -s - again || fail "a shard depends on the store"
# Longest first: elements, which is what time is made of, are spread evenly but for the longest case.
longest=$(query whole.db "select max(length * batch) from results")
for i in 1 2 3; do query shard3-$i.db "select sum(length * batch) from results"; done | sort -n >loads
[ $(($(tail -1 loads) - $(head -1 loads))) -le $((longest + longest / 2)) ] || fail "shards of $(tr '\n' ' ' <loads) elements"
# Two providers: the same cases for both.
expect 0 "$TOPKCTS" run ragged-rows --provider reference --provider v1 --shard 1/2 --db two.db
[ "$(query two.db "select count(distinct provider) from results")" = 2 ] || fail "a shard lost a provider"
[ "$(query two.db "select count(*) from (select case_name from results group by 1 having count(*) <> 2)")" = 0 ] || fail "a shard splits a case's providers"

n=$(wc -l <whole)
for wrong in 0/3 4/3 1 1/ /3 1/0 -1/3 1/3x one/two 1/1/1 ''; do
    expect 2 "$TOPKCTS" run --provider reference --shard "$wrong" --db wrong.db
    says shard
done
expect 2 "$TOPKCTS" run --provider reference --shard 1/$((n + 1)) --db wrong.db
says "the selection has $n cases; N from 1 to $n is accepted"
expect 0 "$TOPKCTS" run --provider reference --shard $n/$n --db last.db
[ "$(query last.db "select count(*) from results")" = 1 ] || fail "the last of $n shards has not one case"
[ ! -e wrong.db ] || fail "a wrong shard made a database"

# A budget: the first night takes some, later nights what was left out, then the oldest.
left_out="verdict = 'notrun' and reason = 'left out by --budget'"
budget() { expect 0 "$TOPKCTS" run --suite conformance --provider reference --budget 1 --jobs 1 --db budget.db --label "$1"; }
of() { query budget.db "select count(*) from plan where run = (select run from runs where label = '$1') and $2"; }
budget first
prints "left out by --budget"
[ "$(of first "$left_out and in_budget = 0 and starts = 0")" -ge 100 ] || fail "a second was enough for $(of first 1) cases"
[ "$(of first "verdict = 'pass'")" -ge 10 ] || fail "a second was too little for anything"
[ "$(of first "verdict = 'pass'")" = "$(of first "in_budget = 1")" ] || fail "something in the budget did not pass"
# What a second is enough for is learnt from the times in the store, and these depend on who else is busy: here every case
# has taken 5 ms, or 200.
query budget.db "update result set wall_ms = 200 where wall_ms is not null"
cp budget.db slow.db
query budget.db "update result set wall_ms = 5 where wall_ms is not null"
expect 0 "$TOPKCTS" run --suite conformance --provider reference --budget 1 --jobs 1 --db slow.db --label second
budget second
slow=$(query slow.db "select count(*) from plan where run = (select run from runs where label = 'second') and in_budget = 1")
[ "$slow" -ge 1 ] && [ "$slow" -lt "$(of second "in_budget = 1")" ] || fail "slow cases: $slow fit a second, of quick ones $(of second "in_budget = 1")"
new=$(query budget.db "select count(*) from results where verdict = 'pass' and run = (select run from runs where label = 'second') and case_name not in (select case_name from results where verdict = 'pass' and run = (select run from runs where label = 'first'))")
[ "$new" -ge 10 ] || fail "the second night ran only $new cases that the first left out"
# Everything was run: the oldest verdicts are the most valuable now.
expect 0 "$TOPKCTS" run --provider reference --db old.db --label all
expect 0 "$TOPKCTS" run boundary-ties bin-edges --suite smoke --provider reference --db old.db --label newer
expect 0 "$TOPKCTS" run --provider reference --budget 1 --jobs 1 --db old.db --label budget
[ "$(query old.db "select count(*) from results where run = (select run from runs where label = 'budget') and verdict = 'pass'")" -ge 1 ] || fail "no budget for the oldest"
# A provider that was built anew: what only its last build was judged on comes first.
cp "$BUILD/harness/tests/plugins/correct.so" mine.so
changed() { expect 0 "$TOPKCTS" run "$@" --suite conformance --provider ./mine.so --jobs 1 --db changed.db; }
changed row-lengths long-rows
printf x >>mine.so
changed row-lengths
changed row-lengths long-rows --budget 1 --label budget
[ "$(query changed.db "select count(*) from plan where run = (select run from runs where label = 'budget') and family = 'long-rows' and verdict = 'pass'")" -ge 1 ] || fail "what changed was left out"
if [ "$(query changed.db "select sum(wall_ms) > 1500 from results where family = 'long-rows' and run = (select min(run) from runs)")" = 1 ]; then
    [ "$(query changed.db "select count(*) from plan where run = (select run from runs where label = 'budget') and family = 'long-rows' and in_budget = 0")" -ge 1 ] || fail "everything fits a second"
fi
first_old=$(query changed.db "select coalesce(min(result), 0) from plan where run = (select run from runs where label = 'budget') and family = 'row-lengths' and in_budget = 1")
all_changed=$(query changed.db "select count(*) from plan where run = (select run from runs where label = 'budget') and family = 'long-rows' and in_budget = 0 and length < 5000")
[ "$first_old" = 0 ] || [ "$all_changed" = 0 ] || fail "old verdicts went before changed ones"
expect 2 "$TOPKCTS" run --budget 0
says "a number from 1"
exit 0
