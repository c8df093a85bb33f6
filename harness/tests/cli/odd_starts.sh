# SPDX-License-Identifier: Apache-2.0
# The program started in odd ways, and told odd things: closed descriptors, few of them, ignored signals, words given
# twice or not in UTF-8, files that vanish. It works, or says what is wrong and exits as promised.
. "$(dirname "$0")/../expect.sh"
case_name='ragged-rows/topk=512,length=0+1+511+512+513+514*'

# Closed or full standard descriptors: an answer that nobody could read is no success, and nothing goes where it was not
# meant to go.
"$TOPKCTS" run "$case_name" --db closed.db --json-lines lines.json >&- 2>err.txt
[ $? = 3 ] || fail "closed stdout: not 3"
grep -q "could not be written" err.txt || fail "closed stdout: nothing said"
grep -vq '^{"case"' lines.json && fail "what was printed went into --json-lines"
"$TOPKCTS" list ragged-rows >/dev/full 2>/dev/null
[ $? = 3 ] || fail "full stdout: not 3"
"$TOPKCTS" run "$case_name" --db closed.db <&- 2>&- >out.txt || fail "closed stdin and stderr: $?"
[ "$(query closed.db "select count(*) from runs where exit_code = 0")" = 2 ] || fail "the runs are not closed"
"$TOPKCTS" run "$case_name" --db reader.db | true
[ "$(query reader.db "select exit_code from runs")" = 0 ] || fail "a reader that goes away ends the run"

# Children that nobody may wait for, few descriptors, no environment, another folder, a link to the program.
python3 -c "import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])" "$TOPKCTS" run "$case_name" --db signals.db >out.txt 2>&1 || fail "SIGCHLD ignored: $(cat out.txt)"
(ulimit -n 32 && exec "$TOPKCTS" run "$case_name" --db few.db --jobs 1) >out.txt 2>&1 || fail "32 descriptors: $(cat out.txt)"
(ulimit -n 24 && exec "$TOPKCTS" run ragged-rows --db few.db --jobs 64) >out.txt 2>&1
[ $? = 3 ] || fail "24 descriptors for 64 workers"
grep -q "Too many open files" out.txt || fail "24 descriptors: $(cat out.txt)"
env -i "$TOPKCTS" run "$case_name" --db bare.db >/dev/null 2>&1 || fail "no environment"
ln -s home home # a HOME that cannot be looked into
HOME=$PWD/home "$TOPKCTS" run "$case_name" --db home.db --source "$(dirname "$0")" >out.txt 2>&1 || fail "an unreadable HOME: $(cat out.txt)"
if git -C "$(dirname "$0")" rev-parse HEAD >commit.txt 2>/dev/null; then
    [ "$(query home.db "select source_commit from runs")" = "$(cat commit.txt)" ] || fail "an unreadable HOME: no commit"
fi
ln -s "$TOPKCTS" "link to it"
mkdir 'ä folder'
(cd 'ä folder' && "../link to it" run "$case_name" --db 'ö 1.db' >out.txt 2>&1) || fail "a link, an umlaut and a space"

# A stack that may hardly grow: allowed more, or said to be too small; never a signal.
(ulimit -S -s 64 && exec "$TOPKCTS" run "$case_name" --db stack.db) >out.txt 2>&1 || fail "a soft limit of 64 KiB of stack: $? $(cat out.txt)"
(ulimit -s 64 && exec "$TOPKCTS" run "$case_name" --db stack.db) >out.txt 2>&1
[ $? = 3 ] || fail "64 KiB of stack: not 3"
grep -q "the stack may grow to 64 KiB only; topkcts needs 1024" out.txt || fail "64 KiB of stack: $(cat out.txt)"

# A folder whose name is not UTF-8 around a registry: the path goes to workers as it is.
bytes=$(printf 'b\377\303\244')
mkdir -p "$bytes/mine/cases"
cat >"$bytes/mine/cases/mine.yaml" <<'Y'
- id: my-ties
  summary: a family in a folder of bytes
  fault: tie-break
  generator: ties
  matrix: {topk: [7], length: [1025]}
  suites: {smoke: all}
Y
(cd "$bytes" && exec "$TOPKCTS" run my-ties --registry mine --provider reference --db bytes.db) >out.txt 2>&1 || fail "a folder of bytes: $? $(cat out.txt)"

# A named pipe where a file belongs is never waited for.
mkfifo pipe.so
expect 2 timeout 20 "$TOPKCTS" run "$case_name" --provider ./pipe.so
says "is a named pipe"
expect 2 "$TOPKCTS" run "$case_name" --provider ./.so/
mkdir folder.so
expect 2 "$TOPKCTS" run "$case_name" --provider ./folder.so
says "is a folder"

# Words.
refused() {
    text=$1
    shift
    expect 2 "$TOPKCTS" "$@"
    says "$text"
    [ -z "$out" ] || fail "something was printed: $*"
}
refused "--suite is given twice" list --suite smoke --suite race
refused "--db is given twice" run --db a.db --db=b.db
refused "--json takes no value" list --json=yes
refused "an argument is empty" list ''
refused "takes no 'x'" devices x
refused "takes no 'x'" providers -- x
refused "takes no 'x'" check x
refused "a number from 0 to 100" run --retry ' 3'
refused "a number from 1 to 256" run --jobs 99999999999999999999
refused "a number from 1 to 256" run --jobs -1
refused "needs a value" run --label=
refused "is not UTF-8" list "$(printf '\377')"
refused "is not UTF-8" run --label "$(printf '\377')"
refused "'--json' matches no case" list -- --json

# What could not start leaves the lines of the run before.
expect 0 "$TOPKCTS" run "$case_name" --db good.db --json-lines kept.json
cp kept.json before.json
expect 3 "$TOPKCTS" run "$case_name" --db /nonexistent/x.db --json-lines kept.json
cmp -s kept.json before.json || fail "the lines of the run before are gone"

# A database that is removed while a run writes it: nothing more runs, and it is said.
"$TOPKCTS" run --suite conformance --provider reference --db gone.db --jobs 1 >out.txt 2>err.txt &
runner=$!
for i in 1 2 3 4 5 6 7 8 9 10; do
    sleep 0.3
    [ -e gone.db ] && [ "$(query gone.db "select count(*) from results where verdict = 'pass'" 2>/dev/null)" -gt 5 ] && break
done
rm gone.db
wait $runner
[ $? = 3 ] || fail "a removed database: not 3"
grep -q "was removed, moved or replaced" err.txt || fail "a removed database: $(cat err.txt)"
exit 0
