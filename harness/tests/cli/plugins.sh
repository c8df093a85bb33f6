# SPDX-License-Identifier: Apache-2.0
# Plugins, right and wrong, as people hand them in: each ends in the promised verdict and exit code.
. "$(dirname "$0")/../expect.sh"
so=$BUILD/harness/tests/plugins

# Correct ones of every kind pass whatever they promise, and are judged.
for name in correct correct_raw_only correct_page_only correct_valid_any correct_padding_unspecified; do
    expect 0 "$TOPKCTS" run --suite smoke --provider "$so/$name.so" --db right.db
    prints "ok: "
done
[ "$(query right.db "select count(*) from results where verdict <> 'pass'")" = 0 ] || fail "a correct plugin did not pass"
[ "$(query right.db "select count(distinct provider) from results where provider like '%'")" = 5 ] || fail "five providers"

# What cannot be loaded: nothing runs, exit 2, and the message says what would be right.
unloadable() {
    expect 2 "$TOPKCTS" run --suite smoke --provider "$1" --db none.db
    says "$2"
    [ ! -e none.db ] || fail "a database was made although nothing ran"
}
unloadable ./nothing-there.so "cannot be read"
unloadable "$so/missing_symbol.so" "topk_provider_entry"
unloadable "$so/wrong_abi.so" "ABI"
unloadable "$so/null_launch.so" "launch"
unloadable "$so/null_entry.so" "returned NULL"
unloadable "$so/null_name.so" "name"
unloadable "$so/level_none.so" "level"
printf 'not a library' >text.so
unloadable ./text.so "cannot be loaded"

# What breaks while it runs: a verdict, never the end of the run.
case_name='boundary-ties/topk=512,length=4096*'
verdict() {
    rm -f wrong.db
    expect 1 "$TOPKCTS" run 'long-rows/*' "$case_name" 'ragged-rows' --provider "$so/$1.so" --db wrong.db --timeout 1 --fail-fast
    n=$(query wrong.db "select count(*) from results where verdict = '$2'")
    [ "$n" -ge 1 ] || fail "$1: no row is '$2'"
    [ "$(query wrong.db "select exit_code from runs")" = 1 ] || fail "$1: the books are not closed"
}
verdict crash_on_launch crash
verdict crash_in_open crash
verdict crash_at_load crash
verdict abort crash
verdict exit_zero crash
verdict corrupts_heap crash
verdict closes_all_descriptors fail
verdict hang_in_launch timeout
verdict hang_in_open timeout
verdict ignores_sigterm_and_hangs timeout
verdict open_fails fail
verdict launch_fails_sometimes fail

# A flood of output is drained, bounded and harmless; a child left behind too.
expect 0 "$TOPKCTS" run --suite smoke --provider "$so/prints_a_lot.so" --db noisy.db
[ "$(stat -c %s noisy.db)" -lt 4000000 ] || fail "the flood went into the database"
expect 0 "$TOPKCTS" run 'ragged-rows' --provider "$so/forks_and_leaves.so" --db child.db

# Its own functions are its own, whatever the program's are called.
expect 0 "$TOPKCTS" run 'ragged-rows' --provider "$so/brings_topk_v1.so" --db own.db

# Supports nothing: skipped, so nothing was judged, so not green.
expect 3 "$TOPKCTS" run --suite smoke --provider "$so/supports_nothing.so" --db skip.db
[ "$(query skip.db "select count(*) from results where verdict = 'skip'")" -gt 50 ] || fail "rows are not skipped"
exit 0
