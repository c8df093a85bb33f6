# SPDX-License-Identifier: Apache-2.0
# What is known to fail: it still runs, is xfail, does not turn a run red; one that passes is xpass, and its streak is
# told; one that is out of date is absent to a run and an error to check. Flaky cases get a rate. Skips have bounds.
. "$(dirname "$0")/../expect.sh"
so=$BUILD/harness/tests/plugins

mkdir -p mine/cases mine/expected
cat >mine/cases/mine.yaml <<'Y'
- id: my-ties
  summary: equal scores straddle place topk
  fault: tie-break
  generator: ties
  params: {distinct: 2, boundary: inside-plateau}
  matrix: {topk: [1, 7], length: [1025]}
  suites: {my-night: all}
Y
cat >mine/suites.yaml <<'Y'
- id: my-night
  summary: a strict night of one's own
  budget_seconds: 60
  strict: true
Y
entry() { # verdict provider expires [level]
    cat >mine/expected/known.yaml <<Y
- case: "my-ties/*"
  arch: "*"
  provider: "$2"
  verdict: $1
  reason: known
  issue: https://example.org/issues/7
  expires: $3
${4:+  level: $4}
Y
}
night() { expect "$1" "$TOPKCTS" run --suite my-night --registry mine --db e.db --timeout 1 --provider "$2"; }
newest() { query e.db "select group_concat(distinct verdict) from results where run = (select run from runs order by started_at desc limit 1)"; }

entry fail faulty/tie-highest 2999-01-31
night 0 faulty/tie-highest
[ "$(newest)" = xfail ] || fail "an expected failure came to $(newest)"
[ "$(query e.db "select distinct expected from results")" = https://example.org/issues/7 ] || fail "the issue is not stored"
entry fail faulty/tie-highest 2999-01-31 canonical
night 1 faulty/tie-highest # it stops below the level that is expected
entry crash faulty/tie-highest 2999-01-31
night 1 faulty/tie-highest # another verdict than expected

# It holds for the day it expires on, and for what its globs say alone.
today=$(date -u +%F)
entry fail faulty/tie-highest "$today"
tie_highest() { expect "$1" "$TOPKCTS" run --suite my-night --registry mine --db e.db --provider faulty/tie-highest; }
if [ "$today" = "$(date -u -d '+5 minutes' +%F)" ]; then tie_highest 0; fi # not across midnight
entry fail 'faulty/tie-lowest*' 2999-01-31
tie_highest 1
entry fail faulty/tie-highest 2999-01-31
sed -i 's/  arch: .*/  arch: "gfx*"/' mine/expected/known.yaml
tie_highest 1
sed -i 's/  arch: .*/  device_id: "GPU-*"/' mine/expected/known.yaml
tie_highest 1
sed -i 's/  device_id: .*/  device_id: "host:*"/' mine/expected/known.yaml
tie_highest 0

# Expected crashes are not counted towards giving up, and still run.
entry crash crash_on_launch 2999-01-31
night 0 "$so/crash_on_launch.so"
[ "$(newest)" = xfail ] || fail "expected crashes came to $(newest)"

# A streak of passes that were expected to fail.
entry fail reference 2999-01-31
night 0 reference
prints "reference passed 1 run in a row although https://example.org/issues/7 expects otherwise"
night 0 reference
night 0 reference
prints "passed 3 runs in a row"
prints "time to remove the expectation"
[ "$(newest)" = xpass ] || fail "a pass that was expected to fail came to $(newest)"

# Out of date: absent and warned of, and red in check.
entry fail faulty/tie-highest 2020-01-31
night 1 faulty/tie-highest
says "expired on 2020-01-31"
[ "$(query e.db "select count(*) from run_warnings where warning like '%known.yaml:1: this expectation expired on 2020-01-31%'")" = 1 ] || fail "the warning is not stored"
expect 2 "$TOPKCTS" check --registry mine
says "expired on 2020-01-31"
entry fail faulty/tie-highest 2999-01-31
sed -i 's|my-ties/|no-such-family/|' mine/expected/known.yaml
night 1 faulty/tie-highest
says "matches no case"
[ "$(query e.db "select count(*) from run_warnings where warning like '%matches no case%'")" = 1 ] || fail "the warning is not stored"
expect 2 "$TOPKCTS" check --registry mine
says "matches no case"
# Mistyped ones are errors of any command that reads them.
entry fial faulty/tie-highest 2999-01-31
night 2 faulty/tie-highest
says "known.yaml:4"
says "fail, crash, timeout"
entry fail faulty/tie-highest 2999-13-31
night 2 faulty/tie-highest
says "is no date"
entry fail faulty/tie-highest 2999-01-31 perfect
night 2 faulty/tie-highest
says "set-repeatable"
rm mine/expected/known.yaml

# A case that needed a retry is flaky, never a plain pass; its rate comes with an interval.
flaky() { expect 1 "$TOPKCTS" run --suite my-night --registry mine --db flaky.db --jobs 1 --provider "$so/fails_first_launch.so" --retry 2; }
flaky
prints "flaky  my-ties/"
prints "in 1 of 1 runs (100 %, 95 % interval 21 to 100 %)"
flaky
prints "in 2 of 2 runs (100 %, 95 % interval 34 to 100 %)"
expect 0 "$TOPKCTS" exclude "$(query flaky.db "select min(run) from runs")" --reason "a broken cable" --db flaky.db
flaky
prints "in 2 of 2 runs"
[ "$(query flaky.db "select count(*) from results where verdict = 'flaky' and attempt = 2 and reason like 'attempts disagree: the first came to fail, number 2 to pass%'")" = 3 ] || fail "no flaky row for the second attempt"
[ "$(query flaky.db "select count(*) from results where verdict = 'fail' and attempt = 1")" = 3 ] || fail "the first attempt did not keep its row"
[ "$(query flaky.db "select count(*) from latest where verdict = 'flaky'")" = 1 ] || fail "latest does not hold the last attempt"

# Skips: none in a strict suite, unless skips.yaml allows them by reason; and never all.
sed -i 's/topk: \[1, 7\]/topk: [7, 1024]/' mine/cases/mine.yaml
rm -f e.db*
night 1 "$so/supports_some.so"
prints "1 skips over their bound"
cat >mine/skips.yaml <<'Y'
- suite: my-night
  device: "host*"
  provider: supports_some
  reason: "*is above 512*"
  at_most: 1
Y
night 0 "$so/supports_some.so"
sed -i 's/at_most: 1/at_most: 0/' mine/skips.yaml
night 1 "$so/supports_some.so"
sed -i 's/at_most: 0/at_most: 9/; s/my-night/my-nihgt/' mine/skips.yaml
night 2 "$so/supports_some.so"
says "my-night"
rm mine/skips.yaml
sed -i 's/topk: \[7, 1024\]/topk: [1023, 1024]/' mine/cases/mine.yaml
sed -i '/strict: true/d' mine/suites.yaml
night 3 "$so/supports_some.so"
exit 0
