# SPDX-License-Identifier: Apache-2.0
# Compilers at run time, asked for targets that are not here: one that aborts is a line of its own, not the end.
. "$(dirname "$0")/../expect.sh"
expect 2 "$TOPKCTS" code-objects --jit
says "--targets"
if [ -e "$BUILD/backends/topkcts_cuda_jit.so" ]; then
    expect 0 "$TOPKCTS" code-objects --jit --targets sm_90
    prints "sm_90    NVRTC"
    expect 3 "$TOPKCTS" code-objects --jit --targets sm_1
    says "1 of 1 targets"
fi
if [ -e "$BUILD/backends/topkcts_hip_jit.so" ]; then
    # Debian 12's hiprtc takes its process down on gfx1100; others compile it. Either way the next target is asked.
    "$TOPKCTS" code-objects --jit --targets gfx1100,gfx90a >jit.out 2>&1
    grep -Eq '^gfx1100 +(hiprtc|the compiler ended its process)' jit.out || fail "$(cat jit.out)"
    grep -Eq '^gfx90a +hiprtc .* bytes' jit.out || fail "$(cat jit.out)"
fi
exit 0
