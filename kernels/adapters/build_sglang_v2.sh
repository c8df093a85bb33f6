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
. "$(dirname "$0")/installed_package.sh"
[ $# -ge 1 ] || usage
output=$1
target=${2:-sm_90a}
find_sglang deepseek_v4/topk_v2.cuh "its headers and its library are"
[ -e "$tvm/lib/libtvm_ffi.so" ] || absent "$tvm has no lib/libtvm_ffi.so"
case $target in
sm_*) architecture=$(sm_number "$target")0 ;;
*) absent "TARGET is '$target'; sm_NN is accepted" ;;
esac
need_compiler nvcc
case ${VARIANT:-every-launch} in
every-launch) variant= ;;
kept) variant=-DKEEP_PLAN=1 ;;
kept-pdl) variant='-DKEEP_PLAN=1 -DUSE_PDL=1' ;;
*) absent "VARIANT is '$VARIANT'; every-launch, kept and kept-pdl are accepted" ;;
esac

# What variants would share when they are loaded side by side (statics of inline functions) is kept apart.
set -- -std=c++20 -O3 --expt-relaxed-constexpr -arch="$target" -DSGL_CUDA_ARCH="$architecture" -cudart static -shared \
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
    if nvcc -std=c++20 -O1 -arch="$target" -DSGL_CUDA_ARCH="$architecture" -cudart static -I"$jit/csrc" -I"$jit/include" \
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
exec nvcc "$@" $variant $clusters -DSGLANG_VERSION="\"$version\"" -o "$output" \
    "$root/kernels/adapters/sglang_v2.cu" "$tvm/lib/libtvm_ffi.so" -Xlinker -rpath="$tvm/lib" -Xlinker -rpath='$ORIGIN'
