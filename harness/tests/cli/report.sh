#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# report: a real run with a planted fault becomes pages that name it; wrong calls say what is right. The pages in a
# browser are reports/tests/browser_test.py.
set -u
fail() { echo "$*"; exit 1; }

"$TOPKCTS" report --db t.db >/dev/null 2>err; rc=$?
[ $rc = 2 ] && grep -q -- '--html DIR' err || fail "without --html: $rc, $(cat err)"
"$TOPKCTS" report --db missing.db --html out >/dev/null 2>err; rc=$?
[ $rc = 3 ] && grep -q 'missing.db' err || fail "a missing database: $rc, $(cat err)"
[ ! -e out ] || fail "a refused report left pages"

"$TOPKCTS" run 'boundary-ties/*topk=512,length=4096*' --provider reference --provider faulty/tie-highest --db t.db >/dev/null 2>&1
sqlite3 t.db "SELECT 1 FROM latest LIMIT 1" | grep -q 1 || fail "nothing to report"
if ! python3 -c 'import jinja2, plotly.offline' 2>/dev/null && ! /usr/bin/python3 -c 'import jinja2, plotly.offline' 2>/dev/null; then
    "$TOPKCTS" report --db t.db --html out >/dev/null 2>err; rc=$?
    [ $rc = 3 ] && grep -q 'python3-plotly' err || fail "without the libraries: $rc, $(cat err)"
    echo "pages not tested: no Jinja2 or plotly here (Debian: python3-jinja2 python3-plotly)"
    exit 0
fi
"$TOPKCTS" report --db t.db --html out >said 2>err || fail "report ended with $?: $(cat err)"
for file in index.html cases.html case.html data/index.js data/cases-0.js assets/report.css assets/report.js assets/plotly.min.js; do
    [ -s "out/$file" ] || fail "out/$file is missing or empty"
done
grep -q 'boundary-ties' out/index.html || fail "the first page does not name the family"
grep -qE 'https?://' out/index.html out/cases.html out/case.html && fail "a page asks the network"
python3 - <<'END' || fail "the data is not as the database has it"
import json, sqlite3
text = open("out/data/cases-0.js", encoding="utf-8").read()
cases = {c["name"]: c for c in json.loads(text[text.index("(") + 1:text.rindex(")")])}
for name, provider, verdict in sqlite3.connect("t.db").execute("SELECT case_name, provider, verdict FROM latest"):
    found = {n["provider"]: n["verdict"] for n in cases[name]["now"]}
    assert found.get(provider) == verdict, (name, provider, verdict, found)
assert any(c["failures"] for c in cases.values()), "no failing row is told"
END
# Made again over old pages, with nothing left of them.
"$TOPKCTS" report --db t.db --html out >/dev/null 2>&1 || fail "the second time it ended with $?"
# Pages that cannot be finished (plotly's own script is longer than a file may be) leave nothing, and old ones as they were.
pages() { find out | sort; find out -type f | sort | xargs cksum; }
pages >before
for place in new/pages out; do
    (ulimit -f 2000; exec "$TOPKCTS" report --db t.db --html $place) >/dev/null 2>err; rc=$?
    [ $rc = 3 ] && grep -q "$place" err || fail "pages that cannot be written to $place: $rc, $(cat err)"
done
[ ! -e new ] || fail "half-written pages are left: $(find new)"
pages | cmp -s before - || fail "old pages are gone"
# A row that failed in another launch than the case's own, which has no such row: told, without a picture.
"$TOPKCTS" run 'graph-replays/topk=512,length=2049*' --provider faulty/tie-highest --db other.db >/dev/null 2>&1
[ "$(sqlite3 other.db 'select count(*) from row_failures f join results r using (run, case_name) where f.row >= r.batch')" -ge 1 ] ||
    fail "no row beyond the case's own failed"
"$TOPKCTS" report --db other.db --html other >/dev/null 2>err || fail "a row of another launch: $?, $(cat err)"
# A database where nothing may be written.
mkdir fixed && cp other.db fixed/
if mount --bind fixed fixed 2>/dev/null && mount -o remount,ro,bind fixed; then
    trap 'umount fixed' EXIT
else
    chmod 444 fixed/other.db && chmod 555 fixed
fi
"$TOPKCTS" report --db fixed/other.db --html read >/dev/null 2>err || fail "a database on a read-only file system: $?, $(cat err)"
exit 0
