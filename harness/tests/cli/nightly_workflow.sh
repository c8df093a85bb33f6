#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The steps of the nightly workflow as they stand in the file, run here: the GPU is replaced by the host and the suite
# by one that a host can run; everything else is as the runner would do it. No GitHub runner and no GPU takes part.
set -eu
home=$(cd "$(dirname "$0")/../../.." && pwd)
fail() { echo "$*"; exit 1; }
mkdir build
ln -s "$TOPKCTS" build/topkcts
export HISTORY="$(pwd)/history" SUITE=smoke GITHUB_STEP_SUMMARY="$(pwd)/summary.md" GITHUB_RUN_ID=7 GITHUB_RUN_ATTEMPT=1
# step NAME: its script, as YAML's | and > blocks fold it, adapted to a machine without the GPU.
step() {
    awk -v name="      - name: $1" '
        $0 == name { inside = 1; next }
        inside && /^      - / { exit }
        inside && /^        run: [|>]$/ { fold = $2 == ">"; body = 1; next }
        inside && /^        run: / { sub(/^        run: /, ""); print; exit }
        body && /^          / { sub(/^          /, ""); printf "%s%s", $0, fold ? " " : "\n" }
    ' "$home/.github/workflows/nightly-gfx1100.yml" >step.txt
    [ -s step.txt ] || fail "there is no step '$1'"
    sed -e 's/--device hip:0 --provider v1/--device host --provider reference/' -e "s|--source \.|--source $home|" step.txt >step.sh
    bash -e step.sh >log 2>&1 || { cat log; fail "step '$1'"; }
}
step "What is here"
step "Night"
step "Into the history"
step "What the history says"
[ "$(sqlite3 history/topkcts.db "SELECT count(DISTINCT run) || ' ' || (count(*) > 100) FROM latest WHERE label = 'night-7-1'")" = "1 1" ] || fail "the night did not reach the history"
grep -q "night-7-1" summary.md || fail "the summary does not name the night"
# A broken night is red and reaches the history all the same.
if "$TOPKCTS" run --suite smoke --device host --provider faulty/tie-highest --label night-8-1 --db night.db >log 2>&1; then fail "a broken night is green"; fi
step "Into the history"
[ "$(sqlite3 history/topkcts.db "SELECT count(DISTINCT label) FROM runs WHERE label LIKE 'night-_-1'")" = 2 ] || fail "the broken night did not reach the history"
