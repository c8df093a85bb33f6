# SPDX-License-Identifier: Apache-2.0
# Programs that speak the protocol wrongly: what cannot be a provider ends the run before it starts (exit 2) with what
# would be right; what breaks it later fails with the line that broke it.
root=$(cd "$(dirname "$0")/../../.." && pwd)
. "$root/harness/tests/expect.sh"
. "$root/kernels/adapters/find_python.sh"

refused() {
    expect 2 "$TOPKCTS" run 'row-ends/topk=512,length=51*' --provider "process:$python $adapters/tests/$1" --db none.db
    says "$2"
    [ ! -e none.db ] || fail "a database was made although nothing ran"
}

refused 'speak.py no-hello' "it must say hello first"
refused 'speak.py garbage-first' "it must say hello first"
refused 'speak.py binary-first' "it must say hello first"
refused 'speak.py endless-line' "it must say hello first"
refused 'speak.py protocol-2' "it speaks protocol 2, this harness speaks 1"
refused 'speak.py no-protocol' "it speaks protocol 0, this harness speaks 1"
refused 'speak.py no-name' "lacks name or version"
refused 'speak.py no-version' "lacks name or version"
refused 'speak.py long-name' "at most 127 bytes"
refused 'behave.py claims-nothing' "level"
refused 'behave.py claims-none' "level"
refused 'behave.py claims-nonsense' "perfect"
refused 'behave.py claims-unknown' "speed"
refused 'behave.py claims-list' "claims must be an object"
refused 'behave.py claims-fifo' "max_topk"
refused 'behave.py limit-text' "limit 'candidates' must be a whole number above 0"
refused 'behave.py reserved' "a name that topkcts keeps for itself"
expect 2 "$TOPKCTS" run 'row-ends/topk=512,length=51*' --provider 'process:./no-such-program --here' --db none.db
says "there is no such command"
expect 2 "$TOPKCTS" run 'row-ends/topk=512,length=51*' --provider 'process:' --db none.db
says "there is no command"

broken() {
    expect 1 "$TOPKCTS" run 'row-ends/topk=512,length=51*' --provider "process:$python $adapters/tests/speak.py $1" --db "$1.db" --jobs 1 --timeout 2
    [ "$(query "$1.db" "select count(*) from results where verdict not in ('$2', 'notrun')")" = 0 ] || fail "$1: not all '$2'"
    [ "$(query "$1.db" "select count(*) from results where instr(reason, '$3') > 0")" -ge 1 ] ||
        fail "$1: no reason says '$3': $(query "$1.db" "select reason from results limit 1")"
}

broken garbage-line fail "broke the protocol with the line"
broken no-say fail "broke the protocol with the line"
broken empty-line fail "broke the protocol with the line"
broken wrong-word fail "it says"
broken unknown-word fail "it says"
broken twice fail "broke the protocol"
broken no-reason fail "it gives no reason"
broken writes-nothing fail "was never written"
broken dies-in-launch crash "exit code 5"
broken half-a-line crash "exit code 0"
exit 0
