#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whether the fuzzer finds what is planted and nothing else: every host fault that is built in, without the registry,
# within 60 seconds; no failure of providers that are right. `make fuzz` runs it; it takes minutes.
#
#     fuzz_faults.sh [SECONDS [SEED]]      SECONDS for each fault, and of search in each right provider

set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$root/build}
topkcts=$BUILD/topkcts
seconds=${1:-60}
seed=${2:-1}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
wrong=0
right=0

# NAME WANTED-CODE OPTIONS..: one line with what came of it.
look() {
    name=$1
    wanted=$2
    shift 2
    "$topkcts" fuzz --seconds "$seconds" --findings "$scratch/findings" --json "$@" >"$scratch/out" 2>"$scratch/err"
    code=$?
    python3 - "$name" "$code" "$wanted" "$scratch/out" <<'END'
import json, sys
name, code, wanted, path = sys.argv[1:5]
try:
    run = json.load(open(path))
except ValueError:
    run = {"problems": 0, "seconds": 0.0, "cpu_seconds": 0.0, "kinds": []}
first = min((kind["seconds"] for kind in run["kinds"]), default=run["seconds"])
what = run["kinds"][0]["kind"] if run["kinds"] else ""
print("%-5s %-34s %7d problems %6.1f s  %4.0f us each  %s" % (
    "ok" if code == wanted else "WRONG", name, run["problems"], first,
    1e6 * run["cpu_seconds"] / max(run["problems"], 1), what[:70]))
END
    if [ "$code" = "$wanted" ]; then
        right=$((right + 1))
    else
        wrong=$((wrong + 1))
        tail -n 3 "$scratch/err"
    fi
}

faults=$("$topkcts" providers | awk '$1 ~ /^faulty\// && $2 == "host" { print $1 }')
[ -n "$faults" ] || { echo "no planted faults: topkcts providers lists none"; exit 1; }
for fault in $faults; do
    look "$fault" 1 --provider "$fault" --seed "$seed" --fail-fast --timeout 2
done
for plugin in kernels/plugin/correct kernels/plugin/template harness/tests/plugins/correct_valid_any; do
    look "$plugin" 0 --provider "$BUILD/$plugin.so" --seed "$seed"
done
look reference 0 --provider reference --seed "$seed"
look "v1 on sim" 0 --provider v1 --device sim --seed "$seed"
echo "$right as they should be, $wrong not"
[ "$wrong" = 0 ]
