# SPDX-License-Identifier: Apache-2.0
# topkcts fuzz: finds planted faults in seconds, none where there is none; a problem is had again by its number, a
# finding by its file; what is wrong on the command line, or cannot be kept, is said.
. "$(dirname "$0")/../expect.sh"
plugins=$BUILD/harness/tests/plugins

# Five faults that want different things: ties, a full bin, a state that is left, memory that ends, one topk.
for fault in tie-highest overflow-4096 stale-state-cut read-past-end-crash topk-limit-600; do
    expect 1 "$TOPKCTS" fuzz --provider "faulty/$fault" --seed 1 --count 2000 --fail-fast --jobs 1 --findings "found-$fault"
    prints "not ok: "
    file=$(ls "found-$fault"/*.json | head -n 1)
    # The file fails again for the provider, and not for one that is right.
    expect 1 "$TOPKCTS" fuzz "$file"
    expect 0 "$TOPKCTS" fuzz "$file" --provider reference
done
expect 1 "$TOPKCTS" fuzz "$file" --json
echo "$out" | python3 -c 'import json, sys; assert [one["verdict"] for one in json.load(sys.stdin)] == ["fail"]' || fail "JSON of a file"

# No false alarm, and no folder for nothing. Shapes and relations are counted.
expect 0 "$TOPKCTS" fuzz --provider reference --seed 3 --count 250 --json
[ -e findings ] && fail "a folder for no findings"
echo "$out" | python3 -c '
import json, sys
run = json.load(sys.stdin)
assert run["problems"] == run["judged"] == 250 and run["kinds"] == [], run
assert run["shapes_seen"] > 100 and all(n > 6 for name, n in run["relations"].items() if name != "beside"), run
' || fail "the JSON of a run"
for right in correct_valid_any correct_page_only correct_raw_only correct_padding_unspecified; do
    expect 0 "$TOPKCTS" fuzz --provider "$plugins/$right.so" --seed 3 --count 60 --limit 64 --jobs 1
done

# The same command, the same problem: by seed and number.
expect 1 "$TOPKCTS" fuzz --provider faulty/tie-highest --seed 1 --count 8 --json
number=$(echo "$out" | python3 -c 'import json, sys; print(json.load(sys.stdin)["kinds"][0]["examples"][0]["problem"])')
expect 1 "$TOPKCTS" fuzz --provider faulty/tie-highest --seed 1 --problem "$number"
prints "problem $number: "
expect 0 "$TOPKCTS" fuzz --provider reference --seed 1 --problem "$number"

# A limit that nobody declared is seen by the path, and what lies there is found.
expect 1 "$TOPKCTS" fuzz --provider "$plugins/changes_path.so" --seed 1 --count 100 --fail-fast
prints "length 1777: the path changes from 'short' to 'long'"
prints "is selected twice"
expect 1 "$TOPKCTS" fuzz --provider "$plugins/changes_path.so" --seed 1 --count 100 --limit 1777 --fail-fast

# A launch that does not end.
expect 1 "$TOPKCTS" fuzz --provider "$plugins/hang_in_launch.so" --seed 1 --count 3 --timeout 1 --fail-fast
prints "timeout, level none: in a launch: no end"
# A worker that is gone when its next order comes is a crash of its provider, not the end of the search.
expect 1 "$TOPKCTS" fuzz --provider "$plugins/dies_between_launches.so" --seed 1 --count 100
prints "not ok: "
# A provider that does not open, or refuses everything.
expect 1 "$TOPKCTS" fuzz --provider "$plugins/open_fails.so" --count 10
expect 3 "$TOPKCTS" fuzz --provider "$plugins/supports_nothing.so" --seed 1 --count 10
prints "nothing was judged"

# An interrupted search says what it has, and is not green.
"$TOPKCTS" fuzz --provider reference --seed 1 --seconds 60 --jobs 1 --limit 64 >expect.out 2>expect.err &
search=$!
sleep 2
kill -INT $search
wait $search
[ $? = 3 ] || fail "an interrupted search"
grep -q "not ok: interrupted; none of" expect.out || fail "an interrupted search says so"

# One that breaks in its close; one beside another.
expect 1 "$TOPKCTS" fuzz --provider "$plugins/crash_in_close.so" --seed 1 --count 4 --jobs 1 --limit 64
prints "the provider did not close: signal"
expect 0 "$TOPKCTS" fuzz --provider "$plugins/correct.so" --beside reference --seed 1 --count 40 --limit 64 --json
echo "$out" | python3 -c 'import json, sys; assert json.load(sys.stdin)["relations"]["beside"] == 20' || fail "beside"
expect 2 "$TOPKCTS" fuzz --provider reference --beside process:true
says "--beside process:true: kernel sources and programs are one a process"

expect 2 "$TOPKCTS" fuzz --provider reference --problem 4
says "--problem 4 of which --seed?"
expect 2 "$TOPKCTS" fuzz --provider reference --limit many
says "--limit many: a whole number from 2"
expect 2 "$TOPKCTS" fuzz --provider nobody
expect 2 "$TOPKCTS" fuzz no-such-file.json
says "no-such-file.json"
: >in-the-way
expect 3 "$TOPKCTS" fuzz --provider faulty/tie-highest --seed 1 --count 20 --findings in-the-way/below
says "--findings in-the-way/below: the folder cannot be made"
