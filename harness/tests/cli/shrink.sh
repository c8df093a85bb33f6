# SPDX-License-Identifier: Apache-2.0
# `shrink`: failures of planted faults and plugins become minimal cases that fail for the faulty provider and pass for a
# right one, and programs that show the fault alone. All planted host faults: harness/tests/shrink_faults.sh.
. "$(dirname "$0")/../expect.sh"
root=$(cd "$(dirname "$0")/../../.." && pwd)
plugins=$BUILD/harness/tests/plugins

# Shrinks a case (or file) for a provider into `small`; the answer's keys are then had with `value KEY`.
small() {
    expect 0 "$TOPKCTS" shrink "$@" --into small --json
    cp expect.out answer.json
}
value() { python3 -c "import json, sys; print(json.load(open('answer.json'))['$1'])"; }
at_most() { # KEY NUMBER
    [ "$(value "$1")" -le "$2" ] || fail "$1 is $(value "$1"), at most $2 was expected: $(cat answer.json)"
}
# The case in its registry: fails for the faulty provider, passes for the reference.
holds() { # PROVIDER
    expect 1 "$TOPKCTS" run "$(value case)" --registry small --provider "$1" --device host --db small.db
    expect 0 "$TOPKCTS" run "$(value case)" --registry small --provider reference --db small.db
}
first() { "$TOPKCTS" list "$@" 2>/dev/null | head -n 1; }

ties=$(first 'boundary-ties/topk=512,length=4096*batch=[18],*inside-plateau*')
small "$ties" --provider faulty/tie-highest
at_most rows 1
at_most longest 2
holds faulty/tie-highest

# Once more: the same case, the same text.
cp "$(value family_file)" once.yaml
expect 0 "$TOPKCTS" shrink "$ties" --provider faulty/tie-highest --into other --json
cmp -s once.yaml other/cases/*.yaml || fail "the same failure was made small in another way"

# The program: the fault linked in, and as a plugin that is right.
here=$PWD
source=$here/$(value program)
(cd "$root" && gcc -std=gnu17 -Wall -Wextra -Werror -I. -Iharness -DTOPK_BUILTIN=builtin_faulty_tie_highest -o "$here/reproducer" \
    "$source" kernels/faulty/tie_highest.c kernels/faulty/host_topk.c -ldl) || fail "the program does not compile"
expect 1 ./reproducer
prints FAULT
gcc -std=gnu17 -Wall -Wextra -Werror -I "$root/harness" -o reproducer "$(value program)" -ldl || fail "the program does not compile"
expect 0 ./reproducer "$plugins/correct.so"
expect 2 ./reproducer ./missing.so

# Two rows; a fault that is not there every time; one that earlier launches leave behind; a crash of a plugin.
small "$(first 'strides-and-bases/*batch=[35]*')" --provider faulty/stride-width
at_most rows 2
at_most longest 2
holds faulty/stride-width
small "$(first 'repeat-determinism')" --provider faulty/race-rare
at_most longest 4
holds faulty/race-rare
small "$(first 'launch-sequences/topk=7,*batch=1,*')" --provider faulty/stale-state-cut
at_most rows 1
at_most longest 3
at_most launches_before 1
holds faulty/stale-state-cut
small "$(first 'ragged-rows/*batch=9*')" --provider "$plugins/crash_on_launch.so"
at_most longest 1
[ "$(value verdict)" = crash ] || fail "not a crash: $(cat answer.json)"
gcc -std=gnu17 -I "$root/harness" -o reproducer "$(value program)" -ldl || fail "the program does not compile"
expect 1 ./reproducer "$plugins/crash_on_launch.so"
prints crashed

# From a database, and from a file of fuzz.
"$TOPKCTS" run page-mapping --suite meta --provider faulty/page-mapping-row --db run.db >/dev/null 2>&1
run=$(query run.db "select run from runs")
case=$(query run.db "select case_name from results where verdict = 'fail' order by length * batch limit 1")
small "$case" --run "$run" --db run.db
at_most rows 2
at_most longest 1
holds faulty/page-mapping-row
"$TOPKCTS" fuzz --provider faulty/signed-zero --seconds 2 --seed 5 --findings findings >/dev/null 2>&1
small "$(ls findings/*.json | head -n 1)"
at_most longest 2
holds faulty/signed-zero

# What there is to say where nothing can be made small.
expect 2 "$TOPKCTS" shrink "$ties" --provider "$plugins/correct.so" --into small
says "there is nothing to make small"
expect 2 "$TOPKCTS" shrink "$ties" --into small
says "whose failure is it"
expect 2 "$TOPKCTS" shrink nobody/here --provider v1 --into small
says "no case"
expect 2 "$TOPKCTS" shrink "$ties" --run missing --db run.db
says "has no failure of case"
expect 2 "$TOPKCTS" shrink "$ties" --provider ./missing.so
says "missing.so"
expect 2 "$TOPKCTS" shrink missing.json
says "missing.json"
echo '{"finding": 1' >broken.json
expect 2 "$TOPKCTS" shrink broken.json
says "broken.json"
expect 2 "$TOPKCTS" shrink
says "one failing case"
expect 3 "$TOPKCTS" shrink "$ties" --provider faulty/tie-highest --into /proc/nowhere
exit 0
