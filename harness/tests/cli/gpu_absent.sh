# SPDX-License-Identifier: Apache-2.0
# Machines without a GPU, and with half of what one needs: every absence has its reason, and nothing falls back in silence.
. "$(dirname "$0")/../expect.sh"

expect 0 "$TOPKCTS" devices
prints "hip:0"
prints "cuda:0"
expect 0 "$TOPKCTS" devices --json
echo "$out" | python3 -c 'import json, sys
rows = {row["device"]: row for row in json.load(sys.stdin)}
assert rows["sim"]["available"]
for name, row in rows.items():
    assert row["available"] or len(row["reason"]) > 20, name'

# A copy of the program without backends says how to get them.
mkdir bare
cp "$TOPKCTS" bare/topkcts
cp -r "$(dirname "$0")/../../../registry" bare/registry
expect 3 bare/topkcts run --device cuda:0
says "this build has no cuda backend"
expect 3 bare/topkcts run --device hip:0
says "this build has no hip backend"

# The real HIP library without a card.
if [ -e "$BUILD/backends/topkcts_hip.so" ] && [ ! -e /dev/kfd ]; then
    expect 3 "$TOPKCTS" run --device hip:0
    says "hip:0"
fi

# Kernel sources: the first line is a matter of usage, wherever they would run.
printf 'no first line\n' >bad.cu
expect 2 "$TOPKCTS" run --provider ./bad.cu
says "the first line must say how to launch the kernel"
printf '// topkcts: block=9999 level=canonical\n' >bad.cu
expect 2 "$TOPKCTS" run --provider ./bad.cu
says "block=9999: a number from 1 to 1024 is accepted"
expect 2 "$TOPKCTS" run --provider ./absent.hip
says "cannot be read"
expect 2 "$TOPKCTS" run --provider v1 --device sim --origin aot
says "arrives as 'sim'"
exit 0
