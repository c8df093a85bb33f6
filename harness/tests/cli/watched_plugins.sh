#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Plugins with kernels and host code, built by `topkcts plugin` and judged on the simulator: the right ones pass, each
# wrong one fails with the word that its own comment ends in.
. "$(dirname "$0")/../expect.sh"
project=$(cd "$(dirname "$TOPKCTS")/.." && pwd)
cp "$project"/kernels/tests/plugins/*.hip .

cases="uneven-rows/* output-bounds/topk=33,*,outputs=page+raw*"

for file in *.hip; do
    name=$(basename "$file" .hip)
    expect 0 "$TOPKCTS" plugin "$file"
    case $name in
    right-*) expect 0 "$TOPKCTS" run $cases --suite race --device sim --provider "./$name.so" --db s.db ;;
    wrong-*)
        word=$(sed -n '2s/.* \([a-z-]*\) \*\/$/\1/p' "$file")
        expect 1 "$TOPKCTS" run $cases --suite race --fail-fast --device sim --provider "./$name.so" --db s.db
        prints "on sim: $word: kernel "
        prints " at right-split.hip:"
        ;;
    esac
done

# A plugin for the simulator names its kernels by source line, and does not run elsewhere.
printf '#include "no_such_header.h"\n' >none.hip
expect 1 "$TOPKCTS" plugin none.hip
says "no_such_header.h"
cp "$project/kernels/plugin/gpu.cu" chevrons.cu
expect 1 "$TOPKCTS" plugin chevrons.cu
says "the simulator has no kernel<<<...>>>: launch by hipLaunchKernelGGL"
expect 2 "$TOPKCTS" plugin none
says "has no ending"
