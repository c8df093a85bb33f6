#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernel sources, right and wrong, watched on the simulator: the right ones pass, each wrong one fails with the word that
# its own comment ends in, with kernel, thread and line.
project=$(cd "$(dirname "$TOPKCTS")/.." && pwd)
sources=$project/kernels/tests/sources
cases='uneven-rows/* output-bounds/topk=33,*,outputs=page+raw*'
bad=0

note() { echo "$1"; bad=1; }

for file in "$sources"/*; do
    name=$(basename "$file")
    "$TOPKCTS" run $cases --suite race --fail-fast --device sim --provider "$file" --db s.db >out 2>&1
    code=$?
    case $name in
    right-*) [ $code = 0 ] || { note "$name: exit code $code"; grep ' on sim: ' out; } ;;
    wrong-*)
        word=$(sed -n '3s/.* \([a-z-]*\) \*\/$/\1/p' "$file")
        [ $code = 1 ] || note "$name: exit code $code, expected 1"
        if [ "$word" = reject ]; then
            grep -q 'rejects the source.*grid_of_all_blocks_sync' out || note "$name: the compiler's message is missing"
        elif [ "$word" = wave-size ]; then
            grep -q ' on sim: wave-size: wave 64 gives other bytes than wave 32' out || note "$name: the wave size is not named"
        else
            grep -q " on sim: $word: kernel topk_kernel" out || { note "$name: no $word"; grep ' on sim: ' out | head -1; }
        fi ;;
    esac
done
cat >constructor.hip <<'END'
// topkcts: block=64 level=safe
struct counter { int x; __device__ counter() { x = threadIdx.x; } };
extern "C" __global__ void topk_kernel(const float *, const int32_t *, const int32_t *, int32_t *page_indices, int32_t *,
                                       int64_t, int64_t, int32_t, int32_t, void *)
{
    __shared__ counter c;
    page_indices[0] = c.x;
}
END
"$TOPKCTS" run $cases --suite race --fail-fast --device sim --provider ./constructor.hip --db s.db >out 2>&1
[ $? = 1 ] || note "a constructor in LDS: expected exit code 1"
grep -q 'a __shared__ object with a constructor' out || note "a constructor in LDS is not refused by name"
# The template passes as it stands, under both names; a kernel of another name is told what is looked for.
cp "$project/kernels/plugin/kernel.hip" template.cu
for file in "$project/kernels/plugin/kernel.hip" ./template.cu; do
    "$TOPKCTS" run $cases --suite race --device sim --watch --provider "$file" --db s.db >out 2>&1 ||
        { note "$file: exit code $?"; grep ' on sim: ' out; }
done
sed 's/topk_kernel(/my_kernel(/' template.cu >named.cu
"$TOPKCTS" run $cases --suite race --fail-fast --device sim --provider ./named.cu --db s.db >out 2>&1
[ $? = 1 ] || note "a kernel of another name: expected exit code 1"
grep -q 'no kernel named topk_kernel .*int64_t score_stride, .*kernels/plugin/kernel.hip' out || note "the kernel's parameters are not named"
printf '// no first line\n' >none.hip
"$TOPKCTS" run --device sim --provider ./none.hip --db s.db >out 2>&1
[ $? = 2 ] || note "a source without its first line: expected exit code 2"
exit $bad
