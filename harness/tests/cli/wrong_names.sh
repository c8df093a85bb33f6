# SPDX-License-Identifier: Apache-2.0
# Misspelt names and values: exit 2, the valid names, and nothing runs.
. "$(dirname "$0")/../expect.sh"

wrong() {
    text=$1
    shift
    expect 2 "$TOPKCTS" "$@"
    says "$text"
    [ -z "$out" ] || fail "an error printed an answer"
}
wrong "there are run" runn
wrong "options come behind it: topkcts COMMAND --db" --db x.db run
wrong "options come behind it" -- run
wrong "there are" run --suite smok
wrong "conformance" run --suite smok
wrong "v1" run --provider v2
wrong "sim:32" run --device simm
wrong "sim:64" run --device sim:16
wrong "--suite" run --siute smoke
wrong "--suite" run --suit smoke
wrong "a number from" run --repeat 0
wrong "a number from" run --jobs many
wrong "needs a value" run --db
wrong "families are" run boundary-tie
wrong "matches no case" run boundary-ties nothing
wrong "behind --provider" run my.so
wrong "behind --provider" my.so
wrong "runs on none of the given devices" run --provider reference --device sim
wrong "no case" show boundary-ties/topk=9
wrong "show takes one case" show
for command in list devices providers query check; do
    wrong "/no/such/folder: no registry folder" $command --registry /no/such/folder
done
wrong "nothing.hip" plugin nothing.hip
wrong "names of targets are wanted" code-objects --targets ,
wrong "none is given" bench --origin jit
wrong "none is given" bench --label night
wrong "arrives as" run --provider v1 --origin jit
[ ! -e topkcts.db ] || fail "a database was made although nothing ran"

# No command at all is a question, not an error.
expect 0 "$TOPKCTS"
prints "topkcts run"
for command in run list show check devices providers; do
    expect 0 "$TOPKCTS" $command --help
    prints "--"
done
exit 0
