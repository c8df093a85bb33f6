#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every adapter on one device, into one database: run_all.sh DEVICE [DATABASE [SUITE]]
#
# Meant for a machine with a GPU and the packages; what is absent is a skip that says so. PYTHON names the interpreter,
# TOPKCTS the program. v1 and the reference's oracle (NumPy) run beside them. Ends with a table from the database.
# Exit code 0: everything kept what it promised or was absent; 1: something did not; 3: nothing was judged.
set -u
[ $# -ge 1 ] || { sed -n '3,8s/^# \{0,1\}//p' "$0"; exit 2; }
device=$1
database=${2:-adapters.db}
suite=${3:-smoke}
root=$(cd "$(dirname "$0")/../.." && pwd)
here=$root/kernels/adapters
topkcts=${TOPKCTS:-$root/build/topkcts}
python=${PYTHON:-python3}
worst=0

judge() {
    echo "== $1"
    "$topkcts" run --suite "$suite" --device "$device" --provider "$1" --db "$database" --label adapters
    code=$?
    # Nothing judged is what an absent package comes to, and no news.
    [ "$code" = 3 ] || [ "$code" = 0 ] || worst=$code
}

judge v1
for call in torch_topk "sglang_topk public" "sglang_topk fallback" "sglang_topk aot" "sglang_topk v1" "sglang_topk v2" \
    "flashinfer_topk default" "flashinfer_topk deterministic" "flashinfer_topk tie-break" "flashinfer_topk both" \
    "vllm_topk per-row" "vllm_topk persistent" "vllm_topk cooperative" "aiter_topk default" "aiter_topk stable"; do
    script=${call%% *}.py
    mode=
    [ "$script" = "$call.py" ] || mode=" ${call#* }"
    judge "process:$python $here/$script$mode"
done
case $device in
cuda:*) target=${TARGET:-sm_90a} ;;
*) target=${TARGET:-gfx942} ;;
esac
case $database in */*) plugins=${database%.db}-plugins ;; *) plugins=./${database%.db}-plugins ;; esac
mkdir -p "$plugins"
PYTHON=$python sh "$here/build_sglang_v1.sh" "$plugins/sglang-v1.so" "$target" || echo "== SGLang's v1 source was not built: see above"
case $device in
cuda:*)
    PYTHON=$python sh "$here/build_sglang_v2.sh" "$plugins/sglang-v2.so" "$target" || echo "== SGLang's v2 source was not built: see above"
    PYTHON=$python sh "$here/build_flashinfer.sh" "$plugins" "$target" || echo "== FlashInfer's sources were not built: see above"
    ;;
esac
for plugin in "$plugins"/*.so; do
    if [ -e "$plugin" ]; then judge "$plugin"; fi
done
sqlite3 -header -column "$database" "select provider, provider_version as version, verdict, count(*) as n,
    sum(level in ('set-repeatable', 'repeatable', 'invariant', 'canonical')) as set_repeatable, sum(set_exact = 1) as set_exact
    from results where label = 'adapters' group by 1, 2, 3 order by 1, 3"
judged=$(sqlite3 "$database" "select count(*) from results where label = 'adapters' and verdict not in ('skip', 'notrun', 'error')")
[ "$judged" -gt 0 ] || exit 3
exit "$worst"
