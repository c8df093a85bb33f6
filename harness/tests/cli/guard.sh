# SPDX-License-Identifier: Apache-2.0
# guard: a build that takes 30 % longer exceeds 10 %, a build against its own copy never does; what crashes, hangs or
# answers wrongly is not timed; nothing judged never exits 0; everything is in the database, also after kill -9.
. "$(dirname "$0")/../expect.sh"
plugins=$BUILD/harness/tests/plugins
base=$plugins/takes_two_ms.so
slower=$plugins/takes_two_ms_and_30_percent.so

mkdir -p mine/cases
cat >mine/cases/timed.yaml <<'END'
- id: timed
  summary: what the guards here time
  fault: tie-break
  generator: random
  matrix: {topk: [512], length: [1024], page_size: [64], batch: [1], outputs: [page]}
  seed: 1
END
declare_guard() { # id, providers, percent, declared, more
    printf -- '- id: %s\n  what: a guard of the tests\n  providers: %s\n  percent: %s\n  declared: %s\n  reason: a test\n  cases: ["timed"]\n%s' \
        "$1" "$2" "$3" "$4" "${5:-}" >>mine/guards.yaml
}
declare_guard ten '["*", paced]' 10 2026-01-02
declare_guard page-only '["*", "*"]' 10 2026-01-02 '  outputs: [page]
'
declare_guard built-in '[reference, reference]' 50 2026-01-02 '  outputs: [page]
'
guard() { "$TOPKCTS" guard "$@" --registry mine --db g.db; }

# A machine that is too busy for twelve rounds in that time is given more; the opposite answer fails at once.
seconds=6
while :; do
    guard ten --base "$base" --candidate "$slower" --seconds $seconds --label slower --json >out.json 2>err.txt; code=$?
    verdict=$(python3 -c 'import json; print(json.load(open("out.json"))["verdict"])')
    [ "$verdict" = "cannot tell" ] && [ $code = 3 ] && [ $seconds -lt 90 ] || break
    seconds=$((2 * seconds))
done
[ "$verdict" = exceeds ] && [ $code = 1 ] || fail "30 % slower at a limit of 10 %: $verdict, exit $code: $(cat out.json err.txt)"
python3 - <<'END' || fail "the answer is not what was stored: $(cat out.json)"
import json, sqlite3, statistics
told = json.load(open("out.json"))
assert 1.1 < told["overall"]["low"] <= told["overall"]["ratio"] <= told["overall"]["high"], told["overall"]
assert 1.2 < told["overall"]["ratio"] < 1.5, told["overall"]
assert {c["outputs"] for c in told["cells"]} == {"page", "page+raw"}
db = sqlite3.connect("g.db")
db.row_factory = sqlite3.Row
row = db.execute("SELECT * FROM guards WHERE session = ?", (told["session"],)).fetchone()
assert (row["verdict"], row["percent"], row["declared_at"], row["clock"], row["rounds"], row["same_build"], row["label"]) == \
    ("exceeds", 10, "2026-01-02", "wall", told["rounds"], 0, "slower"), dict(row)
for cell in db.execute("SELECT * FROM guard_cases WHERE session = ?", (told["session"],)).fetchall():
    legs = db.execute("SELECT round, place, arm, value_us FROM guard_samples WHERE session = ? AND outputs = ?",
                      (told["session"], cell["outputs"])).fetchall()
    ratios = []
    for r in range(told["rounds"]):
        of = lambda arm: statistics.median(l["value_us"] for l in legs if l["round"] == r and l["arm"] == arm)
        ratios.append(of("candidate") / of("base"))
        order = [next(l["arm"] for l in legs if l["round"] == r and l["place"] == p) for p in range(6)]
        assert order == order[::-1] and set(order) == {"base", "candidate", "copy"}, order
    # The ratio can be worked out from the samples.
    n = len(ratios)
    logs = sorted(ratios)
    median = logs[n // 2] if n % 2 else (logs[n // 2 - 1] * logs[n // 2]) ** 0.5
    assert abs(median - cell["ratio"]) < 1e-6, (median, cell["ratio"])
END
[ "$(query g.db "select count(*) from results")" = 0 ] || fail "a guard wrote results"

# The same build: never beyond the limit, whatever the machine does.
guard page-only --base "$base" --candidate "$base" --seconds 5 --json >same.json 2>err.txt; code=$?
python3 - $code <<'END' || fail "a build against itself: exit $code, $(cat same.json)"
import json, sys
told = json.load(open("same.json"))
assert told["same_build"] and (told["verdict"], int(sys.argv[1])) in (("within", 0), ("cannot tell", 3)), told["verdict"]
END
# Built in, without a file to copy.
guard built-in --seconds 5 >out.txt 2>err.txt; code=$?
{ [ $code = 0 ] || [ $code = 3 ]; } && grep -q "another process of the same provider" out.txt &&
    grep -q "the same build (their digests are equal)" out.txt || fail "built in: $code, $(cat out.txt err.txt)"

# What is not worth timing.
expect 1 guard page-only --base "$base" --candidate "$plugins/crash_on_launch.so" --seconds 20
prints "failed: the candidate crashed"
expect 1 guard page-only --base "$plugins/hang_in_launch.so" --candidate "$base" --seconds 20 --timeout 1
prints "failed: the base took more than"
expect 1 guard page-only --base "$base" --candidate "$plugins/launch_fails_sometimes.so" --seconds 20
prints "failed: the candidate"
expect 1 guard page-only --base "$base" --candidate "$plugins/open_fails.so" --seconds 20
prints "cannot be opened"
expect 1 guard page-only --base "$base" --candidate "$plugins/crash_at_load.so" --seconds 20
prints "cannot be loaded"
[ "$(query g.db "select count(*) from guards where verdict = 'failed'")" = 5 ] || fail "failures are not on record"
# Too little time is no judgement.
expect 3 guard ten --base "$base" --candidate "$slower" --seconds 1
prints "cannot tell"
[ "$(query g.db "select count(*) from guards where state = 'unfinished'")" = 0 ] || fail "a session was left open"

# Interrupted: said and stored. Killed: unfinished, and nothing else lost. No worker, no copy stays behind.
rm err.txt
guard ten --base "$base" --candidate "$base" --seconds 60 >out.txt 2>err.txt & pid=$!
while ! grep -qs "a round takes" err.txt; do sleep 0.2; kill -0 $pid 2>/dev/null || fail "it ended early: $(cat out.txt err.txt)"; done
# The shell function runs it as a child; signal the program itself.
program=$(pgrep -P $pid -x topkcts || echo $pid)
kill -INT "$program"; wait $pid; code=$?
[ $code = 3 ] && grep -q "interrupted after" out.txt || fail "interrupted: $code, $(cat out.txt err.txt)"
rm err.txt
mkdir tmp
export TMPDIR="$PWD/tmp"
guard ten --base "$base" --candidate "$base" --seconds 60 --label killed >out.txt 2>err.txt & pid=$!
while ! grep -qs "a round takes" err.txt; do sleep 0.2; kill -0 $pid 2>/dev/null || fail "it ended early: $(cat out.txt err.txt)"; done
program=$(pgrep -P $pid -x topkcts || echo $pid)
ls tmp/topkcts-guard-*/* >/dev/null || fail "no copy of the base to leave behind, so this tests nothing"
kill -9 "$program"; wait $pid 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do [ -z "$(ls tmp)" ] || sleep 0.5; done
[ -z "$(ls -A tmp)" ] || fail "a killed guard left behind: $(ls -R tmp)"
unset TMPDIR
[ "$(query g.db "select state, verdict is null from guards where label = 'killed'")" = "unfinished|1" ] || fail "killed: not unfinished"
[ "$(query g.db "select count(distinct round) >= 1 from guard_samples join guards using (session) where label = 'killed'")" = 1 ] ||
    fail "the first round of a killed session is lost"
expect 0 "$TOPKCTS" query guards --db g.db --json
prints '"unfinished"'
prints '"exceeds"'

# Merged: once, from either side, and a finished session beats its unfinished copy.
cp g.db part.db
sqlite3 part.db "update guard_session set ended_at = null, verdict = null where label = 'slower'; delete from guard_leg where round > 2"
expect 0 "$TOPKCTS" merge all.db part.db g.db g.db part.db
[ "$(query all.db "select count(*) from guards")" = "$(query g.db "select count(*) from guards")" ] || fail "merge lost sessions"
[ "$(query all.db "select verdict from guards where label = 'slower' order by started_at desc limit 1")" = exceeds ] || fail "merge kept the unfinished copy"
[ "$(query all.db "select count(*) from guard_samples")" = "$(query g.db "select count(*) from guard_samples")" ] || fail "merge lost samples"

# A session that does not count, as a run: not told unless asked for, whoever merges with whom; nothing is deleted.
session=$(query g.db "select session from guards where label = 'slower' order by started_at desc limit 1")
cp g.db before.db
expect 0 "$TOPKCTS" exclude "$session" --reason "somebody compiled" --db g.db
prints "guard session $session does not count any more: somebody compiled"
expect 0 "$TOPKCTS" query guards --db g.db --json
! grep -q "$session" expect.out || fail "query guards still tells of an excluded session"
expect 0 "$TOPKCTS" query guards --include-excluded 1 --db g.db --json
prints '"somebody compiled"'
[ "$(query g.db "select count(*) from guards")" = "$(query before.db "select count(*) from guards")" ] || fail "exclude deleted"
expect 0 "$TOPKCTS" merge left.db g.db before.db part.db
expect 0 "$TOPKCTS" merge right.db part.db before.db g.db
for db in left.db right.db; do
    [ "$(query $db "select session, reason from guard_exclusions")" = "$session|somebody compiled" ] || fail "$db: the exclusion is lost"
done
expect 2 "$TOPKCTS" exclude no-such-thing --reason x --db g.db
says "query guards"
# Before version 4 there was nothing to exclude: read as it is, brought forward when written to.
cp before.db three.db
sqlite3 three.db "drop view guard_exclusions; drop table guard_exclusion; pragma user_version = 3"
expect 0 "$TOPKCTS" query guards --db three.db --json
prints "$session"
[ "$(query three.db "pragma user_version")" = 3 ] || fail "a query migrated the database"
expect 0 "$TOPKCTS" exclude "$session" --reason "somebody compiled" --db three.db
expect 0 "$TOPKCTS" query guards --db three.db --json
! grep -q "$session" expect.out || fail "brought forward, and still told"

# A full disk is the books' error, and no verdict.
(ulimit -f 300; guard ten --base "$base" --candidate "$base" --seconds 20 >out.txt 2>err.txt); code=$?
[ $code = 3 ] && grep -q "topkcts: " err.txt || fail "full disk: $code, $(cat out.txt err.txt)"

# Wrong calls.
expect 2 guard
says "there are"
expect 2 guard nobody --base "$base" --candidate "$base"
says "no guard 'nobody'; there are"
expect 2 guard ten --base "$base" --candidate "$plugins/correct.so"
says "was declared for another pair"
expect 2 guard page-only --base "$base"
says "--candidate P is needed"
expect 2 guard ten --base "$base" --candidate ./none.so
says "none.so"
expect 2 guard ten --base "$base" --candidate "$base" --device sim
expect 2 guard ten --base "$base" --candidate "$base" --device cuda:0 --device cuda:1
# Cold caches are a GPU's.
declare_guard cold '["*", "*"]' 10 2026-01-02 '  cache: cold
'
expect 3 guard cold --base "$base" --candidate "$base" --seconds 10
prints "cold cache cannot be had on host"

# Mistakes in guards.yaml, each with its place.
mistake() { # text, what is said
    printf '%s\n' "$1" >mine/guards.yaml
    expect 2 "$TOPKCTS" check --registry mine
    says "mine/guards.yaml:"
    says "$2"
}
entry='- {id: g, what: w, providers: [a, b], percent: 5, declared: 2026-01-02, reason: r, cases: [timed]'
mistake "$entry, limit: 3}" "unknown key 'limit'"
mistake "$entry}
$entry}" "declared twice"
mistake '- {id: g, what: w, providers: [a, b], percent: 5, declared: 2026-01-02, cases: [timed]}' "lacks the required key 'reason'"
mistake '- {id: g, what: w, providers: [a, b], percent: 5, declared: 2026-02-30, reason: r, cases: [timed]}' "is no date"
mistake '- {id: g, what: w, providers: [a, b], percent: 5, declared: 2999-01-01, reason: r, cases: [timed]}' "a day to come"
mistake '- {id: g, what: w, providers: [a, b], percent: 0, declared: 2026-01-02, reason: r, cases: [timed]}' "out of range"
mistake '- {id: g, what: w, providers: [a, b], percent: 5e1, declared: 2026-01-02, reason: r, cases: [timed]}' "not a decimal number"
mistake '- {id: g, what: w, providers: [a], percent: 5, declared: 2026-01-02, reason: r, cases: [timed]}' "[base, candidate]"
mistake '- {id: g, what: w, providers: [a, b], percent: 5, declared: 2026-01-02, reason: r}' "neither 'suite' nor 'cases'"
mistake '- {id: g, what: w, providers: [a, b], percent: 5, declared: 2026-01-02, reason: r, suite: night}' "no suite 'night'"
mistake '- {id: g, what: w, providers: [a, b], percent: 5, declared: 2026-01-02, reason: r, cases: [nothing/here]}' "matches no case"
mistake "$entry, outputs: [pages]}" "page, page+raw, raw"
mistake "$entry, cache: hot}" "warm, cold"
printf '%s\n' '- {id: g, what: w, providers: ["*", "*"], percent: 5, declared: 2999-01-01, reason: r, cases: [timed]}' >mine/guards.yaml
expect 2 guard g --base "$base" --candidate "$base"
says "a day to come"
exit 0
