# SPDX-License-Identifier: Apache-2.0
# hashes.txt over time: what is added without an update is told, updates keep what is there and settle at once, a merge
# can be cleaned up, and a failed update leaves the old file. Works on a copy of the project, since updates write.
. "$(dirname "$0")/../expect.sh"
root=$(cd "$(dirname "$0")/../../.." && pwd)
mkdir -p project/build project/registry/cases
cp "$root/registry/faults.yaml" project/registry/
cat >project/registry/suites.yaml <<'YAML'
- {id: conformance, summary: all of it, budget_seconds: 60}
- {id: smoke, summary: some of it, budget_seconds: 60}
YAML
cp "$TOPKCTS" project/build/
TOPKCTS=$PWD/project/build/topkcts
list=project/registry/hashes.txt

write() {
    cat >project/registry/cases/my-rows.yaml <<YAML
- id: my-rows
  summary: rows of several lengths
  fault: short-row
  generator: random
  matrix:
    topk: [512, 7]
    length: [600, $1{ragged: [1, 2, 3, 4, 5, 6, 7, 8, 9]}, {ragged: [7, 8]}]
    page_size: [1, 64]
    batch: [1, 2, 9]
    outputs: [page, page+raw, raw]
  suites: {conformance: all, smoke: {length: [600]$2}}
YAML
}

write "" ", topk: [7]"
expect 0 "$TOPKCTS" check --update
cp $list first.txt
expect 0 "$TOPKCTS" check --update
cmp -s $list first.txt || fail "a second update changes the list"
expect 0 "$TOPKCTS" check

# A suite or a value that is not listed would never run.
write "" ""
expect 2 "$TOPKCTS" check
says "lacks"
says "family 'my-rows'"
write "1025, " ""
expect 2 "$TOPKCTS" check
says "run 'topkcts check --update'"
expect 0 "$TOPKCTS" check --update
grep -v '^#' first.txt | while read -r line; do grep -qF "$line" $list || echo "$line"; done >lost.txt
[ ! -s lost.txt ] || fail "an update dropped or changed: $(head -1 lost.txt)"
expect 0 "$TOPKCTS" check

# A merge: lines twice are told and run once; marks are refused, and cleared away by an update.
cp $list whole.txt
tail -n 2 whole.txt >>$list
expect 2 "$TOPKCTS" check
says "is listed twice"
expect 0 "$TOPKCTS" run my-rows --provider reference --db twice.db
# What is listed twice belongs to the suites of both lines; a suite is its whole name.
line=$(grep -E ' (conformance,smoke|smoke,conformance)$' whole.txt | head -n 1)
name=$(echo "$line" | awk '{print $2}')
listed_in() { expect 0 "$TOPKCTS" list --suite "$1"; echo "$out" | grep -qxF "$name"; }
{ grep -vxF "$line" whole.txt; echo "${line% *} conformance"; echo "${line% *} smoke"; } >$list
listed_in smoke && listed_in conformance || fail "a case listed twice is not in the suites of both lines"
{ grep -vxF "$line" whole.txt; echo "${line% *} conformance,smokestack"; } >$list
listed_in smoke && fail "suite 'smokestack' was taken for 'smoke'"
{ echo '<<<<<<< ours'; cat whole.txt; echo =======; tail -n 2 whole.txt; echo '>>>>>>> theirs'; } >$list
expect 2 "$TOPKCTS" check
says "$list:1:"
expect 0 "$TOPKCTS" check --update
cmp -s $list whole.txt || fail "the merged list is not what it was"

# An update that cannot be written keeps the old file: no room, or a folder nobody may write.
(ulimit -f 0 && exec "$TOPKCTS" check --update) >out.txt 2>&1
[ $? = 3 ] || fail "no room: $(cat out.txt)"
cmp -s $list whole.txt || fail "no room: the list is damaged"
[ ! -e $list.new ] || fail "no room: a torn file stays behind"
mkdir $list.new
expect 3 "$TOPKCTS" check --update
says "$list.new"
cmp -s $list whole.txt || fail "the old list is not as it was"
rmdir $list.new

# What stands where the list belongs.
rm $list
mkdir $list
expect 2 "$TOPKCTS" check
says "is a folder"
rmdir $list
mkfifo $list
expect 2 timeout 20 "$TOPKCTS" check
says "is a named pipe"
expect 2 timeout 20 "$TOPKCTS" check --update
rm $list
: >$list
expect 2 "$TOPKCTS" check
says "does not list family 'my-rows'"
[ "$(echo "$err" | grep -c "does not list family")" = 1 ] || fail "one mistake is told twice"

# Large inputs take their time to be made: a terminal sees how far it is, a log is not filled with bars.
write "" ""
cat >project/registry/cases/large.yaml <<'YAML'
- id: large
  summary: some 100 MiB a case
  fault: short-row
  generator: random
  matrix: {topk: [512, 7, 9], length: [262144], batch: [100]}
  suites: {conformance: all}
YAML
expect 0 "$TOPKCTS" check --update
case $err in *"["*) fail "a bar in a log" ;; esac
python3 - "$TOPKCTS" >bar.txt <<'END' || fail "check --update in a terminal: $(cat bar.txt)"
import os, pty, sys
shown = []
def read(fd):
    shown.append(os.read(fd, 4096))
    return shown[-1]
code = pty.spawn([sys.argv[1], "check", "--update"], read)
text = b"".join(shown).decode()
sys.exit(code != 0 or "0 wrong" not in text or "#" not in text)
END
exit 0
