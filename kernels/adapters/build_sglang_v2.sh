#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds sglang_v2.cu against the sglang that is installed, or unpacked: build_sglang_v2.sh OUTPUT.so [TARGET]
#
#     TARGET      sm_90a, sm_100a ... (default: sm_90a); v2's routes for AMD GPUs are called another way, not built here
#     VARIANT     every-launch   the plan is made before every launch (default: right on any input)
#                 kept           the plan is kept while the lengths stand where they stood; for timing
#                 kept-pdl       the same with programmatic dependent launch, as SGLang itself has it
#     PYTHON      whose site-packages hold sglang and tvm_ffi (default: python3)
#     SGLANG      folder of the package instead, for an unpacked wheel; TVM_FFI likewise
#     CLUSTERS8, CLUSTERS16   how many clusters of 8 and of 16 blocks fit the GPU. SGLang asks the GPU when it compiles;
#                 so does this script, where there is one. Without it SGLang's own default stands: 30 of 8 (H200), none of 16
#
# Exit code 0: built. 2: no sglang, no tvm_ffi or no compiler here. Anything else is the compiler's own: it rejects the
# source, which is a failure of the kernel, not of this script.
set -u
[ $# -ge 1 ] || { sed -n '3,15s/^# \{0,1\}//p' "$0"; exit 2; }
output=$1
target=${2:-sm_90a}
root=$(cd "$(dirname "$0")/../.." && pwd)

folder_of() {
    "${PYTHON:-python3}" -c "import importlib.util as u; s = u.find_spec('$1'); print(s.submodule_search_locations[0] if s else '')" 2>/dev/null
}
sglang=${SGLANG:-$(folder_of sglang)}
tvm=${TVM_FFI:-$(folder_of tvm_ffi)}
[ -d "$sglang" ] || { echo "sglang is not installed for ${PYTHON:-python3}; set SGLANG to an unpacked package" >&2; exit 2; }
[ -d "$tvm/include" ] || { echo "tvm_ffi (package apache-tvm-ffi) is not installed; its headers and its library are needed; set TVM_FFI" >&2; exit 2; }
[ -e "$tvm/lib/libtvm_ffi.so" ] || { echo "$tvm has no lib/libtvm_ffi.so" >&2; exit 2; }
jit=
for candidate in "$sglang/kernels/jit" "$sglang/jit_kernel"; do
    [ -e "$candidate/csrc/deepseek_v4/topk_v2.cuh" ] && jit=$candidate && break
done
[ -n "$jit" ] || { echo "$sglang has no deepseek_v4/topk_v2.cuh: this version keeps it elsewhere, or has none" >&2; exit 2; }
case $target in
sm_*) number=$(echo "$target" | sed 's/^sm_//; s/[a-z]*$//') ;;
*) echo "TARGET is '$target'; sm_NN is accepted" >&2; exit 2 ;;
esac
command -v nvcc >/dev/null || { echo "no nvcc on the PATH" >&2; exit 2; }
case ${VARIANT:-every-launch} in
every-launch) variant= ;;
kept) variant=-DKEEP_PLAN=1 ;;
kept-pdl) variant='-DKEEP_PLAN=1 -DUSE_PDL=1' ;;
*) echo "VARIANT is '$VARIANT'; every-launch, kept and kept-pdl are accepted" >&2; exit 2 ;;
esac
version=$(sed -n 's/^Version: //p' "$(dirname "$sglang")"/sglang-*.dist-info/METADATA 2>/dev/null | head -n 1)

# What variants would share when they are loaded side by side (statics of inline functions) is kept apart.
set -- -std=c++20 -O3 --expt-relaxed-constexpr -arch="$target" -DSGL_CUDA_ARCH="${number}0" -cudart static -shared \
    -Xfatbin -compress-all -Xcompiler -fPIC,-fvisibility=hidden,-fno-gnu-unique -I"$jit/csrc" -I"$jit/include" -I"$tvm/include" -I"$tvm/3rdparty/dlpack/include" -I"$root/harness"
clusters=
if [ -z "${CLUSTERS8:-}" ] && [ -e "$jit/csrc/occupancy/cluster_probe.cuh" ]; then
    probe=$(mktemp -d)
    cat >"$probe/probe.cu" <<'PROBE'
#include <occupancy/cluster_probe.cuh>
#include <cstdio>
#include <exception>
static unsigned ask(unsigned size, unsigned blocks)
{
    try {
        return sglang::get_max_active_clusters(size, blocks);
    } catch (const std::exception &) {
        return 0;
    }
}
int main()
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
        return 1;
    std::printf("%u %u\n", ask(8, 2), ask(16, 1));
    return 0;
}
PROBE
    if nvcc -std=c++20 -O1 -arch="$target" -DSGL_CUDA_ARCH="${number}0" -cudart static -I"$jit/csrc" -I"$jit/include" \
        -I"$tvm/include" -I"$tvm/3rdparty/dlpack/include" -o "$probe/probe" "$probe/probe.cu" "$tvm/lib/libtvm_ffi.so" \
        -Xlinker -rpath="$tvm/lib" 2>/dev/null && answer=$("$probe/probe" 2>/dev/null); then
        CLUSTERS8=${answer% *}
        CLUSTERS16=${answer#* }
    fi
    rm -rf "$probe"
fi
if [ -n "${CLUSTERS8:-}" ]; then
    clusters="-DSGL_TOPK_V2_MAX_C8_OCC2=$CLUSTERS8 -DSGL_TOPK_V2_MAX_C16_OCC1=${CLUSTERS16:-0}"
    echo "clusters that fit: $CLUSTERS8 of 8 blocks, ${CLUSTERS16:-0} of 16"
else
    echo "no GPU to ask how many clusters fit: SGLang's own default stands"
fi
# The library lies where it is installed, or beside the plugin.
# shellcheck disable=SC2086
exec nvcc "$@" $variant $clusters -DSGLANG_VERSION="\"${version:-unknown}\"" -o "$output" \
    "$root/kernels/adapters/sglang_v2.cu" "$tvm/lib/libtvm_ffi.so" -Xlinker -rpath="$tvm/lib" -Xlinker -rpath='$ORIGIN'
