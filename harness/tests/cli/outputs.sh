# SPDX-License-Identifier: Apache-2.0
# What a run hands to others: JUnit that real consumers read, Markdown, JSON lines, a rerun command that reruns, one
# line at the end that says it all.
. "$(dirname "$0")/../expect.sh"
so=$BUILD/harness/tests/plugins

# What a provider prints may be anything: control characters, markup, broken UTF-8.
cat >rude.c <<'C'
#include "provider.h"
#include <stdio.h>
#include <string.h>
static int open_rude(int device, void **self, char *err, size_t size) { (void)device; (void)err; (void)size; *self = (void *)1; return 0; }
static int launch_rude(void *self, const struct topk_problem *problem, char *err, size_t size)
{
    (void)self; (void)problem;
    printf("<![CDATA[ ]]> & \001 \377\376 </testcase>\n");
    fflush(stdout);
    snprintf(err, size, "<b>\"no\" & \003 ]]> \xc3\xa9</b>");
    return 1;
}
static void close_rude(void *self) { (void)self; }
static const struct topk_provider rude = {.abi = TOPK_PROVIDER_ABI, .name = "rude <&\">", .version = "1", .memory = TOPK_MEMORY_HOST,
    .claims = {.level = TOPK_LEVEL_CANONICAL}, .open = open_rude, .launch = launch_rude, .close = close_rude};
const struct topk_provider *topk_provider_entry(void) { return &rude; }
C
header=$(dirname "$0")/../..
${CC:-cc} -shared -fPIC -I"$header" -o rude.so rude.c || fail "the rude plugin cannot be compiled"

expect 1 "$TOPKCTS" run ragged-rows --provider reference --provider ./rude.so --provider "$so/supports_nothing.so" \
    --provider "$so/crash_on_launch.so" --db o.db --junit o.xml --markdown o.md --json-lines o.jsonl
digest=$(echo "$out" | tail -1)
case $digest in "not ok: "*"; run "*" in o.db") ;; *) fail "the last line is no digest: $digest" ;; esac

cat >read_junit.py <<'P'
import json, sqlite3, sys
import xml.etree.ElementTree as tree

suites = tree.parse("o.xml").getroot()
rows = sqlite3.connect("o.db").execute("select provider, verdict, count(*) from results group by 1, 2").fetchall()
expected = {"fail": "failure", "flaky": "failure", "crash": "error", "timeout": "error", "error": "error",
            "notrun": "error", "skip": "skipped", "xfail": "skipped"}
found = {}
for suite in suites.findall("testsuite"):
    counts = {"failure": 0, "error": 0, "skipped": 0}
    cases = suite.findall("testcase")
    for case in cases:
        kinds = [e.tag for e in case if e.tag in counts]
        assert len(kinds) <= 1, kinds
        for kind in kinds:
            counts[kind] += 1
            if kind != "skipped":
                assert "rerun: topkcts run " in case.find(kind).text, case.find(kind).text
        found.setdefault((suite.get("name").split(".", 1)[1].rsplit(".", 1)[0]), []).append(kinds[0] if kinds else None)
    assert int(suite.get("tests")) == len(cases)
    assert int(suite.get("failures")) == counts["failure"]
    assert int(suite.get("errors")) == counts["error"]
    assert int(suite.get("skipped")) == counts["skipped"]
for provider, verdict, n in rows:
    assert found[provider].count(expected.get(verdict)) >= n, (provider, verdict, n, found[provider])
assert sum(map(len, found.values())) == sum(n for _, _, n in rows)
lines = [json.loads(line) for line in open("o.jsonl", encoding="utf-8")]
assert len(lines) == sum(n for _, _, n in rows)
try:
    import junitparser
except ImportError:
    sys.exit(print("junitparser is not there"))
read = junitparser.JUnitXml.fromfile("o.xml")
assert sum(len(list(suite)) for suite in read) == len(lines)
bad = [case for suite in read for case in suite if any(isinstance(r, (junitparser.Failure, junitparser.Error)) for r in case.result)]
assert len(bad) == sum(n for _, v, n in rows if expected.get(v) in ("failure", "error")), len(bad)
print("read by junitparser")
P
python=python3
if python3 -m venv --system-site-packages venv >/dev/null 2>&1 && venv/bin/pip install -q junitparser >/dev/null 2>&1; then python=venv/bin/python; fi
$python read_junit.py >read.txt 2>&1 || fail "the JUnit file: $(cat read.txt)"
cat read.txt

# Markdown: a table and, for each failure, the command that reruns it.
grep -q '^| provider | device | cases |' o.md || fail "no table in the Markdown"
grep -q '`topkcts run ' o.md || fail "no rerun command in the Markdown"
grep -qF "$digest" o.md || fail "no digest in the Markdown"

# The printed rerun line reruns one case alone and comes to the same.
expect 1 "$TOPKCTS" run ragged-rows --provider faulty/tie-highest --device host --db f.db || true
if [ "$(query f.db "select count(*) from results where verdict = 'fail'")" -ge 1 ]; then
    line=$(echo "$out" | sed -n 's/^ *rerun: topkcts //p' | head -1)
    eval "expect 1 \"\$TOPKCTS\" $line --db rerun.db"
    [ "$(query rerun.db "select count(*) || max(verdict) from results")" = 1fail ] || fail "the rerun came to something else"
fi

# Files that cannot be written: exit 3, the place named.
expect 3 "$TOPKCTS" run ragged-rows --provider reference --db o.db --junit /no/such/folder/o.xml
says /no/such/folder/o.xml
expect 3 "$TOPKCTS" run ragged-rows --provider reference --db o.db --json-lines /dev/full
says /dev/full
expect 3 "$TOPKCTS" run ragged-rows --provider reference --db o.db --markdown /dev/full
says /dev/full

# Told before anything runs, not after the night.
mkdir folder.xml
expect 3 "$TOPKCTS" run ragged-rows --provider reference --db none.db --junit folder.xml
says "folder.xml: cannot be written: a folder"
expect 3 "$TOPKCTS" run ragged-rows --provider reference --db none.db --junit /no/such/folder/o.xml
[ ! -e none.db ] || fail "it ran, although its JUnit file cannot be written"
# A name is a name, no URI; what is no regular file is never replaced by one.
expect 0 "$TOPKCTS" run ragged-rows --provider reference --db o.db --junit 'a%41 file:.xml' --label "$(printf 'a\357\277\277b')"
python3 -c "import sys, xml.dom.minidom; xml.dom.minidom.parse('a%41 file:.xml')" || fail "no XML"
mkfifo pipe.xml
cat pipe.xml >read.xml &
expect 0 "$TOPKCTS" run ragged-rows --provider reference --db o.db --junit pipe.xml
wait $!
[ -p pipe.xml ] || fail "a pipe was replaced by a file"
grep -q '</testsuites>' read.xml || fail "nothing came through the pipe"
expect 2 "$TOPKCTS" run ragged-rows --provider reference --db none.db --source-base HEAD
says "without --source"

# Suite meta: planted faults that are caught are no failures to a consumer.
expect 0 "$TOPKCTS" run --suite meta --provider faulty/tie-highest --provider reference --db meta.db --junit meta.xml
python3 - <<'P' || fail "the JUnit file of suite meta"
import xml.etree.ElementTree as tree
suites = tree.parse("meta.xml").getroot().findall("testsuite")
assert len(suites) == 2 and all(s.get("failures") == "0" and s.get("errors") == "0" for s in suites)
assert any(c.get("name") == "caught" for c in suites[0].findall("testcase"))
P
exit 0

# Beyond the failures with details each has a line with its provider, then where the reasons are; who was never loaded is
# announced with no claims.
"$TOPKCTS" run 'boundary-ties/*' --provider faulty/tie-highest --device host --db many.db >many.out 2>&1 && fail "the planted fault passes"
grep -q '^fail  boundary-ties/.*  (faulty/tie-highest on host)$' many.out || fail "a listed failure does not name its provider"
grep -q '^Details of the first 10; the reasons of all are in many.db, view results$' many.out || fail "where the reasons are"
"$TOPKCTS" run 'few-winners/*' --provider 'process:false' --db unloaded.db >unloaded.out 2>&1 && fail "a provider that ends at once passes"
grep -q '^false unknown on host .*: not loaded; ' unloaded.out || fail "claims of a provider that was never asked"
