# SPDX-License-Identifier: Apache-2.0
# Plugins that misbehave in one slot each (behaves_as_named.c, called by its file's name): a verdict or a refusal that
# says what would be right, and never an influence on other answers or the end of the run.
. "$(dirname "$0")/../expect.sh"
cases='boundary-ties/topk=512,length=4096,page_size=1,batch=1,*'

become() {
    cp "$BUILD/harness/tests/plugins/behaves_as_named.so" "./$1.so"
    rm -f manners.db
}
verdicts() {
    query manners.db "select group_concat(distinct verdict) from results"
}

# Odd, but right: judged like any other.
right() {
    become "$1"
    expect 0 "$TOPKCTS" run "${2:-$cases}" --provider "./$1.so" --db manners.db
    [ "$(verdicts)" = pass ] || fail "$1: $(verdicts)"
}
for manner in plain path-without-end path-latin1 path-lines signals-blocked limits-change stack-is-deep child-exits \
    child-returns chatters name-utf8 name-quotes; do
    right "$manner"
done
[ "$(query manners.db "select provider from results limit 1")" = "it's \"so\"; drop table run;--" ] || fail "name-quotes"
# Limits may lead to the same case twice, or to none that exists.
right limits-twice overflow-limits
[ "$(query manners.db "select count(*) = count(distinct case_name) from results")" = 1 ] || fail "limits-twice"
one=$(query manners.db "select case_name from results limit 1")
right limits-twice "$one"
[ "$(query manners.db "select count(*) from results")" = 1 ] || fail "a case by its name is planned twice"
right limits-twice 'overflow-limits/*'
right limits-odd
become limits-huge
expect 2 "$TOPKCTS" run overflow-limits --provider ./limits-huge.so --db manners.db
says "families with limits need a provider that declares them"
expect 2 "$TOPKCTS" list overflow-limits
says "depend on the limits"
become path-lines
expect 0 "$TOPKCTS" run "$cases" --provider ./path-lines.so --db manners.db
[ "$(query manners.db "select distinct path from results")" = "a?b" ] || fail "an inner path of two lines"

# A launch that changes rounding, flushes denormals or moves the decimal point changes no answer of the judge.
right arithmetic-changes denormals
right locale-changes

# A provider that changes the folder does not move the registry.
mkdir -p mine/cases
cat >mine/cases/mine.yaml <<'YAML'
- id: my-rows
  summary: a registry by a relative path
  fault: short-row
  generator: random
  matrix: {topk: [512], length: [600]}
YAML
become open-changes-folder
expect 0 "$TOPKCTS" run my-rows --registry mine --provider ./open-changes-folder.so --db manners.db

# Its own doing: a verdict with the reason.
wrong() {
    become "$1"
    expect "$2" "$TOPKCTS" run "$cases" --provider "./$1.so" --db manners.db --timeout 1 --fail-fast
    case $(verdicts) in *$3*) ;; *) fail "$1: $(verdicts)" ;; esac
    case $(query manners.db "select reason from results where verdict = '$3' limit 1") in
    *"$4"*) ;;
    *) fail "$1: the reason does not say: $4" ;;
    esac
}
wrong open-fails-without-end 1 fail "open returned 7: xxx"
wrong launch-fails-without-end 1 fail "launch returned -1: xxx"
wrong supports-without-end 3 skip "not supported: xxx"
wrong workspace-minus-one 1 fail "more than there is memory (-1; no workspace is 0)"
wrong workspace-exbibyte 1 fail "more than there is memory"
wrong claims-change 1 fail "not valid"
wrong stops-itself 1 timeout "in a launch: no end after 1 s"
wrong kills-itself 1 crash "in a launch: signal 9"
wrong close-crashes 1 crash "in the provider's close: signal 6"
wrong close-hangs 1 timeout "in the provider's close: no end after 1 s"
wrong close-exits 1 crash "in the provider's close: the worker left by itself"
wrong unload-exits 1 crash "exit code 5"

# What it declares is refused before anything runs.
refused() {
    become "$1"
    expect 2 "$TOPKCTS" run "$cases" --provider "./$1.so" --db manners.db
    says "$2"
    [ ! -e manners.db ] || fail "$1: something ran"
}
refused name-lines "control character 0x0a"
refused name-escape "control character 0x1b"
refused name-latin1 "not UTF-8"
refused name-space "blank"
refused name-long "at most 127 bytes"
refused name-v1 "keeps for itself"
refused version-null "name and version must be set"
refused version-lines "control character"
refused version-latin1 "not UTF-8"
refused version-long "at most 63 bytes"
refused claims-out-of-range "claims.nan is 9"
refused limits-negative "limit 'candidates' is -5"
refused claims-max-topk-negative "max_topk is -1"
refused memory-out-of-range "memory is 3"

# It may kill the runner; the books are readable, and what was not judged says so.
become kills-its-parent
"$TOPKCTS" run "$cases" --provider ./kills-its-parent.so --db manners.db >/dev/null 2>&1
[ "$(verdicts)" = notrun ] || fail "kills-its-parent: $(verdicts)"
[ "$(query manners.db "select count(*) from runs where exit_code is null")" = 1 ] || fail "the run looks ended"
expect 0 "$TOPKCTS" run "$cases" --provider reference --db manners.db
exit 0
