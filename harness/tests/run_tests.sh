#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs all tests and counts them: the Criterion binaries given as arguments, then every script of harness/tests/cli.
# A script runs in an empty folder of its own, with TOPKCTS (the program) and BUILD (the build folder) set, and passes
# when it exits 0; 77 says that this machine lacks what it tests. The last line is "N passed, N failed"; the exit code is 0 only when something passed and nothing
# failed.
#
#     ONLY=word      only the scripts whose names hold the word, and no Criterion binaries

set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=$(cd "${BUILD:-$root/build}" && pwd)
TOPKCTS=$BUILD/topkcts
export BUILD TOPKCTS
passed=0
failed=0
skipped=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cd "$root" || exit 1
for binary in "$@"; do
    [ -n "${ONLY:-}" ] && continue
    log=$scratch/criterion.log
    "$binary" -j2 >"$log" 2>&1
    code=$?
    synthesis=$(sed 's/\x1b\[[0-9;]*m//g' "$log" | grep -o 'Tested: .*' | tail -n 1)
    tested=$(echo "$synthesis" | sed -n 's/.*Tested: \([0-9]*\).*/\1/p')
    passing=$(echo "$synthesis" | sed -n 's/.*Passing: \([0-9]*\).*/\1/p')
    if [ -z "$tested" ] || [ "$tested" = 0 ]; then
        echo "FAIL $binary: no test ran (exit $code)"
        tail -n 20 "$log"
        failed=$((failed + 1))
        continue
    fi
    passed=$((passed + passing))
    failed=$((failed + tested - passing))
    if [ "$code" -ne 0 ] || [ "$tested" != "$passing" ]; then
        [ "$tested" = "$passing" ] && failed=$((failed + 1))
        echo "FAIL $binary: $synthesis (exit $code)"
        grep -vE '^\[====\]' "$log" | head -n 60
    else
        echo "ok   $binary: $passing tests"
    fi
done

for script in "$root"/harness/tests/cli/*.sh "$root"/harness/fleet/tests/*.sh "$root"/reports/tests/*.sh \
    "$root"/kernels/adapters/tests/*.sh "$root"/kernels/adapters/*/tests/*.sh; do
    [ -e "$script" ] || continue
    name=${script#"$root"/}
    case $name in *"${ONLY:-}"*) ;; *) continue ;; esac
    folder=$scratch/$(basename "$script" .sh)
    mkdir -p "$folder"
    started=$(date +%s)
    (cd "$folder" && timeout 600 sh "$script" >"$scratch/cli.log" 2>&1)
    code=$?
    if [ "$code" -eq 0 ]; then
        passed=$((passed + 1))
        echo "ok   $name ($(($(date +%s) - started)) s)"
    elif [ "$code" -eq 77 ]; then
        skipped=$((skipped + 1))
        echo "skip $name: $(tail -n 1 "$scratch/cli.log")"
    else
        failed=$((failed + 1))
        echo "FAIL $name"
        tail -n 40 "$scratch/cli.log"
    fi
done

[ "$skipped" -eq 0 ] || echo "$skipped skipped: what they test is not on this machine"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
