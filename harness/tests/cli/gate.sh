# SPDX-License-Identifier: Apache-2.0
# The proof of a fix: red must fail where green passes; and the proof written down, carried, excluded.
. "$(dirname "$0")/../expect.sh"
git() { command git -c user.name=a -c user.email=a@b -c init.defaultBranch=main "$@"; }
cases='boundary-ties/topk=512,length=4096*'

# Two builds with their sources: the parent, and the candidate one commit later.
git init -q parent && echo 'take the highest' >parent/kernel.c && echo notes >parent/notes.txt
git -C parent add . && git -C parent commit -qm parent
git clone -q parent candidate && echo 'take the lowest' >candidate/kernel.c && git -C candidate commit -qam fix

expect 0 "$TOPKCTS" gate "$cases" --red faulty/tie-highest --green reference --db proof.db --label fix \
    --red-source parent --green-source candidate
prints "proven: red fails where green passes, and green fails nowhere"
[ "$(query proof.db "select count(*) from runs")" = 2 ] || fail "two runs are not in the database"
[ "$(query proof.db "select json_extract(environment, '\$.source.base.commit') from run where label = 'fix green'")" = \
    "$(git -C parent rev-parse HEAD)" ] || fail "the change does not start at the parent"
[ "$(query proof.db "select json_extract(environment, '\$.source.base.patch_id') from run where label = 'fix green'")" = \
    "$(git -C candidate diff HEAD^ HEAD | git patch-id --stable | cut -d' ' -f1)" ] || fail "the patch id is not git's"

# Not proven: nothing red, or green fails too. What cannot run at all is that error.
expect 1 "$TOPKCTS" gate "$cases" --red reference --green reference --db other.db
prints "not proven: red fails nowhere that green passes"
prints "the same build"
expect 1 "$TOPKCTS" gate "$cases" --red faulty/tie-highest --green faulty/tie-highest --db other.db
prints "not proven: green fails"
expect 1 "$TOPKCTS" gate "$cases" --red reference --green faulty/tie-highest --db other.db
prints "not proven: green fails"
# Interrupted: what red had failed until then is no proof, and green is not begun.
cat >stopped.py <<'P'
import os, signal, subprocess, sys, time
gate = subprocess.Popen([sys.argv[1], "gate", "boundary-ties", "row-lengths", "overflow-bins", "--red", "faulty/tie-highest", "--green", "reference",
                         "--jobs", "1", "--db", "stopped.db"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)
for line in gate.stderr:
    if line.startswith(b"fail"):  # red is under way
        os.killpg(gate.pid, signal.SIGINT)
        break
said = gate.stderr.read()
assert b"gate: interrupted in the run of red" in said, said[-500:]
sys.exit(gate.wait())
P
expect 3 python3 stopped.py "$TOPKCTS"
[ "$(query stopped.db "select count(*) from runs where exit_code = 1")" = 1 ] || fail "the interrupted run of red is not closed, or green ran"
expect 2 "$TOPKCTS" gate "$cases" --red faulty/tie-highest --db none.db
says "--green P"
expect 2 "$TOPKCTS" gate "$cases" --red ./nothing.so --green reference --db none.db
says "nothing is proven"
expect 2 "$TOPKCTS" gate nonsense --red reference --green reference --db none.db
expect 2 "$TOPKCTS" gate "$cases" --red reference --green reference --red-source nowhere --db none.db
says "nowhere"
[ ! -e none.db ] || fail "a database was made although nothing ran"
expect 0 "$TOPKCTS" gate "$cases" --red faulty/tie-highest --green reference --db proof.db --json
prints '"proven": true'

# Patterns may be many: each side runs them all.
expect 0 "$TOPKCTS" list 'boundary-ties' 'row-lengths'
names=$(echo "$out" | head -n 80)
# shellcheck disable=SC2086
expect 1 "$TOPKCTS" gate $names --red reference --green reference --db many.db
[ "$(query many.db "select count(distinct case_name) from results")" = 80 ] || fail "not all of 80 patterns were run"

# Written down.
expect 0 "$TOPKCTS" evidence 'fix red' 'fix green' --db proof.db
for text in "# Evidence" "$(git -C candidate rev-parse HEAD)" "unset" "faulty/tie-highest" "kernel.c" "## Kills for want of memory" \
    "## Excluded runs" "| fail | pass |"; do
    prints "$text"
done
expect 2 "$TOPKCTS" evidence --db proof.db
expect 2 "$TOPKCTS" evidence nobody --db proof.db
says "no run and no label 'nobody'"
expect 0 env CUDA_VISIBLE_DEVICES=7 "$TOPKCTS" run "$cases" --provider reference --db proof.db --label seven
expect 0 "$TOPKCTS" evidence seven --db proof.db
prints "set: 7"

# Carried to another commit, without a rerun: equal files; another commit that touches no tested file; one that does.
git clone -q candidate same
expect 0 "$TOPKCTS" evidence 'fix red' 'fix green' --db proof.db --carry same
prints "**Not rerun.**"
prints "equal file digests | yes"
git clone -q candidate further && echo more >further/README && git -C further add . && git -C further commit -qm readme
expect 0 "$TOPKCTS" evidence 'fix red' 'fix green' --db proof.db --carry further
prints "equal file digests | no"
prints "equal stable patch id of the change | yes"
prints "no intersecting path between the two commits | yes"
prints "It holds there"
echo 'take any' >further/kernel.c && git -C further commit -qam undo
expect 1 "$TOPKCTS" evidence 'fix red' 'fix green' --db proof.db --carry further
prints "no intersecting path between the two commits | no | kernel.c"
prints "It must be rerun."
expect 2 "$TOPKCTS" evidence seven --db proof.db --carry same
says "no named run recorded its sources"

# Attached figures stay labelled, and their limit is older than they are.
attached() {
    printf '{"title": "Decode, A-B-A", "origin": "a colleague", "declared_at": "%s", "measured_at": "2026-11-02", "limit": {"figure": "p50_percent", "at_most": 1.5}, "figures": {"p50_percent": %s}}' "$1" "$2" >attached.json
}
attached 2026-11-01 1.2
expect 0 "$TOPKCTS" evidence 'fix green' --db proof.db --attach attached.json
prints "**Attached, not measured by topkcts.**"
prints "within the limit"
attached 2026-11-01 1.7
expect 1 "$TOPKCTS" evidence 'fix green' --db proof.db --attach attached.json
prints "**beyond the limit**"
attached 2026-11-03 1.2
expect 2 "$TOPKCTS" evidence 'fix green' --db proof.db --attach attached.json
says "declared before the measurement"

# Unchanged code objects.
echo object >one.o && cp one.o two.o && echo other >three.o
expect 0 "$TOPKCTS" evidence 'fix green' --db proof.db --same one.o:two.o
prints "unchanged"
expect 1 "$TOPKCTS" evidence 'fix green' --db proof.db --same one.o:three.o
prints "**changed**"

# Excluded runs are listed with their reason and counted nowhere.
expect 0 "$TOPKCTS" exclude "$(query proof.db "select run from runs where label = 'seven'")" --reason 'the fan was off' --db proof.db
expect 0 "$TOPKCTS" evidence 'fix green' seven --db proof.db
prints "the fan was off"
expect 1 "$TOPKCTS" evidence seven --db proof.db
says "every named run is excluded"
exit 0
