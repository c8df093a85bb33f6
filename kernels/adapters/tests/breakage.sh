# SPDX-License-Identifier: Apache-2.0
# Adapters that break, hang or are not there: each ends in its verdict, with the cause, and the run closes its books.
root=$(cd "$(dirname "$0")/../../.." && pwd)
. "$root/harness/tests/expect.sh"
. "$root/kernels/adapters/find_python.sh"
case_name='row-ends/topk=512,length=51*'

judged() {
    expect "$2" "$TOPKCTS" run "$case_name" --provider "process:$python $adapters/tests/behave.py $1" --db "$1.db" --jobs 1 \
        --timeout "${seconds:-10}" --fail-fast
    n=$(query "$1.db" "select count(*) from results where verdict = '$3'")
    [ "$n" -ge 1 ] || fail "$1: no row is '$3'"
    n=$(query "$1.db" "select count(*) from results where verdict not in ('$3', 'notrun')")
    [ "$n" = 0 ] || [ -n "${mixed:-}" ] || fail "$1: $n rows are not '$3'"
    n=$(query "$1.db" "select count(*) from results where instr(reason, '$4') > 0")
    [ -z "$4" ] || [ "$n" -ge 1 ] || fail "$1: no reason says '$4': $(query "$1.db" "select reason from results limit 1")"
    [ "$(query "$1.db" "select exit_code from runs")" = "$2" ] || fail "$1: the books are not closed"
}

judged leaves 1 crash 'exit code 0'
judged leaves-at-once 1 crash 'exit code 3'
judged segfault 1 crash 'signal 11'
judged aborts 1 crash 'signal 6'
judged killed 1 crash 'signal 9'
judged third-launch 1 crash 'signal 6'
judged open-leaves 1 crash 'exit code 0'
judged leaves-before-hello 1 crash 'this machine is not to its liking'
seconds=2 judged hangs 1 timeout 'no end after 2 s'
seconds=2 judged open-hangs 1 timeout 'no end after 2 s'
judged open-raises 1 fail 'the kernel says no'
judged open-lacks 1 fail 'is installed, but has no operator topk'
judged supports-raises 1 fail 'in supports: RuntimeError: the kernel says no'
judged pokes-input 1 fail 'changed its input scores'
judged unasked 1 fail 'broke the protocol'

# What is absent is skipped with its reason; nothing was judged, so it is not green.
judged absent 3 skip 'a_package_that_nobody_has is not installed; nor_this_one is not installed'
judged open-unavailable 3 skip 'no GPU of this kind'

# Two absent modes of one adapter are two providers.
expect 3 "$TOPKCTS" run "$case_name" --provider "process:$python $adapters/tests/behave.py absent" \
    --provider "process:$python $adapters/tests/behave.py absent again" --db two.db
[ "$(query two.db "select group_concat(provider) from run_providers")" = behave-absent,behave-absent-again ] || fail "names of absent ones"

# A launch beyond the kernel is a skip, the rest is judged.
mixed=1
case_name='runtime-topk'
judged some-supported 0 skip 'topk must be 512'
[ "$(query some-supported.db "select count(*) from results where verdict = 'pass' and topk = 512")" -ge 1 ] || fail "512 is not judged"
[ "$(query some-supported.db "select count(*) from results where verdict = 'skip' and topk = 512")" = 0 ] || fail "512 is skipped"
exit 0
