# SPDX-License-Identifier: Apache-2.0
# Adapters, right and wrong, as people hand them in: each ends in its verdict, with the cause.
root=$(cd "$(dirname "$0")/../../.." && pwd)
. "$root/harness/tests/expect.sh"
. "$root/kernels/adapters/find_python.sh"
case_name=$("$TOPKCTS" list boundary-ties 2>/dev/null | grep 'topk=\(512\|513\|257\).*batch=8,outputs=page+raw' | head -n 1)

# judged NAME CODE VERDICT REASON: behave.py NAME ends in CODE; every judged row is VERDICT; a reason holds REASON.
judged() {
    expect "$2" "$TOPKCTS" run "$case_name" --provider "process:$python $adapters/tests/behave.py $1" --db "$1.db" --jobs 1 \
        --timeout "${seconds:-10}"
    n=$(query "$1.db" "select count(*) from results where verdict = '$3'")
    [ "$n" -ge 1 ] || fail "$1: no row is '$3'"
    others=$(query "$1.db" "select count(*) from results where verdict not in ('$3', 'notrun', 'skip')")
    [ "$others" = 0 ] || fail "$1: $others rows are not '$3'"
    n=$(query "$1.db" "select count(*) from results where instr(reason, '$4') > 0")
    [ -z "$4" ] || [ "$n" -ge 1 ] || fail "$1: no reason says '$4': $(query "$1.db" "select reason from results limit 1")"
}

for name in right int64 transposed strided reversed-view chatter; do
    judged "$name" 0 pass ""
done
judged float 1 fail 'dtype float32; int32 or int64 was expected'
judged int16 1 fail 'dtype int16'
judged bool 1 fail 'dtype bool'
judged big-endian 1 fail 'dtype >i4'
judged too-large 1 fail 'no int32'
judged narrow 1 fail 'was expected'
judged one-row-more 1 fail 'was expected'
judged flat 1 fail 'has shape'
judged turned 1 fail 'has shape'
judged list 1 fail 'is a list'
judged missing 1 fail 'is missing: select returned None'
judged no-pair 1 fail 'the pair (page_indices, raw_indices) was expected'
judged nothing 1 fail 'select returned a NoneType'
judged raises 1 fail 'RuntimeError: the kernel says no (behave.py:'
judged writes-input 1 fail 'read-only'
judged wrong 1 fail ''
judged one-wrong 1 fail ''
[ "$(query chatter.db "select count(*) from results where verdict <> 'pass'")" = 0 ] || fail "chatter came into the protocol"
[ "$(query right.db "select origin from results limit 1")" = process ] || fail "the origin is not 'process'"
[ "$(query right.db "select json_extract(environment, '\$.providers.right.package') from run")" = 1.2.3 ] || fail "versions"
exit 0
