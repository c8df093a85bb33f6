# SPDX-License-Identifier: Apache-2.0
# A disk that fills up, a lock that is never released, a file that may not be written: exit 3, the reason, and a
# database that can be read; a run that a full disk ended goes on when there is room again.
. "$(dirname "$0")/../expect.sh"

run_in() { expect "$1" "$TOPKCTS" run 'row-lengths' 'bin-edges' 'boundary-ties' 'overflow-bins' --suite conformance --provider reference --db "$2"; }
readable() {
    [ "$(query "$1" "pragma integrity_check")" = ok ] || fail "$1 is damaged"
    query "$1" "select count(*) from results" >/dev/null || fail "$1 cannot be read"
}

# A limit on the size of files, at several sizes: before, in and after the plan.
whole=0
for blocks in 8 300 600 1200; do
    rm -f limit.db*
    (ulimit -f $blocks; exec "$TOPKCTS" run 'row-lengths' 'bin-edges' 'boundary-ties' --suite conformance --provider reference --db limit.db) >limit.out 2>limit.err
    code=$?
    err=$(cat limit.err)
    [ "$code" = 0 ] && whole=$((whole + 1)) && continue
    [ "$code" = 3 ] || fail "ulimit -f $blocks ends with exit $code: $err"
    says "limit.db"
    says "disk is full"
    [ ! -s limit.db ] || readable limit.db
done
[ "$whole" -le 1 ] || fail "no limit was low enough"

# A real file system that is full, where this may be made.
mkdir small
if mount -t tmpfs -o size=1m tmpfs small 2>/dev/null; then
    trap 'umount small' EXIT
    run_in 3 small/full.db
    says "disk is full"
    readable small/full.db
    # Nothing fits any more: whatever is written says so, and is no mistake of the command line.
    expect 0 "$TOPKCTS" run ragged-rows --provider reference --db there.db
    one=$("$TOPKCTS" list ragged-rows | head -1)
    dd if=/dev/zero of=small/fill bs=1k 2>/dev/null
    for command in "show $one --dump small/dump" "run ragged-rows --provider reference --db there.db --junit small/j.xml" \
        "report --db there.db --html small/pages" "merge small/merged.db there.db" \
        "run ragged-rows --provider reference --db there.db --json-lines small/lines.json"; do
        # shellcheck disable=SC2086
        expect 3 "$TOPKCTS" $command
        case $err in *Traceback*) fail "a traceback" ;; *"No space left on device"* | *"disk is full"*) ;; *) fail "$command: no reason" ;; esac
    done
    [ ! -e small/pages ] || fail "a report that could not be written left pages"
    rm -r small/fill small/dump small/merged.db*
    run=$(query small/full.db "select run from runs" 2>/dev/null)
    if [ -n "$run" ]; then
        done=$(query small/full.db "select count(*) from results where verdict = 'pass'")
        mount -o remount,size=64m small
        expect 0 "$TOPKCTS" run --resume "$run" --db small/full.db
        [ "$(query small/full.db "select count(*) from results where verdict = 'pass'")" = "$(query small/full.db "select count(*) from results")" ] ||
            fail "the run did not go on after $done verdicts"
    fi
else
    echo "note: no tmpfs can be mounted here; the limit on file sizes stands for a full disk"
fi

# A database that somebody else keeps locked.
expect 0 "$TOPKCTS" run ragged-rows --provider reference --db locked.db
python3 - <<'P' &
import sqlite3, time
db = sqlite3.connect("locked.db", isolation_level=None)
db.execute("begin immediate")
open("is-locked", "w").close()
time.sleep(60)
P
holder=$!
while [ ! -e is-locked ]; do sleep 0.1; done
expect 3 "$TOPKCTS" run ragged-rows --provider reference --db locked.db
says "locked by another process"
kill $holder
wait $holder 2>/dev/null
readable locked.db
exit 0
